// Figures: panels of numbers in, SVG out. A figure is redrawn as a whole whenever what it shows changes.

const DASHES = ["", "7 3", "2 3", "9 3 2 3", "12 4", "4 4", "1 4", "6 2 1 2 1 2"];
const colour = (k) => `var(--c${k % 8})`;
let figures = 0;

function nice(low, high, n) {
  const raw = (high - low) / Math.max(1, n) || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= raw * 0.999) * power;
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9 && ticks.length < 40; i++)
    ticks.push(i * step);
  return ticks.map((tick) => Number(tick.toPrecision(12)));
}

function tickText(x, ticks) {
  const step = ticks.length > 1 ? Math.abs(ticks[1] - ticks[0]) : Math.abs(x) || 1;
  const size = Math.max(...ticks.map(Math.abs), 0);
  if (size >= 1e7 || (size !== 0 && size < 1e-4))
    return x === 0 ? "0" : String(Number(x.toPrecision(4))).replace("-", "−");
  const digits = Math.min(12, Math.max(0, -Math.floor(Math.log10(step) + 1e-9)));
  const more = Math.abs(step * 10 ** digits - Math.round(step * 10 ** digits)) > 1e-6 ? 1 : 0;
  return x
    .toLocaleString("en", {
      minimumFractionDigits: digits + more,
      maximumFractionDigits: digits + more,
      useGrouping: "min2",
    })
    .replace("-", "−");
}

const widthOf = (() => {
  const context = document.createElement("canvas").getContext("2d");
  return (text, size = 11) => {
    if (!context) return text.length * size * 0.55;
    context.font = `${size}px system-ui, sans-serif`;
    return context.measureText(text).width;
  };
})();

function fitted(text, room, size = 12) {
  if (widthOf(text, size) <= room) return text;
  const letters = Array.from(text);
  let most = letters.length;
  while (most > 1 && widthOf(letters.slice(0, most).join("") + "…", size) > room) most = Math.floor(most * 0.9);
  return letters.slice(0, most).join("") + "…";
}

// Which values a cell holds: whole numbers, points that were asked for, or what lies between two cuts.
function cellWords(scale, k, n) {
  const { edges, cuts, strict, from, to } = scale;
  if (from.length) return from[k] === to[k] ? edge(from[k]) : `${edge(from[k])} to ${edge(to[k])}`;
  if (scale.whole) {
    const first = edges[k] + 0.5,
      last = edges[k + 1] - 0.5;
    if (k === 0) return `up to ${edge(last)}`;
    if (k === n - 1) return `from ${edge(first)}`;
    return first >= last ? edge(last) : `${edge(first)} to ${edge(last)}`;
  }
  const parts = [];
  if (k > 0) parts.push(`${strict[k - 1] ? "from" : "above"} ${edge(cuts[k - 1])}`);
  if (k < n - 1) parts.push(`${strict[k] ? "below" : "up to"} ${edge(cuts[k])}`);
  return parts.join(", ");
}

// An axis of cells: in units of the feature, or all cells equally wide. `lo` and `hi` are the part that is shown.
class Axis {
  constructor(scale, pixels, even, shown) {
    this.scale = scale;
    this.numbers = scale.edges.length > 0;
    this.n = this.numbers ? scale.edges.length - 1 : scale.labels.length;
    this.even = even || !this.numbers;
    this.at = this.even ? Array.from({ length: this.n + 1 }, (_, k) => k) : scale.edges;
    [this.lo, this.hi] = shown || this.whole();
    [this.from, this.to] = pixels;
  }
  whole() {
    return [this.at[0], this.at[this.n]];
  }
  view() {
    return this.even || this.scale.view.length < 2 ? this.whole() : this.scale.view;
  }
  x(u) {
    return (
      this.from + ((Math.min(Math.max(u, this.lo), this.hi) - this.lo) / (this.hi - this.lo)) * (this.to - this.from)
    );
  }
  value(pixel) {
    return this.lo + ((pixel - this.from) / (this.to - this.from)) * (this.hi - this.lo);
  }
  cell(pixel) {
    const u = this.value(pixel);
    let low = 0,
      high = this.n - 1;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.at[middle + 1] < u) low = middle + 1;
      else high = middle;
    }
    return low;
  }
  seen() {
    const cells = [];
    for (let k = 0; k < this.n; k++) if (this.at[k + 1] > this.lo && this.at[k] < this.hi) cells.push(k);
    return cells;
  }
  text(k) {
    if (!this.numbers) return isolated(this.scale.labels[k]);
    return cellWords(this.scale, k, this.n);
  }
  ticks(n) {
    if (!this.even) {
      let ticks = nice(this.lo, this.hi, n);
      if (this.scale.whole && ticks.some((tick) => !Number.isInteger(tick)))
        ticks = nice(this.lo, this.hi, 1).length ? ticks.filter(Number.isInteger) : ticks;
      return ticks.map((tick) => [tick, tickText(tick, ticks)]);
    }
    const first = Math.ceil(this.lo),
      last = Math.floor(this.hi),
      step = Math.max(1, Math.ceil((last - first) / n));
    const ticks = [];
    const { edges, cuts, whole } = this.scale,
      at = (k) => (whole ? edges[k] + 0.5 : cuts.length ? cuts[k - 1] : edges[k]);
    for (let k = Math.max(first, 1); k <= Math.min(last, this.n - 1); k += step) ticks.push([k, number(at(k))]);
    return ticks;
  }
}

function extent(values) {
  let low = Infinity,
    high = -Infinity;
  for (const value of values)
    if (value !== null && value !== undefined) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
  if (low > high) return [0, 1];
  return high > low ? [low, high] : [low - (Math.abs(low) * 0.1 || 1), high + (Math.abs(high) * 0.1 || 1)];
}

function padded([low, high]) {
  const room = (high - low) * 0.07;
  return [low - room, high + room];
}

function linear([low, high], [from, to]) {
  return (v) => from + ((v - low) / (high - low)) * (to - from);
}

function axisY(host, [low, high], y, [left, right], n = 5) {
  const ticks = nice(low, high, n);
  for (const tick of ticks) {
    host.append(svg("line", { class: "grid", x1: left, x2: right, y1: y(tick), y2: y(tick) }));
    host.append(svg("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, tickText(tick, ticks)));
  }
}

function axisX(host, axis, top) {
  let last = -Infinity;
  for (const [u, text] of axis.ticks(Math.max(2, Math.floor((axis.to - axis.from) / 70)))) {
    const x = axis.x(u),
      half = widthOf(text) / 2;
    if (x - half < last + 6) continue;
    last = x + half;
    host.append(svg("line", { class: "axis", x1: x, x2: x, y1: top, y2: top + 4 }));
    host.append(svg("text", { x, y: top + 15, "text-anchor": "middle" }, text));
  }
}

// ----------------------------------------------------------------------------------------------- steps of numbers

// The path of the steps of a line that are kept.
function stepPath(axis, y, heights, kept) {
  let path = "",
    pen = false;
  const put = (v) => v.toFixed(1);
  for (const k of axis.seen()) {
    if (kept(k)) {
      const [x0, x1, h] = [put(axis.x(axis.at[k])), put(axis.x(axis.at[k + 1])), put(y(heights[k]))];
      path += pen ? `V${h}H${x1}` : `M${x0},${h}H${x1}`;
    }
    pen = kept(k);
  }
  return path;
}

// What lies between two heights of each step.
function bandPath(axis, y, { low, high }) {
  const put = (v) => v.toFixed(1);
  return axis
    .seen()
    .filter((k) => low[k] !== null && high[k] !== null)
    .map((k) => {
      const [x0, x1] = [put(axis.x(axis.at[k])), put(axis.x(axis.at[k + 1]))];
      return `M${x0},${put(y(low[k]))}H${x1}V${put(y(high[k]))}H${x0}Z`;
    })
    .join("");
}

// Few whole numbers have a bar each; the rows of a step are spread evenly over its numbers.
function wholeBars(axis, rows, top, height) {
  const tall = new Map();
  for (const k of axis.seen()) {
    const first = Math.round(axis.at[k] + 0.5),
      last = Math.round(axis.at[k + 1] - 0.5);
    for (let i = first; i <= last; i++) tall.set(i, rows[k] / (last - first + 1));
  }
  const most = Math.max(...tall.values()) || 1;
  let path = "";
  for (const [i, many] of tall) {
    if (!many || i < axis.lo || i > axis.hi) continue;
    const x0 = axis.x(i - 0.42),
      x1 = axis.x(i + 0.42),
      up = Math.max(1, height * Math.sqrt(many / most));
    path += `M${x0.toFixed(1)},${top + height}V${(top + height - up).toFixed(1)}H${x1.toFixed(1)}V${top + height}Z`;
  }
  return svg("path", { class: "rows", d: path });
}

function histogram(axis, rows, top, height) {
  if (axis.scale.whole && !axis.even && axis.hi - axis.lo <= 60) return wholeBars(axis, rows, top, height);
  const n = Math.max(8, Math.floor((axis.to - axis.from) / 3)),
    bins = new Float64Array(n),
    width = (axis.to - axis.from) / n;
  for (const k of axis.seen()) {
    if (!rows[k]) continue;
    const x0 = (axis.x(axis.at[k]) - axis.from) / width,
      x1 = (axis.x(axis.at[k + 1]) - axis.from) / width;
    const wide = Math.max(1e-9, x1 - x0),
      inside = axis.at[k + 1] - axis.at[k] || 1;
    const part = rows[k] * Math.min(1, (Math.min(axis.hi, axis.at[k + 1]) - Math.max(axis.lo, axis.at[k])) / inside);
    for (let i = Math.max(0, Math.floor(x0)); i < Math.min(n, Math.ceil(x1)) || i === Math.floor(x0); i++) {
      if (i >= n) break;
      bins[i] += x1 - x0 < 1e-6 ? part : (part * (Math.min(i + 1, x1) - Math.max(i, x0))) / wide;
    }
  }
  return bars(axis, bins, width, top, height);
}

function bars(axis, bins, width, top, height) {
  const most = Math.max(...bins) || 1;
  let path = `M${axis.from},${top + height}`;
  bins.forEach((bin, i) => {
    const tall = bin > 0 ? Math.max(1, height * Math.sqrt(bin / most)) : 0;
    path += `V${(top + height - tall).toFixed(1)}H${(axis.from + (i + 1) * width).toFixed(1)}`;
  });
  return svg("path", { class: "rows", d: path + `V${top + height}Z` });
}

function drawSteps(figure, host, width) {
  const { panel, state } = figure,
    beside = panel.lines.some((line) => line.missing !== null);
  const left = 56,
    right = width - (beside ? 58 : 10),
    bottom = 168,
    strip = panel.rows.length ? 30 : 0;
  const axis = (figure.axis = new Axis(panel.x, [left, right], state.even, state.x));
  if (!state.x) [axis.lo, axis.hi] = axis.view();
  const shown = panel.lines.filter((_, k) => !state.off.has(k));
  const cells = axis.seen();
  const bands = panel.bands.filter((band) => !state.off.has(band.line));
  const ends = bands.flatMap((band) => cells.flatMap((k) => [band.low[k], band.high[k]]));
  const heights = [...shown.flatMap((line) => [...cells.map((k) => line.heights[k]), line.missing]), ...ends];
  const range = padded(extent(state.range ? [...state.range] : heights));
  const y = (figure.y = linear(range, [bottom, 10]));
  axisY(host, range, y, [left, right + (beside ? 48 : 0)]);
  if (panel.mean !== null && y(panel.mean) < bottom && y(panel.mean) > 0) {
    host.append(svg("line", { class: "mean", x1: left, x2: right, y1: y(panel.mean), y2: y(panel.mean) }));
  }
  const clip = `clip-${figure.id}`;
  host.append(svg("clipPath", { id: clip }, svg("rect", { x: left, y: 0, width: right - left, height: bottom + 2 })));
  const inside = svg("g", { "clip-path": `url(#${clip})` });
  for (const band of bands)
    inside.append(svg("path", { class: "band", fill: colour(band.line), d: bandPath(axis, y, band) }));
  panel.lines.forEach((line, k) => {
    if (state.off.has(k)) return;
    const pale = (cell) => Boolean(line.pale?.[cell]),
      empty = (cell) => panel.rows.length && !panel.rows[cell],
      path = (kept) => ({ stroke: colour(k), d: stepPath(axis, y, line.heights, kept) }),
      dashes = { "stroke-dasharray": DASHES[k % 8] || null };
    inside.append(svg("path", { class: "thin", ...path((cell) => !pale(cell)) }));
    if (line.pale) inside.append(svg("path", { class: "step pale", ...path(pale), ...dashes }));
    inside.append(svg("path", { class: "step", ...path((cell) => !empty(cell) && !pale(cell)), ...dashes }));
  });
  host.append(inside);
  if (strip) host.append(histogram(axis, panel.rows, bottom + 4, strip));
  fade(figure, host, axis, [bottom, strip]);
  host.append(svg("line", { class: "axis", x1: left, x2: right, y1: bottom + strip + 4, y2: bottom + strip + 4 }));
  axisX(host, axis, bottom + strip + 4);
  host.append(
    svg(
      "text",
      { x: (left + right) / 2, y: bottom + strip + 34, "text-anchor": "middle" },
      fitted(isolated(panel.x.label, 80), right - left, 11) + (state.even ? " (steps equally wide)" : ""),
    ),
  );
  if (beside) drawMissing(panel, state, host, y, [right, bottom, strip]);
  return bottom + strip + 42;
}

// Where it is not known how far there are rows, or there are none, the outermost step goes on: it fades out.
function fade(figure, host, axis, [bottom, strip]) {
  const { open } = axis.scale;
  if (axis.even) return;
  [
    [open[0] && axis.lo <= axis.at[0], axis.from, 1],
    [open[1] && axis.hi >= axis.at[axis.n], axis.to, -1],
  ].forEach(([goesOn, x, sign], i) => {
    if (!goesOn) return;
    const id = `fade-${figure.id}-${i}`,
      wide = Math.min(26, Math.abs(axis.x(axis.at[i ? axis.n - 1 : 1]) - x));
    const stops = [
      svg("stop", { offset: 0, class: "paper", "stop-opacity": i ? 0 : 0.9 }),
      svg("stop", { offset: 1, class: "paper", "stop-opacity": i ? 0.9 : 0 }),
    ];
    host.append(
      svg("linearGradient", { id }, stops),
      svg("rect", {
        class: "fade",
        x: Math.min(x, x + sign * wide),
        y: 8,
        width: wide,
        height: bottom + 2 + strip - 8,
        fill: `url(#${id})`,
      }),
    );
  });
}

function drawMissing(panel, state, host, y, [right, bottom, strip]) {
  panel.lines.forEach((line, k) => {
    if (state.off.has(k) || line.missing === null) return;
    const empty = panel.missing_rows === 0;
    host.append(
      svg("line", {
        class: line.pale_beside?.includes("missing") ? "step pale" : "step",
        stroke: colour(k),
        x1: right + 16,
        x2: right + 42,
        y1: y(line.missing),
        y2: y(line.missing),
        "stroke-dasharray": empty ? "2 3" : DASHES[k % 8] || null,
      }),
    );
  });
  if (panel.missing_rows && strip) {
    const tall = Math.max(1, strip * Math.sqrt(panel.missing_rows / panel.total));
    host.append(svg("rect", { class: "rows", x: right + 16, width: 26, y: bottom + 4 + strip - tall, height: tall }));
  }
  host.append(svg("text", { x: right + 29, y: bottom + strip + 19, "text-anchor": "middle" }, "missing"));
}

function pointSteps(figure, host, k) {
  const { panel, axis, y } = figure;
  if (k === null) return null;
  const missing = k === "missing";
  const x = missing ? axis.to + 29 : (axis.x(axis.at[k]) + axis.x(axis.at[k + 1])) / 2;
  host.append(svg("line", { class: "cursor", x1: x, x2: x, y1: 10, y2: 202 }));
  const lines = [missing ? "missing" : axis.text(k)];
  panel.lines.forEach((line, i) => {
    const height = missing ? line.missing : line.heights[k];
    if (figure.state.off.has(i) || height === null) return;
    host.append(svg("circle", { cx: x, cy: y(height), r: 3.5, fill: colour(i) }));
    lines.push((panel.lines.length > 1 ? `${isolated(line.name, 40)}: ` : `${panel.y_label}: `) + number(height));
  });
  const rows = missing ? panel.missing_rows : panel.rows[k];
  if (rows !== undefined && rows !== null) lines.push(rowsText(rows, panel.total));
  return lines;
}

// ------------------------------------------------------------------------------------------------------ categories

const FEW = 12; // categories that are shown at once: a figure of about the height of the others

function categoryOrder(panel, state) {
  const entries = panel.x.labels.map((label, k) => ({
    label,
    k,
    rows: panel.rows[k] ?? 0,
    height: panel.lines[0].heights[k],
  }));
  if (state.sort === "height") entries.sort((a, b) => b.height - a.height);
  if (state.sort === "rows") entries.sort((a, b) => b.rows - a.rows);
  let shown = entries;
  if (!state.all && entries.length > FEW) {
    const most = new Set(
      [...entries]
        .sort((a, b) => b.rows - a.rows)
        .slice(0, FEW)
        .map((entry) => entry.k),
    );
    shown = entries.filter((entry) => most.has(entry.k));
  }
  state.hidden = entries.length - shown.length;
  const names = new Set(entries.map((entry) => entry.label));
  const free = (name) => (names.has(name) ? free(`(${name})`) : name);
  if (panel.lines[0].unseen !== null) shown.push({ label: free("(unseen)"), k: "unseen", rows: panel.unseen_rows });
  if (panel.lines[0].missing !== null) shown.push({ label: free("(missing)"), k: "missing", rows: panel.missing_rows });
  return shown;
}

const heightAt = (line, k) => (k === "missing" ? line.missing : k === "unseen" ? line.unseen : line.heights[k]);

function drawCategories(figure, host, width) {
  const { panel, state } = figure,
    order = (figure.order = categoryOrder(panel, state));
  const room = Math.min(width * 0.38, Math.max(48, ...order.map((entry) => widthOf(isolated(entry.label), 12) + 10)));
  const left = room + 6,
    right = width - (panel.rows.length ? 62 : 12),
    line = 17,
    top = 6,
    bottom = top + order.length * line;
  const shown = panel.lines.filter((_, k) => !state.off.has(k));
  const bands = panel.bands.filter((band) => !state.off.has(band.line));
  const ends = bands.flatMap((band) => order.flatMap(({ k }) => [band.low[k] ?? null, band.high[k] ?? null]));
  const heights = [...shown.flatMap((one) => order.map((entry) => heightAt(one, entry.k))), ...ends];
  const range = padded(extent(state.range ? [...state.range] : [...heights, panel.mean]));
  const x = linear(range, [left, right]),
    ticks = nice(range[0], range[1], Math.max(3, Math.floor((right - left) / 64)));
  for (const tick of ticks) {
    host.append(svg("line", { class: "grid", x1: x(tick), x2: x(tick), y1: top, y2: bottom }));
    host.append(svg("text", { x: x(tick), y: bottom + 14, "text-anchor": "middle" }, tickText(tick, ticks)));
  }
  const base = panel.mean !== null ? Math.min(right, Math.max(left, x(panel.mean))) : left;
  if (panel.mean !== null) host.append(svg("line", { class: "mean", x1: base, x2: base, y1: top, y2: bottom }));
  const most = Math.max(...order.map((entry) => entry.rows || 0)) || 1;
  order.forEach((entry, i) => {
    const y = top + (i + 0.5) * line;
    host.append(
      svg("text", { class: "label", x: room, y: y + 4, "text-anchor": "end" }, fitted(isolated(entry.label), room - 4)),
    );
    for (const band of bands) {
      const [low, high] = [band.low[entry.k] ?? null, band.high[entry.k] ?? null];
      if (low === null || high === null) continue;
      host.append(
        svg("rect", {
          class: "band",
          fill: colour(band.line),
          x: x(low),
          y: y - 3,
          width: x(high) - x(low),
          height: 6,
        }),
      );
    }
    panel.lines.forEach((one, k) => {
      const height = heightAt(one, entry.k);
      if (state.off.has(k) || height === null) return;
      if (panel.lines.length === 1)
        host.append(svg("line", { class: "stem", stroke: colour(k), x1: base, x2: x(height), y1: y, y2: y }));
      const hollow = panel.rows.length && !entry.rows;
      host.append(
        svg("circle", {
          cx: x(height),
          cy: y,
          r: 4.5,
          fill: hollow ? null : colour(k),
          stroke: colour(k),
          class: hollow ? "hollow" : one.pale?.[entry.k] || one.pale_beside?.includes(entry.k) ? "pale" : null,
        }),
      );
    });
    if (entry.rows)
      host.append(
        svg("rect", {
          class: "rows",
          x: right + 10,
          y: y - 5,
          height: 10,
          width: Math.max(1, 50 * Math.sqrt(entry.rows / most)),
        }),
      );
  });
  host.append(
    svg(
      "text",
      { x: (left + right) / 2, y: bottom + 32, "text-anchor": "middle" },
      fitted(panel.y_label, right - left + 60, 11),
    ),
  );
  if (panel.rows.length)
    host.append(svg("text", { x: width - 2, y: bottom + 14, "text-anchor": "end" }, DATA.weighted ? "weight" : "rows"));
  if (state.hidden)
    host.append(
      svg(
        "text",
        { x: 0, y: bottom + 48 },
        `${panel.rows.length ? "the most frequent" : "the first"} ${panel.x.labels.length - state.hidden} of ${panel.x.labels.length}`,
      ),
    );
  Object.assign(figure, { line, top, x });
  return bottom + (state.hidden ? 56 : 40);
}

function pointCategory(figure, host, i) {
  const { panel, order, line, top, x } = figure,
    entry = i === null ? null : order[i];
  if (!entry) return null;
  const lines = [isolated(entry.label)];
  panel.lines.forEach((one, k) => {
    const height = heightAt(one, entry.k);
    if (figure.state.off.has(k) || height === null) return;
    host.append(svg("circle", { class: "ring", cx: x(height), cy: top + (i + 0.5) * line, r: 7 }));
    lines.push((panel.lines.length > 1 ? `${isolated(one.name, 40)}: ` : `${panel.y_label}: `) + number(height));
  });
  if (panel.rows.length && entry.rows !== null && entry.rows !== undefined)
    lines.push(rowsText(entry.rows, panel.total));
  return lines;
}
