// The page: what the model is, how it was checked, and sections of sortable tables and figures.

const main = document.getElementById("content");
let sameHeights = false;

function cellText(value, kind) {
  if (value === null || value === undefined) return "–";
  if (kind === "share") return share(value);
  if (kind === "count") return whole.format(value);
  if (kind === "edge") return edge(value);
  return typeof value === "number" ? number(value) : shorten(visible(value), 160);
}

// A table that is sorted by its headers; `onorder` is told which rows are shown, in which order.
class Table {
  constructor(data, { onorder, onname } = {}) {
    Object.assign(this, { data, onorder, onname, query: "", by: data.sort ?? null, down: data.down ?? true });
    this.heads = data.columns.map(({ name }, k) => {
      const sort = button(name, {}, () => this.sort(k));
      return el("th", { scope: "col", class: this.right(k) ? "right" : null }, sort);
    });
    this.body = el("tbody");
    const table = el(
      "table",
      {},
      el("caption", {}, data.caption),
      el("thead", {}, el("tr", {}, this.heads)),
      this.body,
    );
    this.host = el(
      "div",
      { class: "scroll", tabindex: "0", role: "region", "aria-label": `Table: ${data.caption}` },
      table,
    );
    this.most = data.columns.map((_, k) =>
      Math.max(0, ...data.rows.map((row) => (typeof row[k] === "number" ? Math.abs(row[k]) : 0))),
    );
    this.update();
  }
  right(k) {
    return this.data.columns[k].kind !== "text" && this.data.columns[k].kind !== "name";
  }
  sort(k, down = null) {
    this.down = down ?? (this.by === k ? !this.down : this.right(k));
    this.by = k;
    this.update();
  }
  unsorted() {
    this.by = null;
    this.update();
  }
  search(query) {
    this.query = query.trim().toLocaleLowerCase();
    this.update();
  }
  chosen() {
    const { columns, rows } = this.data;
    const names = columns.flatMap(({ kind }, k) => (kind === "name" || kind === "text" ? [k] : []));
    const wanted = this.query.normalize("NFKC");
    let order = rows.map((_, i) => i);
    if (wanted)
      order = order.filter((i) =>
        names.some((k) =>
          `${rows[i][k] ?? ""}\n${visible(rows[i][k] ?? "")}`.normalize("NFKC").toLocaleLowerCase().includes(wanted),
        ),
      );
    if (this.by === null) return order;
    const sign = this.down ? -1 : 1,
      k = this.by;
    const compare = (a, b) => {
      const p = rows[a][k],
        q = rows[b][k];
      if (p === null || q === null) return (p === null) - (q === null);
      return (
        sign *
          (typeof p === "number" && typeof q === "number"
            ? p - q
            : String(p).localeCompare(String(q), "en", { numeric: true })) || a - b
      );
    };
    return order.sort(compare);
  }
  update() {
    const { columns, rows } = this.data,
      order = this.chosen();
    this.heads.forEach((head, k) => {
      if (k === this.by) head.setAttribute("aria-sort", this.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
      head.firstChild.textContent = columns[k].name + (k === this.by ? (this.down ? " ▾" : " ▴") : "");
    });
    this.body.replaceChildren(
      ...order.map((i) =>
        el(
          "tr",
          {},
          columns.map((column, k) => this.cell(rows[i][k], column, k, i)),
        ),
      ),
    );
    if (!order.length)
      this.body.append(el("tr", {}, el("td", { class: "empty", colspan: columns.length }, "No matches.")));
    this.order = order;
    if (this.onorder) this.onorder(order);
  }
  cell(value, { kind }, k, row) {
    if (kind === "name") {
      const content = this.onname?.(row)
        ? fill(button("", { class: "name" }, this.onname(row)), {}, [nameOf(value)])
        : nameOf(value);
      return el(k === 0 ? "th" : "td", k === 0 ? { scope: "row" } : {}, content);
    }
    if (kind === "bar") {
      const meter = el("span", { class: "meter" });
      meter.style.width = `${this.most[k] ? (76 * Math.abs(value ?? 0)) / this.most[k] : 0}px`;
      return el(
        "td",
        { class: "right" },
        cellText(value, kind),
        el("span", { class: "track", "aria-hidden": "true" }, meter),
      );
    }
    const content = kind === "text" && value !== null ? el("bdi", {}, cellText(value, kind)) : cellText(value, kind);
    return el("td", { class: this.right(k) ? "right" : null }, content);
  }
  csv() {
    return [this.data.columns.map(({ name }) => name), this.order.map((i) => this.data.rows[i])];
  }
}

function goTo(target, behavior = "auto") {
  if (!target) return;
  const host = target.querySelector(".figure");
  if (host && !host.figure.over) host.figure.draw(); // it is as high as it will be
  target.scrollIntoView({ block: "center", behavior });
  if (host) host.focus({ preventScroll: true });
}

// The cards of a section: a page of them at first, in the order of its table.
class Cards {
  constructor(section, size) {
    Object.assign(this, { items: section.figures, size, count: size, made: new Map() });
    this.grid = el("div", { class: "cards" });
    this.more = button("", { class: "more" }, () => {
      this.count += 2 * this.size;
      this.update();
    });
    this.order = this.items.map((_, i) => i);
    this.range = section.range;
  }
  card(i) {
    if (!this.made.has(i))
      this.made.set(i, cardOf({ ...this.items[i], range: () => (sameHeights ? this.range : null) }));
    return this.made.get(i);
  }
  show(order) {
    this.order = order;
    this.count = this.size;
    this.update();
  }
  update() {
    this.grid.replaceChildren(...this.order.slice(0, this.count).map((i) => this.card(i)));
    const left = this.order.length - this.count;
    const next = Math.min(left, 2 * this.size);
    this.more.hidden = left <= 0;
    this.more.textContent = `Show ${next} more ${next === 1 ? "figure" : "figures"}${left > next ? ` (${left} left)` : ""}`;
  }
  // Paper has no buttons: all figures and all categories, and what was shown before once it is printed.
  print() {
    this.before = this.count;
    this.count = this.order.length;
    this.update();
    this.each((figure) => {
      figure.before = figure.state.all;
      figure.state.all = true;
      figure.draw();
    });
  }
  printed() {
    if (this.before === undefined) return;
    this.count = this.before;
    this.each((figure) => {
      figure.state.all = figure.before;
      if (figure.over) figure.draw();
    });
    this.update();
  }
  each(doing) {
    this.grid.querySelectorAll(".figure").forEach((host) => doing(host.figure));
  }
  find(id) {
    return this.items.findIndex((item) => item.id === id);
  }
  reveal(i, behavior) {
    if (!this.order.includes(i)) this.order = [i, ...this.order];
    this.count = Math.max(this.count, this.order.indexOf(i) + 1);
    this.update();
    goTo(this.card(i), behavior);
  }
}

function renderTable(section, host, cards) {
  const { table } = section;
  const onorder =
    cards && section.linked
      ? (order) => cards.show(order.filter((i) => table.figures[i] !== null).map((i) => table.figures[i]))
      : null;
  const onname = (row) => {
    const feature = table.features ? table.features[row] : null;
    if (cards && table.figures && table.figures[row] !== null) return () => cards.reveal(table.figures[row]);
    return feature !== null && feature !== undefined ? () => featureCards?.reveal(feature) : null;
  };
  const shown = new Table(table, { onorder, onname });
  if (section.tools) host.append(toolsRow(shown, table, cards));
  else
    host.append(
      el(
        "div",
        { class: "tools-row" },
        el("span", { class: "grow" }, table.caption),
        csvButton(table.caption, () => shown.csv()),
      ),
    );
  host.append(shown.host);
}

function toolsRow(shown, table, cards) {
  const count = el("span", { class: "grow", role: "status" });
  const told = () => {
    count.textContent =
      shown.order.length === table.rows.length
        ? `${whole.format(table.rows.length)} in all`
        : `${whole.format(shown.order.length)} of ${whole.format(table.rows.length)}`;
  };
  const search = el("input", {
    type: "search",
    placeholder: "part of a name",
    oninput: () => {
      shown.search(search.value);
      told();
    },
  });
  const first = shown.by === null ? el("option", { value: "", selected: true }, "as listed") : null;
  const sort = el(
    "select",
    { onchange: () => (sort.value === "" ? shown.unsorted() : shown.sort(Number(sort.value))) },
    first,
    table.columns.map(({ name }, k) => el("option", { value: k, selected: k === shown.by }, name)),
  );
  const update = shown.update.bind(shown);
  shown.update = () => {
    update();
    sort.value = shown.by === null ? "" : String(shown.by);
  };
  const row = el("div", { class: "tools-row" }, el("label", {}, "Search", search), el("label", {}, "Sort by", sort));
  if (cards?.range) {
    const same = el("input", {
      type: "checkbox",
      onchange: () => {
        sameHeights = same.checked;
        cards.made.forEach((card) => {
          const { figure } = card.querySelector(".figure");
          figure.state.range = same.checked ? cards.range : null;
          if (figure.over) figure.draw();
        });
      },
    });
    row.append(el("label", { class: "check" }, same, "Same height scale in all figures"));
  }
  row.append(
    count,
    csvButton(table.caption, () => shown.csv()),
  );
  told();
  return row;
}

let featureCards = null;
const allCards = [];

function renderSection(section) {
  const host = el(
    "section",
    { id: section.id, "aria-labelledby": `${section.id}-title` },
    el("h2", { id: `${section.id}-title` }, nameOf(section.title, 200), permalink(section.id, section.title)),
  );
  for (const text of section.text) host.append(el("p", { class: "lead" }, text));
  for (const text of section.said || []) host.append(el("p", { class: "said" }, nameOf(text, 20000)));
  if (section.facts)
    host.append(
      el(
        "dl",
        { class: "facts" },
        section.facts.map(([term, value]) => el("div", {}, el("dt", {}, term), el("dd", {}, nameOf(value, 300)))),
      ),
    );
  if (section.list)
    host.append(
      el(
        "ul",
        { class: "list" },
        section.list.map((item, k) => listItem(item, k > 0 && section.list[k - 1].tag === item.tag)),
      ),
    );
  const cards = section.figures.length ? new Cards(section, section.page || 12) : null;
  if (section.id === "features") featureCards = cards;
  if (cards) allCards.push(cards);
  for (const table of section.more || []) renderTable({ table }, host, null);
  for (const text of section.after || []) host.append(el("p", { class: "lead" }, text));
  if (section.lines)
    host.append(
      el(
        "dl",
        { class: "sign" },
        section.lines.map((line) => el("div", {}, el("dt", {}, line), el("dd", {}))),
      ),
    );
  if (section.table) renderTable(section, host, cards);
  if (cards) {
    if (!section.linked) cards.update();
    host.append(cards.grid, cards.more);
  }
  return host;
}

function listItem({ tag, state, names, text, feature }, again) {
  const name = names?.length
    ? names.map((one, k) => [
        k ? (names.length > 2 ? ", " : " × ") : "",
        feature !== null && feature !== undefined && k === 0
          ? fill(
              button("", { class: "name" }, () => featureCards?.reveal(feature)),
              {},
              [nameOf(one)],
            )
          : nameOf(one),
      ])
    : [];
  const sign = { good: "✓ ", bad: "✗ " }[state] || "";
  return el(
    "li",
    { class: again ? "again" : null },
    el("span", { class: `tag ${state || ""}` }, again ? el("span", { class: "hidden" }, tag) : sign + tag),
    el("span", {}, name.flat(), name.length ? ": " : null, text),
  );
}

function start() {
  main.replaceChildren(el("h1", {}, nameOf(DATA.title, 300)), el("p", { class: "lead" }, nameOf(DATA.lead, 400)));
  const nav = document.getElementById("sections");
  for (const section of DATA.sections) {
    main.append(renderSection(section));
    nav.append(el("a", { href: `#${section.id}` }, section.short || section.title));
  }
  main.append(el("footer", {}, DATA.footer), document.getElementById("tip"), document.getElementById("spoken"));
  nav.tabIndex = nav.scrollWidth > nav.clientWidth ? 0 : -1;
  const redraw = () => drawn.forEach((figure) => figure.over && figure.host.isConnected && figure.draw());
  const themes = [
    ["", "as the system", "◐"],
    ["light", "light", "☀"],
    ["dark", "dark", "☾"],
  ];
  let chosen = 0;
  const theme = document.getElementById("theme");
  theme.addEventListener("click", () => {
    chosen = (chosen + 1) % themes.length;
    const [value, name, sign] = themes[chosen];
    if (value) document.documentElement.dataset.theme = value;
    else delete document.documentElement.dataset.theme;
    theme.textContent = sign;
    theme.setAttribute("aria-label", `Colours: ${name}`);
    redraw();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("beforeprint", () => allCards.forEach((cards) => cards.print()));
  window.addEventListener("afterprint", () => allCards.forEach((cards) => cards.printed()));
  const follow = () => {
    const id = location.hash.slice(1),
      cards = id && allCards.find((one) => one.find(id) >= 0);
    if (cards) cards.reveal(cards.find(id), "instant");
  };
  if (location.protocol === "about:")
    // In the frame of a notebook, links to places of this page would lead to the notebook.
    document.addEventListener("click", (event) => {
      const link = event.target.closest('a[href^="#"]');
      if (!link) return;
      event.preventDefault();
      document.getElementById(link.getAttribute("href").slice(1))?.scrollIntoView();
    });
  window.addEventListener("hashchange", follow);
  window.addEventListener("load", follow);
  if (location.hash) history.scrollRestoration = "manual"; // the link says where to be
  document.addEventListener(
    "scroll",
    () => {
      document.getElementById("tip").hidden = true;
    },
    { passive: true },
  );
}

start();
