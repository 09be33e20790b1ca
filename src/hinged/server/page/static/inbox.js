// The inbox: rows of one height, of which only those in sight exist, so that ten thousand messages cost no more than ten.
import { $, ask, make, nameOf, percent, say, when } from "./dom.js";

const PAGE = 30;
const list = $("#inbox");
const items = list.firstElementChild;
const rows = new Map(); // by position
const shown = new Map(); // elements, by position
let total = 0;
let current = 0;
let age = 0; // answers to older questions are dropped
let pending = 0; // filings that the server has not confirmed yet
let work = Promise.resolve(); // they go one after another
export const events = new EventTarget();

const height = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) * parseFloat(getComputedStyle(document.documentElement).fontSize);

export const selected = () => rows.get(current) ?? null;

async function fetchRows(start, anew = false) {
  const asked = anew ? (age += 1) : age;
  const told = await ask(`/api/inbox?start=${start}&count=${PAGE}`);
  if (asked !== age || pending) return;
  if (anew) rows.clear();
  total = told.total;
  told.rows.forEach((row, i) => rows.set(told.start + i, row));
  events.dispatchEvent(new CustomEvent("state", { detail: told }));
}

// What is shown stays until the answer is here, so that keys pressed meanwhile are not lost.
export async function reload() {
  if (pending) return;
  await fetchRows(Math.floor(current / PAGE) * PAGE, true);
  current = Math.min(current, Math.max(0, total - 1));
  if (total && !rows.has(current)) await fetchRows(Math.floor(current / PAGE) * PAGE);
  draw();
  events.dispatchEvent(new Event("selected"));
}

// Take a row away at once; those below move up.
function take(at) {
  const later = [...rows].filter(([i]) => i > at);
  for (const i of [...rows.keys()]) if (i >= at) rows.delete(i);
  for (const [i, row] of later) rows.set(i - 1, row);
  total -= 1;
  if (at < current || current >= total) current = Math.max(0, current - 1);
  draw();
}

function draw() {
  const tall = height();
  $("#empty").hidden = total > 0;
  list.hidden = total === 0;
  const first = Math.max(0, Math.floor(list.scrollTop / tall) - 4);
  const last = Math.min(total, Math.ceil((list.scrollTop + list.clientHeight) / tall) + 4);
  for (const [at, element] of shown) {
    if (at < first || at >= last || element.dataset.key !== (rows.get(at)?.key ?? "")) {
      element.remove();
      shown.delete(at);
    }
  }
  let missing = null;
  for (let at = first; at < last; at += 1) {
    const row = rows.get(at);
    if (!row) {
      missing ??= at;
    } else {
      const face = JSON.stringify([row, at === current, total, tall]);
      if (shown.get(at)?.face === face) continue; // left alone, under a finger that may just be pressing it
      const element = rowElement(at, row);
      element.face = face;
      if (shown.has(at)) shown.get(at).replaceWith(element);
      else items.append(element);
      shown.set(at, element);
    }
  }
  items.style.height = `${total * tall}px`;
  if (missing !== null) fetchRows(Math.floor(missing / PAGE) * PAGE).then(draw, (problem) => say(problem.message));
}

function rowElement(at, row) {
  const kept = shown.get(at);
  const focused = kept?.contains(document.activeElement) && document.activeElement === kept;
  const mine = at === current;
  const element = make(
    "li",
    {
      class: "row",
      tabindex: mine ? "0" : "-1",
      "data-key": row.key,
      "aria-current": mine ? "true" : null,
      "aria-posinset": at + 1,
      "aria-setsize": total,
      on: { click: (event) => { if (!event.target.closest("button")) { select(at); open(); } } },
    },
    make("div", { class: "line" }, make("span", { class: "who" }, nameOf(row.from)), row.files ? make("span", { class: "clip" }, row.files === 1 ? "1 file" : `${row.files} files`) : null, make("time", {}, when(row.date))),
    make("div", { class: "what" }, row.subject, make("span", {}, ` ${row.snippet}`)),
    make("div", { class: "chips" }, ...(row.folders.length ? row.folders.map((folder, i) => chip(row, folder, i, mine)) : [make("span", { class: "silent" }, row.silent)])),
  );
  element.style.top = `${at * height()}px`;
  if (focused) queueMicrotask(() => element.focus({ preventScroll: true }));
  return element;
}

function chip(row, folder, i, mine) {
  const sure = i === 0 && row.confidence !== null ? ` (${row.pinned ? "pinned" : percent(row.confidence)})` : "";
  return make(
    "button",
    { type: "button", class: i === 0 ? "chip best" : "chip", tabindex: mine ? "0" : "-1", "aria-label": `File to ${folder.name}${sure}`, on: { click: () => file(row.key, folder.name) } },
    make("b", { "aria-hidden": "true" }, String(i + 1)),
    make("span", {}, folder.name),
  );
}

export function select(at, focus = false) {
  if (!total) return;
  current = Math.max(0, Math.min(total - 1, at));
  const tall = height();
  if (current * tall < list.scrollTop) list.scrollTop = current * tall;
  if ((current + 1) * tall > list.scrollTop + list.clientHeight) list.scrollTop = (current + 1) * tall - list.clientHeight;
  draw();
  if (focus) shown.get(current)?.focus({ preventScroll: true });
  events.dispatchEvent(new Event("selected"));
}

export const move = (by) => select(current + by, true);
export const open = () => events.dispatchEvent(new Event("open"));

export function file(key, folder) {
  const at = [...rows].find(([, row]) => row.key === key)?.[0];
  if (at === undefined) return;
  const focused = document.activeElement === document.body || list.contains(document.activeElement);
  pending += 1;
  take(at);
  if (focused) shown.get(current)?.focus({ preventScroll: true });
  events.dispatchEvent(new Event("selected"));
  work = work.then(() => send(key, folder));
}

async function send(key, folder) {
  try {
    const told = await ask("/api/file", { key, folder });
    const which = told.rank === 1 ? "the first suggestion" : told.rank > 1 && told.rank <= 3 ? `suggestion ${told.rank}` : "learnt";
    say(`Filed to ${folder}: ${which}.`);
  } catch (problem) {
    say(problem.message);
  }
  pending -= 1;
  await reload().catch((problem) => say(problem.message));
  if (!pending) events.dispatchEvent(new Event("filed"));
}

export async function undo() {
  await work;
  try {
    const told = await ask("/api/undo", {});
    say(`Taken back from ${told.folder}.`);
    current = 0;
    await reload();
    select(0, true);
    events.dispatchEvent(new Event("filed"));
  } catch (problem) {
    say(problem.message);
  }
}

list.addEventListener("scroll", () => requestAnimationFrame(draw), { passive: true });
addEventListener("resize", draw);
