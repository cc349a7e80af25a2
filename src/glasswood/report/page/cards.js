// Surfaces, and the card around a figure: what pointer and keys do, zoom, legend, CSV.

const OVERLAP = 0.75; // of neighbouring cells, in pixels

function drawCells(figure, host, width) {
  const { panel, state } = figure;
  const names = panel.y.edges.length ? [] : panel.y.labels.map((label) => widthOf(isolated(label), 12));
  const left = names.length ? Math.min(width * 0.34, Math.max(56, ...names.map((name) => name + 12))) : 62;
  const right = width - 62,
    bottom = 262,
    top = 22;
  const x = (figure.axis = new Axis(panel.x, [left, right], state.even, state.x));
  const y = (figure.axisY = new Axis(panel.y, [bottom, top], state.even, state.y));
  if (!state.x) [x.lo, x.hi] = x.view();
  if (!state.y) [y.lo, y.hi] = y.view();
  const across = x.seen(),
    up = y.seen();
  const [low, high] = extent(up.flatMap((j) => across.map((i) => panel.heights[j][i])));
  const tint = colourOf(panel, low, high),
    hatch = `hatch-${figure.id}`;
  host.append(
    svg(
      "pattern",
      { id: hatch, width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
      svg("line", { class: "hatch", x1: 0, x2: 0, y1: 0, y2: 5 }),
    ),
  );
  const empty = []; // cells without rows: one path, because a pattern for each takes minutes to print
  for (const j of up) {
    const y0 = y.x(y.at[j + 1]),
      tall = Math.max(0.5, y.x(y.at[j]) - y0);
    for (const i of across) {
      const x0 = x.x(x.at[i]),
        box = {
          x: x0.toFixed(2),
          y: y0.toFixed(2),
          width: Math.max(0.5, x.x(x.at[i + 1]) - x0).toFixed(2),
          height: tall.toFixed(2),
        };
      // Under the cells to its right and above, which are drawn later: edges between pixels would leave white seams.
      const wider = i === across.at(-1) ? 0 : OVERLAP,
        taller = j === up.at(-1) ? 0 : OVERLAP;
      const drawn = {
        x: box.x,
        y: (y0 - taller).toFixed(2),
        width: (Number(box.width) + wider).toFixed(2),
        height: (tall + taller).toFixed(2),
      };
      host.append(svg("rect", { ...drawn, fill: tint(panel.heights[j][i]), "shape-rendering": "crispEdges" }));
      if (panel.rows.length && !panel.rows[j][i])
        empty.push(`M${box.x} ${box.y}h${box.width}v${box.height}h-${box.width}z`);
    }
  }
  if (empty.length) host.append(svg("path", { d: empty.join(""), fill: `url(#${hatch})` }));
  cellLabels(
    x,
    (u, text) => {
      host.append(svg("line", { class: "axis", x1: u, x2: u, y1: bottom, y2: bottom + 4 }));
      host.append(svg("text", { x: u, y: bottom + 16, "text-anchor": "middle" }, text));
    },
    74,
  );
  cellLabels(
    y,
    (u, text) => host.append(svg("text", { x: left - 6, y: u + 4, "text-anchor": "end" }, fitted(text, left - 10, 11))),
    22,
  );
  host.append(svg("text", { x: left, y: 12 }, fitted(isolated(panel.y.label, 80), right - left, 11)));
  const even = state.even ? " (cells equally wide)" : "";
  host.append(
    svg(
      "text",
      { x: (left + right) / 2, y: bottom + 34, "text-anchor": "middle" },
      fitted(isolated(panel.x.label, 80), right - left, 11) + even,
    ),
  );
  colourKey(figure, host, [low, high], tint, [right + 12, bottom, top]);
  return bottom + 42;
}

function cellLabels(axis, put, space) {
  const long = Math.abs(axis.to - axis.from);
  if (axis.numbers)
    return axis.ticks(Math.max(4, Math.floor(long / (space * 0.7)))).forEach(([u, text]) => put(axis.x(u), text));
  const cells = axis.seen(),
    step = Math.ceil((cells.length * space) / 1.5 / long);
  for (let i = 0; i < cells.length; i += step) {
    const k = cells[i],
      room = (long / cells.length) * step;
    put(
      (axis.x(axis.at[k]) + axis.x(axis.at[k + 1])) / 2,
      space > 30 ? fitted(isolated(axis.scale.labels[k]), room - 4, 11) : isolated(axis.scale.labels[k]),
    );
  }
}

function colourKey(figure, host, [low, high], tint, [left, bottom, top]) {
  const most = Math.max(Math.abs(low), Math.abs(high));
  const ends = figure.panel.diverging ? [-most, most] : [low, high],
    n = 40,
    tall = (bottom - top) / n;
  const y = linear(ends, [bottom, top]);
  for (let i = 0; i < n; i++) {
    const z = ends[0] + ((i + 0.5) / n) * (ends[1] - ends[0]);
    host.append(
      svg("rect", {
        x: left,
        width: 10,
        y: (bottom - (i + 1) * tall).toFixed(2),
        height: (tall + 0.5).toFixed(2),
        fill: tint(z),
      }),
    );
  }
  const ticks = nice(ends[0], ends[1], 5);
  for (const tick of ticks) host.append(svg("text", { x: left + 14, y: y(tick) + 4 }, tickText(tick, ticks)));
}

function pointCells(figure, host, at) {
  const { panel, axis, axisY } = figure;
  if (!at) return null;
  const [i, j] = at,
    x = axis.x(axis.at[i]),
    y = axisY.x(axisY.at[j + 1]);
  host.append(
    svg("rect", {
      class: "ring",
      x,
      y,
      width: Math.max(2, axis.x(axis.at[i + 1]) - x),
      height: Math.max(2, axisY.x(axisY.at[j]) - y),
    }),
  );
  const lines = [`${isolated(panel.x.label, 40)}: ${axis.text(i)}`, `${isolated(panel.y.label, 40)}: ${axisY.text(j)}`];
  lines.push(`${panel.z_label}: ${number(panel.heights[j][i])}`);
  if (panel.rows.length) lines.push(rowsText(panel.rows[j][i], panel.total));
  return lines;
}

// --------------------------------------------------------------------------------------------------------- the data

function axisColumns(scale, name) {
  if (!scale.edges.length) return [[name], (k) => [scale.labels[k]]];
  const { edges, cuts, strict, from, to } = scale,
    n = edges.length - 1;
  if (from.length) return [[`${name} from`, `${name} to`], (k) => [from[k], to[k]]];
  if (scale.whole)
    return [
      [`${name} from`, `${name} to`],
      (k) => [k === 0 ? "" : edges[k] + 0.5, k === n - 1 ? "" : edges[k + 1] - 0.5],
    ];
  const ends = (k) => [k === 0 ? "" : cuts[k - 1], k === n - 1 ? "" : cuts[k]];
  if (!strict.length) return [[`${name} above`, `${name} up to`], ends];
  if (strict.every(Boolean)) return [[`${name} from`, `${name} below`], ends];
  return [[`${name} begins at`, `${name} ends at`, `${name}`], (k) => [...ends(k), cellWords(scale, k, n)]];
}

function dataOf(panel) {
  const [names, place] = axisColumns(panel.x, panel.x.label);
  if (panel.kind === "cells") {
    const [more, there] = axisColumns(panel.y, panel.y.label),
      rows = [];
    panel.heights.forEach((line, j) =>
      line.forEach((height, i) =>
        rows.push([...place(i), ...there(j), height, ...(panel.rows.length ? [panel.rows[j][i]] : [])]),
      ),
    );
    return [[...names, ...more, panel.z_label, ...(panel.rows.length ? ["rows"] : [])], rows];
  }
  const outputs = panel.lines.map((line) => (panel.lines.length > 1 ? line.name : panel.y_label));
  const rows = panel.lines[0].heights.map((_, k) => [
    ...place(k),
    ...panel.lines.map((line) => line.heights[k]),
    ...(panel.rows.length ? [panel.rows[k]] : []),
  ]);
  for (const what of ["unseen", "missing"]) {
    if (panel.lines[0][what] === null) continue;
    rows.push([
      `(${what})`,
      ...names.slice(1).map(() => ""),
      ...panel.lines.map((line) => line[what]),
      ...(panel.rows.length ? [panel[`${what}_rows`]] : []),
    ]);
  }
  return [[...names, ...outputs, ...(panel.rows.length ? ["rows"] : [])], rows];
}

// ---------------------------------------------------------------------------------------------------------- figures

class Figure {
  constructor(panel, label) {
    this.panel = panel;
    this.id = figures++;
    this.kind = panel.kind === "cells" ? "cells" : panel.x.edges.length ? "steps" : "categories";
    this.state = {
      x: null,
      y: null,
      even: false,
      off: new Set(),
      sort: panel.sort || "model",
      all: false,
      range: null,
    };
    this.at = null;
    this.host = el("div", {
      class: "figure",
      tabindex: "0",
      role: "group",
      "aria-label": `Figure of ${label}. Use the arrow keys to move between values${this.kind === "categories" ? "" : ", plus and minus to zoom, 0 to show all"}.`,
    });
    this.listen();
  }
  draw() {
    const width = this.host.clientWidth;
    if (!width) return;
    this.width = width;
    const root = svg("svg", { "aria-hidden": "true", focusable: "false" });
    const height = { steps: drawSteps, categories: drawCategories, cells: drawCells }[this.kind](this, root, width);
    fill(root, { width, height, viewBox: `0 0 ${width} ${height}` }, [(this.over = svg("g"))]);
    this.height = height;
    this.host.replaceChildren(root);
  }
  cellAt(event) {
    const box = this.host.getBoundingClientRect(),
      x = event.clientX - box.left,
      y = event.clientY - box.top;
    if (this.kind === "categories")
      return Math.min(this.order.length - 1, Math.max(0, Math.floor((y - this.top) / this.line)));
    if (this.kind === "cells") return [this.axis.cell(x), this.axisY.cell(y)];
    return x > this.axis.to + 8 && this.panel.lines[0].missing !== null ? "missing" : this.axis.cell(x);
  }
  point(at, place) {
    if (!this.over) return;
    this.at = at;
    this.over.replaceChildren();
    const lines = { steps: pointSteps, categories: pointCategory, cells: pointCells }[this.kind](this, this.over, at);
    showTip(lines, place);
    if (lines && !place.pointer) document.getElementById("spoken").textContent = lines.join(", ");
  }
  leave() {
    this.point(null, { pointer: true });
  }
  listen() {
    let start = null;
    const inside = (event) => {
      const box = this.host.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.host.addEventListener("pointerdown", (event) => {
      if (this.kind !== "categories" && event.button === 0) start = inside(event);
    });
    this.host.addEventListener("pointermove", (event) => {
      if (!this.over) return;
      this.point(this.cellAt(event), { pointer: true, x: event.clientX, y: event.clientY });
      if (start) this.brush(start, inside(event));
    });
    this.host.addEventListener("pointerup", (event) => {
      if (start) this.zoomTo(start, inside(event));
      start = null;
    });
    this.host.addEventListener("pointercancel", () => {
      start = null;
    });
    this.host.addEventListener("pointerleave", () => {
      start = null;
      this.leave();
    });
    this.host.addEventListener("blur", () => this.leave());
    this.host.addEventListener("dblclick", () => this.reset());
    this.host.addEventListener("keydown", (event) => this.key(event));
    this.host.addEventListener(
      "wheel",
      (event) => {
        if (this.kind === "categories" || !(event.ctrlKey || document.activeElement === this.host)) return;
        event.preventDefault();
        this.zoom(event.deltaY > 0 ? 1.25 : 0.8, inside(event));
      },
      { passive: false },
    );
  }
  brush([x0, y0], [x1, y1]) {
    const cells = this.kind === "cells";
    this.over.append(
      svg("rect", {
        class: "brush",
        x: Math.min(x0, x1),
        width: Math.abs(x1 - x0),
        y: cells ? Math.min(y0, y1) : 8,
        height: cells ? Math.abs(y1 - y0) : this.height - 50,
      }),
    );
  }
  zoomTo([x0, y0], [x1, y1]) {
    const part = (axis, a, b) => {
      const ends = [axis.value(a), axis.value(b)].sort((p, q) => p - q);
      return [Math.max(ends[0], axis.whole()[0]), Math.min(ends[1], axis.whole()[1])];
    };
    if (Math.abs(x1 - x0) < 8 || (this.kind === "cells" && Math.abs(y1 - y0) < 8)) return;
    const x = part(this.axis, x0, x1);
    if (!(x[1] > x[0])) return;
    this.state.x = x;
    if (this.kind === "cells") this.state.y = part(this.axisY, y0, y1);
    this.change();
  }
  zoom(factor, place) {
    const around = (axis, pixel) => {
      const middle = axis.value(Math.min(Math.max(pixel, Math.min(axis.from, axis.to)), Math.max(axis.from, axis.to))),
        [low, high] = axis.whole();
      const next = [
        Math.max(low, middle - (middle - axis.lo) * factor),
        Math.min(high, middle + (axis.hi - middle) * factor),
      ];
      return next[1] - next[0] > (high - low) * 1e-9 ? next : [axis.lo, axis.hi];
    };
    this.state.x = around(this.axis, place ? place[0] : (this.axis.from + this.axis.to) / 2);
    if (this.kind === "cells")
      this.state.y = around(this.axisY, place ? place[1] : (this.axisY.from + this.axisY.to) / 2);
    this.change();
  }
  reset() {
    this.state.x = this.state.y = null;
    this.change();
  }
  whole() {
    this.state.x = this.axis.whole();
    if (this.kind === "cells") this.state.y = this.axisY.whole();
    this.change();
  }
  change() {
    this.draw();
    this.leave();
  }
  key(event) {
    const move = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (move) this.step(move);
    else if (this.kind !== "categories" && (event.key === "+" || event.key === "=")) this.zoom(0.7);
    else if (this.kind !== "categories" && event.key === "-") this.zoom(1.4);
    else if (event.key === "0") this.reset();
    else if (event.key === "Escape") this.leave();
    else return;
    event.preventDefault();
  }
  step([across, up]) {
    const clamp = (k, n) => Math.min(n - 1, Math.max(0, k));
    const box = this.host.getBoundingClientRect(),
      place = { x: box.left + box.width / 2, y: box.top };
    if (this.kind === "categories")
      return this.point(this.at === null ? 0 : clamp(this.at + across - up, this.order.length), place);
    const seen = this.axis.seen(),
      first = seen[0],
      last = seen[seen.length - 1];
    if (this.kind === "cells") {
      const rows = this.axisY.seen();
      const [i, j] = this.at || [first - across, rows[0] - up];
      return this.point(
        [Math.min(last, Math.max(first, i + across)), Math.min(rows[rows.length - 1], Math.max(rows[0], j + up))],
        place,
      );
    }
    const one = across || up,
      missing = this.panel.lines[0].missing !== null;
    if (this.at === "missing") return this.point(one < 0 ? last : "missing", place);
    const next = this.at === null ? (one > 0 ? first : last) : this.at + one;
    return this.point(next > last ? (missing ? "missing" : last) : Math.max(first, next), place);
  }
}

function showTip(lines, place) {
  const tip = document.getElementById("tip");
  tip.hidden = !lines;
  if (!lines) return;
  tip.replaceChildren(...lines.map((line) => el("div", {}, line)));
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(place.x + 14, window.innerWidth - width - 8))}px`;
  tip.style.top = `${place.y - height - 10 > 4 ? place.y - height - 10 : Math.min(place.y + 18, window.innerHeight - height - 4)}px`;
}

// ------------------------------------------------------------------------------------------------------------ cards

const drawn = new Set();
const waiting = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      target.figure.draw();
      waiting.unobserve(target);
    }
  },
  { rootMargin: "300px" },
);
const sized = new ResizeObserver((entries) => {
  for (const { target } of entries)
    if (target.figure.over && Math.abs(target.clientWidth - target.figure.width) > 1) target.figure.draw();
});

function watch(figure) {
  figure.host.figure = figure;
  drawn.add(figure);
  waiting.observe(figure.host);
  sized.observe(figure.host);
}

function legendOf(figure) {
  if (figure.kind === "cells" || figure.panel.lines.length < 2) return null;
  return el(
    "div",
    { class: "legend" },
    figure.panel.lines.map((line, k) => {
      const mark =
        figure.kind === "steps"
          ? svg("line", {
              x1: 0,
              x2: 22,
              y1: 5,
              y2: 5,
              stroke: colour(k),
              "stroke-width": 3,
              "stroke-dasharray": DASHES[k % 8] || null,
            })
          : svg("circle", { cx: 11, cy: 5, r: 4.5, fill: colour(k) });
      const toggle = button("", { class: "small", "aria-pressed": "true" }, () => {
        if (!figure.state.off.delete(k)) figure.state.off.add(k);
        toggle.setAttribute("aria-pressed", String(!figure.state.off.has(k)));
        figure.change();
      });
      toggle.append(svg("svg", { "aria-hidden": "true" }, mark), nameOf(line.name, 40));
      return toggle;
    }),
  );
}

function toolsOf(figure, name) {
  const tools = el("div", { class: "tools" });
  if (figure.kind === "categories") {
    const sort = el(
      "select",
      {
        "aria-label": "Order of categories",
        onchange: () => {
          figure.state.sort = sort.value;
          figure.change();
        },
      },
      [
        ["model", "as listed"],
        ["height", "by height"],
        ["rows", DATA.weighted ? "by weight" : "by rows"],
      ].map(([value, text]) => el("option", { value, selected: value === figure.state.sort }, text)),
    );
    if (figure.panel.x.labels.length > 1) tools.append(sort);
    if (figure.panel.x.labels.length > FEW) {
      const all = button(`All ${figure.panel.x.labels.length}`, { class: "small", "aria-pressed": "false" }, () => {
        figure.state.all = !figure.state.all;
        all.setAttribute("aria-pressed", String(figure.state.all));
        figure.change();
      });
      tools.append(all);
    }
  } else {
    tools.append(
      button("Reset", { class: "small", title: "The initial view (also by double-clicking)" }, () => figure.reset()),
    );
    tools.append(button("All", { class: "small", title: "The whole range" }, () => figure.whole()));
    const even = button(
      "Equal widths",
      { class: "small", "aria-pressed": "false", title: "Give every step the same width" },
      () => {
        figure.state.even = !figure.state.even;
        even.setAttribute("aria-pressed", String(figure.state.even));
        figure.reset();
      },
    );
    tools.append(even);
  }
  tools.append(
    csvButton(name, () => dataOf(figure.panel)),
    svgButton(name, () => svgText(figure, name)),
  );
  return tools;
}

// ----------------------------------------------------------------------------------------------- a figure as a file

const STYLES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "stroke-linejoin",
  "opacity",
  "font-size",
  "font-family",
  "text-anchor",
  "stop-color",
  "stop-opacity",
];

// The figure as it is drawn now, with its colours and fonts in it, a title, and the names of lines.
function svgText(figure, name) {
  const drawnNow = figure.host.querySelector("svg"),
    copy = drawnNow.cloneNode(true);
  const from = [drawnNow, ...drawnNow.querySelectorAll("*")],
    into = [copy, ...copy.querySelectorAll("*")];
  from.forEach((node, i) => {
    const style = getComputedStyle(node);
    for (const property of STYLES) {
      const value = style.getPropertyValue(property);
      if (value && !(node.getAttribute(property) || "").startsWith("url(")) into[i].setAttribute(property, value);
    }
    into[i].removeAttribute("class");
  });
  const { panel, width, height } = figure,
    above = 24,
    colours = getComputedStyle(document.documentElement);
  const text = (x, y, content, fillWith, anchor) =>
    svg("text", { x, y, fill: fillWith, "font-size": 12, "font-family": "sans-serif", "text-anchor": anchor }, content);
  const lines =
    figure.kind === "cells" || panel.lines.length < 2
      ? []
      : panel.lines.map((line, k) => [line.name, k]).filter(([, k]) => !figure.state.off.has(k));
  const tall = height + above + 16 * lines.length,
    [paper, ink] = ["--card", "--text"].map((one) => colours.getPropertyValue(one).trim());
  const root = svg(
    "svg",
    { xmlns: SVG, width, height: tall, viewBox: `0 0 ${width} ${tall}` },
    svg("rect", { width, height: tall, fill: paper }),
  );
  root.append(text(4, 15, fitted(`${isolated(name, 80)}: ${panel.z_label || panel.y_label}`, width - 8, 12), ink));
  fill(copy, { y: above, x: 0, width, height }, []);
  root.append(copy);
  lines.forEach(([line, k], i) =>
    root.append(
      svg("rect", {
        x: 8,
        y: above + height + 16 * i + 3,
        width: 14,
        height: 4,
        fill: colours.getPropertyValue(`--c${k % 8}`).trim(),
      }),
      text(28, above + height + 16 * i + 9, isolated(line, 60), ink),
    ),
  );
  return new XMLSerializer().serializeToString(root);
}

// One card: a title, one figure or several to choose from, and what can be done with it.
function cardOf(item) {
  const name = item.names.join(" x ");
  const title = el(
    "h3",
    {},
    item.names.map((one, k) => [k ? " × " : null, nameOf(one)]),
  );
  const card = el(
    "article",
    { class: "card", id: item.id },
    el("header", {}, title, permalink(item.id, shorten(visible(name), 80))),
    item.sub ? el("p", { class: "sub" }, item.sub) : null,
  );
  const body = el("div");
  const show = (k) => {
    const { panel } = item.panels[k];
    const figure = new Figure(panel, shorten(visible(name), 120));
    if (item.range) figure.state.range = item.range();
    body.replaceChildren(
      ...[
        figure.kind === "categories" ? null : el("p", { class: "sub" }, panel.z_label || panel.y_label),
        legendOf(figure),
        figure.host,
        toolsOf(figure, name),
      ].filter(Boolean),
    );
    if (panel.note) body.append(el("p", { class: "note" }, panel.note));
    watch(figure);
  };
  if (item.panels.length > 1) {
    const choose = item.panels.map(({ label }, k) =>
      button(label, { class: "small", "aria-pressed": String(k === 0) }, () => {
        choose.forEach((one, i) => one.setAttribute("aria-pressed", String(i === k)));
        show(k);
        body.querySelector(".figure").figure.draw();
      }),
    );
    card.append(el("div", { class: "tools" }, choose));
  }
  card.append(body);
  show(0);
  return card;
}
