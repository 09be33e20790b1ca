// Find any folder by a few of its letters, or create a new one; files the message that the search was opened for.
import { $, foreign, make, warn } from "./dom.js";
import { events, file, selected } from "./inbox.js";
import { ask, up } from "./link.js";

const dialog = $("#search");
const text = $("#search-text");
const list = $("#search-list");
let row = null;
let all = null;
let found = [];
let chosen = 0;
let entered = false; // Enter was pressed before the folders had come

export async function open(which = selected()) {
  if (!which || dialog.open) return;
  row = which;
  all = null;
  entered = false;
  text.value = "";
  $("#search-what").replaceChildren(foreign("bdi", {}, row.subject));
  dialog.showModal(); // at once, so that keystrokes go to the field
  text.focus();
  draw();
  try {
    const { folders } = await ask("/api/folders");
    if (row === which) all = folders;
    draw();
    if (entered && row === which && dialog.open) take(chosen);
  } catch (problem) {
    dialog.close();
    if (up) warn(problem.message);
  }
}

// Letters must occur in order; earlier and closer together ranks higher.
function distance(name, letters) {
  let at = -1;
  let cost = 0;
  for (const letter of letters) {
    const next = name.indexOf(letter, at + 1);
    if (next < 0) return Infinity;
    cost += next - at - 1;
    at = next;
  }
  return cost;
}

function draw() {
  const name = text.value.trim().replace(/\s*\/\s*/g, "/");
  const letters = name.toLowerCase().replace(/\s/g, "");
  const suggested = row.folders.map((folder) => folder.name);
  found = (all ?? [])
    .map((folder) => ({ ...folder, cost: distance(folder.name.toLowerCase(), letters), place: suggested.indexOf(folder.name) }))
    .filter((folder) => folder.cost < Infinity)
    .sort((a, b) => (letters ? a.cost - b.cost : 0) || (a.place < 0 ? 9 : a.place) - (b.place < 0 ? 9 : b.place) || a.name.localeCompare(b.name));
  if (name && all && !all.some((folder) => folder.name.toLowerCase() === name.toLowerCase())) found.push({ name, anew: true });
  chosen = 0;
  list.replaceChildren(...found.map((folder, i) => make("li", { role: "option", id: `found-${i}`, class: folder.anew ? "anew" : null, on: { click: () => take(i) } }, ...shown(folder))));
  mark();
}

function shown(folder) {
  if (folder.anew) return [make("span", {}, "Make folder ", foreign("bdi", {}, folder.name))];
  return [foreign("span", {}, folder.name), make("small", {}, folder.place >= 0 ? `suggestion ${folder.place + 1}` : `${folder.learnt.toLocaleString()} learnt`)];
}

function mark() {
  [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === chosen)));
  if (found.length) {
    text.setAttribute("aria-activedescendant", `found-${chosen}`);
    list.children[chosen].scrollIntoView({ block: "nearest" });
  } else {
    text.removeAttribute("aria-activedescendant");
    const words = all ? "There is no folder yet. Type a name to make one." : "Loading the folders…";
    list.replaceChildren(make("li", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, words));
  }
}

function take(i) {
  if (!found[i]) return;
  dialog.close();
  file(row, found[i].name, Boolean(found[i].anew));
}

text.addEventListener("input", () => {
  entered = false;
  draw();
});
text.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    chosen = (chosen + (event.key === "ArrowDown" ? 1 : found.length - 1)) % Math.max(1, found.length);
    mark();
  } else if (event.key === "Enter" && !event.repeat) {
    event.preventDefault();
    entered = !all;
    take(chosen);
  }
});
events.addEventListener("other", ({ detail }) => open(detail));
