// Elements, names, numbers, colours and CSV. Text reaches the page as text nodes only, never as HTML.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) if (child !== null && child !== undefined) node.append(child);
  return node;
}

function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function button(text, attributes, onclick) {
  return el("button", { type: "button", ...attributes, onclick }, text);
}

// Characters that cannot be seen, or turn the direction of what follows: names that look alike are told apart by them.
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u180e\u200b\u200c\u200e\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g;

function visible(name) {
  return String(name)
    .replace(INVISIBLE, (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`)
    .replace(/^ +| +$| {2,}/g, (spaces) => "␣".repeat(spaces.length));
}

function shorten(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : letters.slice(0, Math.max(1, most - 1)).join("") + "…";
}

// A name in a sentence: isolated, so that right-to-left names do not turn what stands around them.
function nameOf(name, most = 120) {
  const text = visible(name);
  return el("bdi", { title: text.length > most ? shorten(text, 2000) : null }, shorten(text, most));
}

function isolated(name, most = 60) {
  return "\u2068" + shorten(visible(name), most) + "\u2069";
}

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });
const exact = new Intl.NumberFormat("en", { maximumSignificantDigits: 17, useGrouping: "min2" });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

function number(x) {
  if (x === null || x === undefined) return "–";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return x.toExponential(2).replace("-", "−");
  if (size >= 1000 && size < 1e9) return whole.format(x).replace("-", "−");
  return plain.format(x).replace("-", "−");
}

function edge(x) {
  if (x === null) return "∞";
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-5 || size >= 1e15)) return String(x).replace("-", "−");
  return exact.format(x).replace("-", "−");
}

function share(x) {
  if (x === null || x === undefined) return "–";
  if (x === 0) return "0 %";
  if (x < 0.0001) return "< 0.01 %";
  if (x > 0.9995 && x < 1 - 1e-12) return "> 99.9 %";
  return `${(100 * x).toLocaleString("en", { maximumSignificantDigits: x < 0.1 ? 2 : 3 })} %`;
}

function rowsText(rows, total) {
  const word = DATA.weighted ? "weight" : rows === 1 ? "row" : "rows";
  const count = DATA.weighted ? `${word} ${number(rows)}` : `${whole.format(rows)} ${word}`;
  return total ? `${count} (${share(rows / total)})` : count;
}

// ------------------------------------------------------------------------------------------------------------- CSV

// A spreadsheet takes text that begins like this for a formula; an apostrophe keeps it text. Numbers stay as they are.
const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

function csvField(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return String(value);
  const text = FORMULA.test(value) ? "'" + value : String(value);
  return /[",;\r\n\t']/.test(text) || text !== text.trim() ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function csvText(columns, rows) {
  return "\ufeff" + [columns, ...rows].map((row) => row.map(csvField).join(",")).join("\r\n") + "\r\n";
}

function fileName(name, suffix) {
  const base = String(name)
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 60);
  return (base || "figure") + suffix;
}

function download(name, suffix, type, text) {
  const url = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
  const link = el("a", { href: url, download: fileName(name, suffix), hidden: true });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

function csvButton(name, make) {
  return button(
    "CSV",
    { class: "small csv", "aria-label": `Save the data of ${shorten(visible(name), 80)} as CSV` },
    () => download(name, ".csv", "text/csv", csvText(...make())),
  );
}

function svgButton(name, make) {
  return button(
    "SVG",
    { class: "small csv", "aria-label": `Save the figure of ${shorten(visible(name), 80)} as SVG` },
    () => download(name, ".svg", "image/svg+xml", make()),
  );
}

function permalink(id, name) {
  return el("a", { class: "permalink", href: `#${id}`, "aria-label": `Link to ${name}` }, "#");
}

// --------------------------------------------------------------------------------------------------------- colours

const dark = () => getComputedStyle(document.documentElement).getPropertyValue("--dark").trim() === "1";

function mix(stops, t) {
  const at = Math.min(1, Math.max(0, t)) * (stops.length - 1);
  const k = Math.min(stops.length - 2, Math.floor(at));
  const parts = stops[k].map((from, i) => Math.round(from + (stops[k + 1][i] - from) * (at - k)));
  return `rgb(${parts.join(",")})`;
}

// Even in lightness, so that they read in grey; blue and orange are told apart by the colour-blind.
const RISING = [
  [13, 36, 84],
  [20, 84, 124],
  [28, 132, 136],
  [87, 176, 122],
  [176, 213, 109],
  [253, 240, 155],
];
const AROUND = {
  light: [
    [20, 70, 140],
    [96, 152, 208],
    [244, 244, 242],
    [236, 156, 84],
    [152, 66, 8],
  ],
  dark: [
    [150, 200, 255],
    [62, 118, 184],
    [34, 38, 46],
    [190, 106, 36],
    [255, 196, 140],
  ],
};

function colourOf(panel, low, high) {
  if (!panel.diverging) return (z) => mix(RISING, high > low ? (z - low) / (high - low) : 0.5);
  const most = Math.max(Math.abs(low), Math.abs(high)) || 1;
  const stops = AROUND[dark() ? "dark" : "light"];
  return (z) => mix(stops, 0.5 + z / most / 2);
}
