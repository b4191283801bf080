"use strict";
/* global GALLERY, LIBRARIES, MASKS */

const $ = (id) => document.getElementById(id);
const paintings = GALLERY.paintings.map((painting, index) => ({ ...painting, index }));
const byId = new Map(paintings.map((painting) => [painting.id, painting]));
const many = GALLERY.runs.length > 1;
const stepped = new Set(paintings.map((p) => p.step)).size > 1; // sketches scored together are one step, which says nothing
const picked = new Set();
const MOST_PICKED = 4;
let shown = [];   // what the filters let through, in order
let cards = [];   // their buttons, in the same order
let open = null;  // the painting in the dialog

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};
const figure = (value, digits = 2) => (value === null ? "–" : value.toFixed(digits));
const percent = (value) => (value === null ? "–" : `${Math.round(value * 100)} %`);

// Whose painting it is: its run where there are several, its step where there are several.
const where = (p) => [...(many ? [GALLERY.runs[p.run]] : []), ...(stepped ? [`step ${p.step}`] : [])];

function describe(p) {
  const facts = [stepped ? `Painting of step ${p.step}` : "Painting"];
  if (many) facts.push(`run ${GALLERY.runs[p.run]}`);
  facts.push(p.reward === null ? "not judged" : `reward ${figure(p.reward)}`);
  if (p.coverage !== null) facts.push(`${percent(p.coverage)} covered`);
  if (p.violations.length) facts.push(`refused for ${p.violations.join(", ")}`);
  return facts.join(", ");
}

// ---- The wall ---------------------------------------------------------------------------------------------------------

function card(p) {
  const caption = make("span", {}, make("b", {}, figure(p.reward)), ...where(p).map((part) => ` · ${part}`));
  if (p.violations.length) caption.append(" ", make("span", { className: "bad" }, p.violations[0]));
  const image = make("img", { loading: "lazy", decoding: "async", width: 220, height: 220, alt: "", src: `thumbs/${p.file}` });
  const button = make("button", { type: "button", className: "card", tabIndex: -1 }, image, caption);
  button.setAttribute("aria-label", describe(p));
  button.setAttribute("aria-pressed", picked.has(p.id));
  button.dataset.id = p.id;
  return button;
}

function select() {
  const run = $("run").value, violation = $("violation").value;
  const low = Number($("low").value) / 100, high = Number($("high").value) / 100;
  shown = paintings.filter((p) =>
    (run === "" || p.run === Number(run)) &&
    (violation === "" || (violation === "-" ? !p.violations.length : violation === "+" ? p.violations.length : p.violations.includes(violation))) &&
    (p.coverage === null ? low === 0 && high === 1 : p.coverage >= low && p.coverage <= high));
  const order = $("order").value;
  const reward = (p) => (p.reward === null ? -Infinity : p.reward);
  if (order === "best") shown.sort((a, b) => reward(b) - reward(a) || a.index - b.index);
  else if (order === "worst") shown.sort((a, b) => reward(a) - reward(b) || a.index - b.index);
  else shown.sort((a, b) => a.step - b.step || a.run - b.run || a.index - b.index);
  hang(order);
  $("count").textContent = shown.length === paintings.length ? `${shown.length} paintings` : `${shown.length} of ${paintings.length} paintings`;
}

// A section per step, or per sixty of a ranking; a section that is off screen costs nothing.
function hang(order) {
  const sections = new Map();
  shown.forEach((p, index) => {
    const key = order === "step" ? `Step ${p.step}` : `${Math.floor(index / 60) * 60 + 1} to ${Math.min(Math.floor(index / 60) * 60 + 60, shown.length)}`;
    if (!sections.has(key)) sections.set(key, []);
    sections.get(key).push(p);
  });
  cards = [];
  const parts = [];
  for (const [name, group] of sections) {
    const own = group.map(card);
    cards.push(...own);
    parts.push(make("section", {}, make("h2", {}, name), make("div", { className: "grid" }, ...own)));
  }
  if (!parts.length) parts.push(make("p", { className: "empty" }, "No painting is like that. Widen the filters."));
  $("wall").replaceChildren(...parts);
  if (cards.length) cards[0].tabIndex = 0;
}

function go(index) {
  const to = cards[Math.max(0, Math.min(index, cards.length - 1))];
  if (!to) return;
  for (const one of cards) if (one.tabIndex === 0) one.tabIndex = -1;
  to.tabIndex = 0;
  to.focus();
  to.scrollIntoView({ block: "nearest" });
}

// Up and down go by what is seen: the nearest card in that direction, whatever section it hangs in.
function vertical(from, sign) {
  const here = cards[from].getBoundingClientRect();
  let best = from, distance = Infinity;
  for (let i = from + sign; i >= 0 && i < cards.length && Math.abs(i - from) < 60; i += sign) {
    const there = cards[i].getBoundingClientRect();
    const rise = sign * (there.top - here.top);
    if (rise < here.height / 2) continue;
    const measure = rise + Math.abs(there.left - here.left) * 0.01;
    if (measure < distance) [best, distance] = [i, measure];
    else if (rise > distance + here.height) break;
  }
  return best;
}

// ---- One painting -------------------------------------------------------------------------------------------------------

const waiting = new Map();  // chunk → what to do when it is there
const chunks = new Map();

window.CODE = (number, sketches) => {
  chunks.set(number, sketches);
  for (const then of waiting.get(number) ?? []) then(sketches);
  waiting.delete(number);
};

function load(source) {
  return new Promise((resolve, reject) => {
    const script = make("script", { src: source, onload: resolve, onerror: () => reject(new Error(`${source} is not there`)) });
    document.head.append(script);
  });
}

function codeOf(p) {
  const number = Math.floor(p.index / GALLERY.chunk), at = p.index % GALLERY.chunk;
  if (chunks.has(number)) return Promise.resolve(chunks.get(number)[at]);
  return new Promise((resolve, reject) => {
    if (!waiting.has(number)) {
      waiting.set(number, []);
      load(`code/${number}.js`).catch(reject);
    }
    waiting.get(number).push((sketches) => resolve(sketches[at]));
  });
}

const TOKENS = /(\/\/[^\n]*|\/\*[^]*?\*\/)|("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|(\b\d[\w.]*)|\b(async|await|break|case|class|const|continue|default|do|else|extends|false|for|function|if|in|let|new|null|of|return|static|super|switch|this|throw|true|typeof|undefined|var|void|while|yield)\b|([A-Za-z_$][\w$]*)(?=\s*\()/g;
const KINDS = ["", "c", "s", "n", "k", "f"];

function highlight(code) {
  const parts = [];
  let end = 0;
  for (const match of code.matchAll(TOKENS)) {
    parts.push(code.slice(end, match.index));
    parts.push(make("span", { className: KINDS[match.findIndex((group, i) => i > 0 && group !== undefined)] }, match[0]));
    end = match.index + match[0].length;
  }
  return [...parts, code.slice(end)];
}

async function show(p) {
  stop();
  open = p;
  const judged = p.reward === null ? "not judged" : `reward ${figure(p.reward, 3)}`;
  $("one-title").textContent = where(p).length ? `${where(p).join(", ")}: ${judged}` : judged;
  Object.assign($("one-image"), { src: `paintings/${p.file}`, alt: describe(p), width: p.size[0], height: p.size[1] });
  const facts = { coverage: percent(p.coverage), ...Object.fromEntries(Object.entries(p.terms).map(([k, v]) => [k, figure(v)])), shapes: p.shapes ?? "–", gate: p.violations.join(", ") || "passed", seed: p.seed };
  $("facts").replaceChildren(...Object.entries(facts).map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value)))));
  $("said").textContent = "";
  marked();
  $("code").replaceChildren("…");
  if (!$("one").open) $("one").showModal();
  history.replaceState(null, "", `#${p.id}`);
  try {
    const code = await codeOf(p);
    if (open === p) $("code").replaceChildren(...highlight(code));
  } catch (error) {
    $("code").textContent = `The sketch could not be loaded: ${error.message}.`;
  }
}

function beside(sign) {
  const at = shown.indexOf(open);
  const to = shown[at + sign];
  if (to) show(to);
}

async function copy() {
  const code = await codeOf(open);
  try {
    await navigator.clipboard.writeText(code);
    $("said").textContent = "Copied.";
  } catch {  // opened from disk or refused: select it, so that Ctrl+C does the rest
    getSelection().selectAllChildren($("code"));
    $("said").textContent = document.execCommand("copy") ? "Copied." : "Selected: press Ctrl+C.";
  }
}

// ---- Repainting ---------------------------------------------------------------------------------------------------------
// The sketch is a stranger's code. It runs in a frame with an opaque origin (sandbox without allow-same-origin) under the
// page's policy: no connection, no other frame, no navigation of this page. It can tell the page only "done" or an error.

let libraries = null;
let frame = null;

const PRELUDE = `
(() => {
  let s = (0x9E3779B9 + SEED) | 0;
  Math.random = () => { s = (s + 0x6D2B79F5) | 0; let t = Math.imul(s ^ (s >>> 15), 1 | s); t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t; return ((t ^ (t >>> 14)) >>> 0) / 4294967296; };
  // p5.brush's fill masks come from the rasteriser that painted the pictures: a browser's own loses pigment.
  const masks = MASKS;
  const get = OffscreenCanvas.prototype.getContext;
  OffscreenCanvas.prototype.getContext = function (kind, options) {
    return kind === "2d" ? masks.contextOf(this) : get.call(this, kind, options);
  };
  const upload = WebGL2RenderingContext.prototype.texSubImage2D;
  WebGL2RenderingContext.prototype.texSubImage2D = function (...args) {
    const image = args[6], pixels = args.length === 7 && image ? masks.uploadOf(image)?.pixels : undefined;
    if (pixels) args.splice(4, 3, image.width, image.height, args[4], args[5], pixels);
    return upload.apply(this, args);
  };
  Object.defineProperty(window, "devicePixelRatio", { value: 1 });
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "Worker", "SharedWorker", "open"]) delete window[name], (window[name] = undefined);
  const say = (what) => parent.postMessage(what, "*");
  const later = setTimeout.bind(window), wanted = performance.now.bind(performance);
  addEventListener("error", (event) => say({ error: String(event.message) }));
  addEventListener("unhandledrejection", (event) => say({ error: String(event.reason) }));
  const start = wanted();
  // Done as the renderer sees it: when looping stops, and after the first frame of a sketch that never mentions noLoop.
  let frames = 0;
  const afterFrame = function () {
    frames++;
    if (!STOPS || frames >= 60) this.noLoop();
  };
  addEventListener("DOMContentLoaded", () => p5.registerAddon((p5, prototype, lifecycles) => { lifecycles.postdraw = afterFrame; }));
  addEventListener("load", function watch() {
    const canvas = document.querySelector("canvas");
    if (canvas && (typeof draw !== "function" || (frames > 0 && !isLooping()))) {
      if (canvas.style.width) say({ size: [parseFloat(canvas.style.width), parseFloat(canvas.style.height)] });
      say({ done: (wanted() - start) / 1000 });
    } else later(watch, 50);
  });
})();`;

function stop() {
  frame?.remove();
  frame = null;
  $("live").hidden = true;
  $("live-note").textContent = "";
}

function fit(width, height) {
  frame.width = width;
  frame.height = height;
  frame.style.transform = `scale(${$("stage").clientWidth / width})`;
}

async function repaint() {
  stop();
  const p = open;
  $("live").hidden = false;
  $("live-note").textContent = "Painting …";
  try {
    libraries ??= load("libraries.js");
    await libraries;
  } catch (error) {
    libraries = null;
    $("live-note").textContent = `It cannot be repainted: ${error.message}.`;
    return;
  }
  const code = await codeOf(p);
  if (open !== p) return;
  const inline = (text) => `<script nonce="repaint">${text.replaceAll("</script", "<\\/script")}</script>`;
  const known = { SEED: p.seed >>> 0, STOPS: /\bnoLoop\b/.test(code), MASKS };
  const prelude = PRELUDE.replace(/\b(SEED|STOPS|MASKS)\b/g, (name) => known[name]);
  const [width, height] = p.size;
  frame = make("iframe", { title: "The sketch, painted in this browser" });
  frame.setAttribute("sandbox", "allow-scripts");
  frame.setAttribute("tabindex", "-1");
  fit(width, height);
  frame.srcdoc = `<!doctype html><meta charset="utf-8">${inline(prelude)}${LIBRARIES.map(inline).join("")}<body>${inline(
    "document.body.style.margin = 0; document.body.style.overflow = 'hidden'")}${inline(code)}</body>`;
  $("stage").replaceChildren(frame);
}

addEventListener("message", (event) => {
  if (!frame || event.source !== frame.contentWindow || typeof event.data !== "object" || !event.data) return;
  if (Array.isArray(event.data.size)) {
    const [width, height] = event.data.size.map(Number);
    if (width > 0 && height > 0 && width < 10000 && height < 10000) fit(width, height);
  }
  if ("done" in event.data) $("live-note").textContent = `painted here in ${Number(event.data.done).toFixed(1)} s; another machine's colours differ a little`;
  if ("error" in event.data) $("live-note").textContent = `The sketch fails here: ${String(event.data.error).slice(0, 200)}`;
});

// ---- Side by side -------------------------------------------------------------------------------------------------------

function pick(p) {
  if (picked.has(p.id)) picked.delete(p.id);
  else if (picked.size < MOST_PICKED) picked.add(p.id);
  else $("said").textContent = `Side by side holds ${MOST_PICKED}.`;
  marked();
}

function marked() {
  for (const one of cards) one.setAttribute("aria-pressed", picked.has(one.dataset.id));
  $("side").disabled = picked.size === 0;
  $("side").textContent = `Side by side (${picked.size})`;
  const button = document.querySelector("[data-do=pick]");
  const inside = open !== null && picked.has(open.id);
  button.setAttribute("aria-pressed", inside);
  button.textContent = inside ? "In side by side" : "Add to side by side";
}

function compare() {
  if (!picked.size) return;
  $("both-pictures").replaceChildren(...[...picked].map((id) => {
    const p = byId.get(id);
    return make("figure", {}, make("img", { src: `paintings/${p.file}`, alt: describe(p), width: p.size[0], height: p.size[1] }), make("figcaption", {}, describe(p)));
  }));
  $("both").showModal();
}

// ---- Wiring -------------------------------------------------------------------------------------------------------------

GALLERY.runs.forEach((name, number) => $("run").append(make("option", { value: number }, name)));
for (const code of [...new Set(paintings.flatMap((p) => p.violations))].sort()) $("violation").append(make("option", { value: code }, code));
if (!many) $("run").closest("label").hidden = true;

$("filters").addEventListener("change", select);
$("filters").addEventListener("submit", (event) => event.preventDefault());
$("side").addEventListener("click", compare);
$("keys").addEventListener("click", () => $("help").showModal());
$("wall").addEventListener("click", (event) => {
  const one = event.target.closest(".card");
  if (one) show(byId.get(one.dataset.id));
});
$("one").addEventListener("close", () => {
  stop();
  history.replaceState(null, "", location.pathname + location.search);
  const at = shown.indexOf(open);
  open = null;
  if (at >= 0) go(at);
});
document.addEventListener("click", (event) => {
  const what = event.target.closest?.("[data-do]")?.dataset.do;
  if (what === "close") event.target.closest("dialog").close();
  else if (what === "clear") { picked.clear(); marked(); $("both").close(); }
  else if (what) ({ previous: () => beside(-1), next: () => beside(1), copy, repaint, pick: () => pick(open) })[what]();
});
for (const dialog of document.querySelectorAll("dialog"))
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });  // beside it

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select")) return;
  const key = event.key;
  if ($("one").open) {
    const inside = { ArrowLeft: () => beside(-1), ArrowRight: () => beside(1), r: repaint, c: copy, s: () => pick(open) }[key];
    if (inside && !(key.startsWith("Arrow") && event.target.closest("pre"))) { inside(); event.preventDefault(); }
    return;
  }
  if (document.querySelector("dialog[open]")) return;
  const at = cards.indexOf(document.activeElement);
  const steps = { ArrowRight: () => go(at + 1), ArrowLeft: () => go(at - 1), ArrowDown: () => go(vertical(at, 1)), ArrowUp: () => go(vertical(at, -1)), Home: () => go(0), End: () => go(cards.length - 1), s: () => pick(byId.get(cards[at].dataset.id)) };
  if (at >= 0 && steps[key]) { steps[key](); event.preventDefault(); }
  else if (key.startsWith("Arrow") && at < 0 && document.activeElement === document.body) { go(0); event.preventDefault(); }
  else if (key === "f") { $("order").focus(); event.preventDefault(); }
  else if (key === "b") compare();
  else if (key === "?") $("help").showModal();
});

if (!stepped) document.querySelector("#order [value=step]").remove();
select();
if (byId.has(location.hash.slice(1))) show(byId.get(location.hash.slice(1)));
