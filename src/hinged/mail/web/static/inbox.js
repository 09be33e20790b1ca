// The inbox: rows of equal height, of which only visible ones exist, so that ten thousand messages cost no more than ten.
// The selection is a message, identified by its key: arriving or leaving mail never changes it.
import { $, say, warn } from "./dom.js";
import { GONE, ask, up } from "./link.js";
import { rowElement, skeleton } from "./row.js";

const PAGE = 30;
const list = $("#inbox");
const items = list.firstElementChild;
const newer = $("#newer");
const rows = new Map(); // known rows of the inbox, by position
const shown = new Map(); // elements, by the key of their message, or by position while it is loading
const loading = new Set(); // start positions of requested pages
const leaving = new Set(); // keys of messages that are being filed
let total = null;
let key = null; // key of the selected message
let at = 0; // its position, now or before
let wanted = true; // true if the message that loads at that position is to be selected
let moves = 0; // how often the user selected another message
let age = 0; // responses to older requests are dropped
let pending = 0; // changes that the server has not confirmed yet
let work = Promise.resolve(); // changes are sent one after another
let above = 0; // messages that arrived above the visible ones
export const events = new EventTarget(); // "selected", "open", "other", "state", "vanished", "taken"

const height = () => parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) * parseFloat(getComputedStyle(document.documentElement).fontSize);
const tell = (name, detail = null) => events.dispatchEvent(new CustomEvent(name, { detail }));
const pageOf = (position) => Math.floor(position / PAGE) * PAGE;

function find(which) {
  if (which === null) return undefined;
  if (rows.get(at)?.key === which) return at;
  return [...rows].find(([, row]) => row.key === which)?.[0];
}

export const selected = () => rows.get(find(key)) ?? null;

// ------------------------------------------------------------------ what the server sends
function enter(told) {
  total = told.total;
  told.rows.forEach((row, i) => rows.set(told.start + i, row));
  if (wanted) at = Math.max(0, Math.min(at, total - 1));
  if (wanted && rows.has(at)) {
    key = rows.get(at).key;
    wanted = false;
  }
  tell("state", told);
}

async function fetchPage(start) {
  if (loading.has(start) || pending || total === null) return;
  loading.add(start);
  const asked = age;
  const told = await ask(`/api/inbox?start=${start}&count=${PAGE}`);
  if (asked !== age || pending) return;
  loading.delete(start);
  if (told.total !== total) return reload();
  const before = key;
  enter(told);
  draw();
  if (key !== before) tell("selected");
}

let running = null;
let again = false;

// List the inbox again; requests in the meantime are combined into one.
export function reload() {
  again = true;
  running ??= (async () => {
    while (again && !pending) {
      again = false;
      await look();
    }
  })().finally(() => { running = null; });
  return running;
}

async function look() {
  const tall = height();
  const steady = key ?? rows.get(Math.ceil(list.scrollTop / tall))?.key ?? ""; // a message that should keep its position on screen
  const before = find(steady);
  const told = await ask(`/api/inbox?start=${pageOf(at)}&count=${PAGE}&key=${encodeURIComponent(steady)}`);
  if (pending) return;
  if (key !== null && key !== steady) {
    again = true; // the user has moved on
    return;
  }
  const focused = list.contains(document.activeElement);
  age += 1;
  loading.clear();
  rows.clear();
  const shift = told.at === null || before === undefined ? 0 : told.at - before;
  if (key !== null && told.at === null) {
    key = null; // nothing is selected instead: the user has not seen that message
    tell("vanished", steady);
  } else if (steady) at = key === null ? at + shift : told.at;
  enter(told);
  at = Math.max(0, Math.min(at, total - 1));
  items.style.height = `${total * tall}px`;
  if (shift) list.scrollTop += shift * tall;
  above = list.scrollTop < tall / 2 ? 0 : Math.max(0, above + shift);
  draw();
  if (focused && !list.contains(document.activeElement)) (shown.get(key) ?? list).focus({ preventScroll: true });
  tell("selected");
}

// ------------------------------------------------------------------ drawing
function draw() {
  const tall = height();
  $("#empty").hidden = total !== 0;
  list.hidden = total === 0;
  const first = Math.max(0, Math.floor(list.scrollTop / tall) - 4);
  const last = Math.min(total ?? 12, Math.ceil((list.scrollTop + list.clientHeight) / tall) + 4);
  const order = []; // in visual order, so that screen readers read them in that order
  const missing = new Set();
  for (let position = first; position < last; position += 1) {
    const row = rows.get(position);
    const name = row?.key ?? position;
    const face = row ? JSON.stringify([row, row.key === key]) : "skeleton";
    let element = shown.get(name);
    if (element?.face !== face) { // an unchanged row is not replaced, because the user may be pressing it
      const fresh = row ? rowElement(row, row.key === key, run) : skeleton();
      fresh.face = face;
      if (element) {
        const focused = document.activeElement === element;
        element.replaceWith(fresh);
        if (focused) fresh.focus({ preventScroll: true });
      }
      element = fresh;
      shown.set(name, element);
    }
    if (row) {
      element.setAttribute("aria-posinset", position + 1);
      element.setAttribute("aria-setsize", total);
    } else missing.add(pageOf(position));
    element.style.top = `${position * tall}px`;
    order.push([name, element]);
  }
  const kept = new Set(order.map(([name]) => name));
  for (const [name, element] of shown) {
    if (!kept.has(name)) {
      element.remove();
      shown.delete(name);
    }
  }
  let next = items.firstChild;
  for (const [, element] of order) {
    if (element === next) next = next.nextSibling;
    else items.insertBefore(element, next);
  }
  items.style.height = `${(total ?? 0) * tall}px`;
  newer.hidden = above === 0;
  newer.textContent = above === 1 ? "↑ 1 new message" : `↑ ${above} new messages`;
  for (const start of missing) fetchPage(start).catch(() => {});
}

// ------------------------------------------------------------------ choosing
function choose(position, focus = false) {
  if (!total) return;
  moves += 1;
  at = Math.max(0, Math.min(total - 1, position));
  key = rows.get(at)?.key ?? null;
  wanted = key === null;
  const tall = height();
  if (at * tall < list.scrollTop) list.scrollTop = at * tall;
  if ((at + 1) * tall > list.scrollTop + list.clientHeight) list.scrollTop = (at + 1) * tall - list.clientHeight;
  draw();
  if (focus) (shown.get(key) ?? list).focus({ preventScroll: true });
  tell("selected");
}

// A step from a removed message leads to the one at its position.
export const move = (by) => choose(key === null && !wanted ? at + Math.min(by, 0) : at + by, true);
export const open = (which = key) => {
  const position = find(which);
  if (position === undefined) return;
  if (which !== key) choose(position);
  tell("open");
};

const run = { open, file: (row, folder) => file(row, folder), other: (row) => tell("other", row) };

// ------------------------------------------------------------------ filing
// Remove a row at once; those below move up, and the next one is selected.
function take(position) {
  const later = [...rows].filter(([i]) => i > position);
  for (const i of [...rows.keys()]) if (i >= position) rows.delete(i);
  for (const [i, row] of later) rows.set(i - 1, row);
  total -= 1;
  if (position < at) at -= 1;
  else if (position === at) {
    at = Math.max(0, Math.min(at, total - 1));
    key = rows.get(at)?.key ?? null;
    wanted = key === null && total > 0;
  }
  draw();
}

function putBack(position, row) {
  const later = [...rows].filter(([i]) => i >= position);
  for (const [i] of later) rows.delete(i);
  for (const [i, one] of later) rows.set(i + 1, one);
  rows.set(position, row);
  total += 1;
  if (key === null && wanted) [key, at, wanted] = [row.key, position, false];
  else if (position <= at) at += 1;
  draw();
  tell("selected");
}

// One change after another; the list is refreshed after the last one.
function change(doing) {
  pending += 1;
  work = work.then(doing).then(async () => {
    pending -= 1;
    if (!pending) await reload().catch(() => {});
  });
  return work;
}

export function file(row, folder, anew = false) {
  if (!up) return warn(`Not filed: “${row.subject}” is still in the inbox. ${GONE}`);
  if (leaving.has(row.key)) return undefined;
  leaving.add(row.key);
  const position = find(row.key);
  const focused = document.activeElement === document.body || list.contains(document.activeElement);
  if (position !== undefined) take(position);
  if (focused) (shown.get(key) ?? list).focus({ preventScroll: true });
  tell("taken", row.key);
  tell("selected");
  return change(async () => {
    try {
      const name = anew ? (await ask("/api/make", { folder })).folder : folder;
      const told = await ask("/api/file", { key: row.key, folder: name });
      const which = told.rank === 1 ? "the first suggestion" : told.rank > 1 && told.rank <= 3 ? `suggestion ${told.rank}` : "learnt";
      warn("");
      say(`Filed to ${folder}: ${which}.`);
    } catch (problem) {
      if (position !== undefined) putBack(Math.min(position, total), row);
      warn(up ? `Not filed: “${row.subject}”. ${problem.message}` : `Not filed: “${row.subject}” is still in the inbox. ${GONE}`);
    }
    leaving.delete(row.key);
  });
}

export function undo() {
  if (!up) return warn(`Not undone. ${GONE}`);
  const then = moves;
  return change(async () => {
    try {
      const told = await ask("/api/undo", {});
      warn("");
      say(`Taken back from ${told.folder}.`);
      if (then === moves) [key, at, wanted] = [told.key, told.at, false];
    } catch (problem) {
      warn(up ? problem.message : `Not undone. ${GONE}`);
    }
  }).then(() => { if (then === moves && find(key) === at) choose(at, true); });
}

list.addEventListener("scroll", () => requestAnimationFrame(() => {
  if (list.scrollTop < height() / 2) above = 0;
  draw();
}), { passive: true });
newer.addEventListener("click", () => { list.scrollTop = 0; });
addEventListener("resize", draw);
draw();
