// Views, keys, and events from the server.
import { $, percent, say, warn } from "./dom.js";
import * as folders from "./folders.js";
import * as inbox from "./inbox.js";
import { link, listen, up } from "./link.js";
import * as search from "./search.js";
import * as settings from "./settings.js";
import "./why.js";

const views = { inbox: () => inbox.reload(), folders: folders.show, settings: settings.show };
const narrow = matchMedia("(max-width: 900px)");
let view = location.hash.slice(1) in views ? location.hash.slice(1) : "inbox";

const refresh = () => Promise.resolve(views[view]()).catch((problem) => { if (up) warn(problem.message); });

// ------------------------------------------------------------------ history: the browser's Back button
function turn(to, reading) {
  const other = to !== view;
  view = to;
  for (const name of Object.keys(views)) $(`#view-${name}`).hidden = name !== to;
  for (const button of document.querySelectorAll("[data-view]")) {
    if (button.dataset.view === to) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  $("#view-inbox").classList.toggle("reading", reading);
  if (other) refresh();
}

function visit(to, reading = false) {
  if (to === view && reading === Boolean(history.state?.reading)) return;
  history.pushState({ view: to, reading }, "", to === "inbox" ? "/" : `/#${to}`);
  turn(to, reading);
}

function leave() {
  if (history.state?.reading) history.back();
}

addEventListener("popstate", ({ state }) => turn(state?.view ?? "inbox", Boolean(state?.reading)));
history.replaceState({ view, reading: false }, "");
turn(view, false);

inbox.events.addEventListener("open", () => {
  if (!narrow.matches) return;
  visit("inbox", true);
  $("#why").focus();
});
inbox.events.addEventListener("taken", leave);
$("#back").addEventListener("click", leave);

inbox.events.addEventListener("state", ({ detail }) => {
  $("#left").textContent = detail.total ? String(detail.total) : "";
  document.title = detail.total ? `(${detail.total}) hinged mail` : "hinged mail";
  $("#undo").hidden = detail.undo === null;
  $("#note").hidden = !detail.off && !detail.needed && !detail.loading;
  if (detail.loading) setTimeout(() => inbox.reload().catch(() => {}), 500);
  $("#note").textContent = detail.loading
    ? `Your mail is read for the first time since the start: ${detail.loading.what}${detail.loading.total ? ` (${percent(detail.loading.done / detail.loading.total)})` : ""}.`
    : detail.off
    ? "The assistant is switched off; nothing is suggested or learnt."
    : `Suggestions begin after ${detail.needed} more filed messages. Until then, file with “Other folder…”.`;
});

for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => visit(button.dataset.view));
$("#undo").addEventListener("click", inbox.undo);
$("#alarm-close").addEventListener("click", () => warn(""));
$("#keys-button").addEventListener("click", () => $("#keys").showModal());
for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

// ------------------------------------------------------------------ keys
const moving = { j: 1, k: -1, ArrowDown: 1, ArrowUp: -1 };

function meaning(event) {
  const { key, target, repeat } = event;
  const row = inbox.selected();
  if (view === "inbox" && key in moving) {
    return key.startsWith("Arrow") && target.closest(".why") ? null : () => inbox.move(moving[key]);
  }
  if (repeat) return null; // a key held down moves; it does not file, undo or open
  if (key === "?") return () => $("#keys").showModal();
  if (key === "g") return () => visit(view === "folders" ? "inbox" : "folders");
  if (key === "u") return inbox.undo;
  if (key === "Escape") return () => (view === "inbox" ? leave() : visit("inbox"));
  if (view !== "inbox") return null;
  if (key === "/") return () => search.open();
  if (key === "Enter" && !target.closest("button")) return () => inbox.open();
  const folder = "123".includes(key) ? row?.folders[Number(key) - 1] : null;
  return folder ? () => inbox.file(row, folder.name) : null;
}

document.addEventListener("keydown", (event) => {
  // A field in a dialog that was just closed keeps the focus until the next frame, but gets no input.
  const typing = event.target.closest("input, select, textarea")?.checkVisibility();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const run = meaning(event);
  if (run) {
    event.preventDefault();
    run();
  }
});

// ------------------------------------------------------------------ events from the server
link.addEventListener("news", refresh);
link.addEventListener("back", () => {
  say("The server is back. What is listed here is not filed yet.");
  refresh();
});
refresh();
listen();
