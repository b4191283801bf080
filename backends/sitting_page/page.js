// Shows the server's view and sends it keys, each with the turn it was meant for. Holds no state of its own.
"use strict";

const byId = (id) => document.getElementById(id);
const SIGNS = { left: "←", right: "→", space: "␣", enter: "⏎" };
const NAMES = { ArrowLeft: "left", ArrowRight: "right", " ": "space", Enter: "enter" };
let view = null;
let shown = "";
let busy = false;

function element(name, text = "", more = {}) {
  const made = Object.assign(document.createElement(name), more);
  if (text) made.textContent = text;
  return made;
}

function enlarge(picture) {
  const dialog = byId("full");
  dialog.firstElementChild.src = `picture/${picture.id}`;
  dialog.showModal();
}

function figure(picture, index) {
  const made = element("figure");
  const size = view.kind === "sheet" ? "thumb" : "picture";
  const said = picture.label || `Painting ${index + 1}`;
  const image = element("img", "", { src: `${size}/${picture.id}`, alt: said });
  const button = element("button", "", { type: "button", title: "Full size" });
  button.setAttribute("aria-label", `${said}, full size`);
  button.append(image);
  button.onclick = () => enlarge(picture);
  made.append(button, element("figcaption", picture.label));
  return made;
}

function show(next) {
  view = next;
  const text = JSON.stringify(view);
  if (text === shown) return;
  shown = text;
  const easel = byId("easel");
  easel.className = view.kind;
  easel.dataset.turn = view.turn;
  if (view.over) {
    easel.className = "end";
    easel.replaceChildren(element("p", `${view.text} You may close this page.`));
  } else if (view.kind === "text") easel.replaceChildren(element("pre", view.text, { tabIndex: 0 }));
  else if (view.kind === "end") easel.replaceChildren(element("p", view.text));
  else easel.replaceChildren(...view.pictures.map(figure));
  document.title = `${view.title} · paint`;
  byId("title").textContent = view.kind === "sheet" ? `${view.title}: look at them all before you rate` : view.title;
  byId("lines").replaceChildren(...view.lines.map((line) => element("p", line)));
  byId("note").textContent = view.note;
  byId("warning").textContent = view.warning;
  const keys = view.over ? [] : view.keys.filter((key) => key.action !== "more");
  byId("keys").replaceChildren(
    ...keys.map((key) => {
      const button = element("button", "", { type: "button" });
      button.append(element("kbd", SIGNS[key.key] || key.key), element("span", key.word));
      button.onclick = () => act(key.action);
      return button;
    }),
  );
}

async function ask(path, body) {
  const options = body ? { method: "POST", body: JSON.stringify(body) } : {};
  const answer = await fetch(path, options);
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}

async function act(action) {
  if (byId("full").open) byId("full").close();
  else if (action === "full") {
    if (view.pictures.length) enlarge(view.pictures[0]);
  } else if (!busy) {
    busy = true; // a key pressed before the next painting is to be seen is meant for none
    try {
      show(await ask("key", { turn: view.turn, action }));
    } catch {
      lost();
    }
    busy = false;
  }
}

function lost() {
  byId("warning").textContent = "The session in the terminal does not answer: your last key may not be saved.";
  shown = "";
}

document.addEventListener("keydown", (event) => {
  if (!view || view.over || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const name = NAMES[event.key] || event.key.toLowerCase();
  const key = view.keys.find((known) => known.key === name);
  if (byId("full").open) {
    byId("full").close();
    event.preventDefault();
  } else if (view.kind === "sheet" && name === "space") {
    return; // scrolls
  } else if (key && !(document.activeElement?.tagName === "BUTTON" && name === "enter")) {
    event.preventDefault();
    act(key.action);
  } else if (view.kind === "sheet" && name.length === 1) act("begin");
});
byId("full").onclick = () => byId("full").close();

async function look() {
  if (!busy && !(view && view.over)) {
    try {
      const next = await ask("state");
      if (!busy) show(next);
    } catch {
      lost();
    }
  }
  if (!(view && view.over)) setTimeout(look, 1500);
}
look();
