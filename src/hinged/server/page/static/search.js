// Any folder by a few of its letters.
import { $, ask, make, say } from "./dom.js";
import { file, selected } from "./inbox.js";

const dialog = $("#search");
const text = $("#search-text");
const list = $("#search-list");
let all = [];
let found = [];
let chosen = 0;

export async function open() {
  if (!selected() || dialog.open) return;
  text.value = "";
  try {
    all = (await ask("/api/folders")).folders;
  } catch (problem) {
    say(problem.message);
    return;
  }
  if (dialog.open) return;
  dialog.showModal();
  text.focus();
  draw();
}

// Letters in order; the sooner and closer together, the better.
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
  const letters = text.value.toLowerCase().replace(/\s/g, "");
  const suggested = (selected()?.folders ?? []).map((folder) => folder.name);
  found = all
    .map((folder) => ({ ...folder, cost: distance(folder.name.toLowerCase(), letters), place: suggested.indexOf(folder.name) }))
    .filter((folder) => folder.cost < Infinity)
    .sort((a, b) => (letters ? a.cost - b.cost : 0) || (a.place < 0 ? 9 : a.place) - (b.place < 0 ? 9 : b.place) || a.name.localeCompare(b.name));
  chosen = 0;
  list.replaceChildren(...found.map((folder, i) => make("li", { role: "option", id: `found-${i}`, on: { click: () => take(i) } }, folder.name, make("small", {}, folder.place >= 0 ? `suggestion ${folder.place + 1}` : `${folder.learnt} learnt`))));
  mark();
}

function mark() {
  [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === chosen)));
  if (found.length) {
    text.setAttribute("aria-activedescendant", `found-${chosen}`);
    list.children[chosen].scrollIntoView({ block: "nearest" });
  } else {
    text.removeAttribute("aria-activedescendant");
    list.replaceChildren(make("li", { role: "option", "aria-disabled": "true", "aria-selected": "false" }, "no folder has these letters"));
  }
}

function take(i) {
  const row = selected();
  if (!found[i] || !row) return;
  dialog.close();
  file(row.key, found[i].name);
}

text.addEventListener("input", draw);
text.addEventListener("keydown", (event) => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    chosen = (chosen + (event.key === "ArrowDown" ? 1 : found.length - 1)) % Math.max(1, found.length);
    mark();
  } else if (event.key === "Enter") {
    event.preventDefault();
    take(chosen);
  }
});
