// Views, keys, and news from the server.
import { $, mine, say } from "./dom.js";
import * as folders from "./folders.js";
import * as inbox from "./inbox.js";
import * as search from "./search.js";
import * as settings from "./settings.js";
import * as why from "./why.js";

const views = { inbox: () => inbox.reload(), folders: folders.show, settings: settings.show };
let view = "inbox";

function turn(to) {
  view = to;
  for (const name of Object.keys(views)) $(`#view-${name}`).hidden = name !== to;
  for (const button of document.querySelectorAll("[data-view]")) {
    if (button.dataset.view === to) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  Promise.resolve(views[to]()).catch((problem) => say(problem.message));
}

inbox.events.addEventListener("state", ({ detail }) => {
  $("#left").textContent = detail.total ? String(detail.total) : "";
  document.title = detail.total ? `(${detail.total}) hinged mail` : "hinged mail";
  $("#undo").hidden = detail.undo === null;
  $("#note").hidden = !detail.off && !detail.needed;
  $("#note").textContent = detail.off
    ? "The assistant is switched off; nothing is suggested or learnt."
    : `Suggestions begin after ${detail.needed} more filed messages. Press / to file one to any folder.`;
});

for (const button of document.querySelectorAll("[data-view]")) button.addEventListener("click", () => turn(button.dataset.view));
$("#undo").addEventListener("click", inbox.undo);
$("#keys-button").addEventListener("click", () => $("#keys").showModal());
for (const dialog of document.querySelectorAll("dialog")) {
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
}

const keys = {
  j: () => inbox.move(1),
  k: () => inbox.move(-1),
  ArrowDown: () => inbox.move(1),
  ArrowUp: () => inbox.move(-1),
  Enter: () => inbox.open(),
  "/": () => search.open(),
};

document.addEventListener("keydown", (event) => {
  // A field in a dialog just closed keeps the focus until the next frame; nobody types in it.
  const typing = event.target.closest("input, select, textarea")?.checkVisibility();
  if (typing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  const row = inbox.selected();
  let run = null;
  if (event.key === "?") run = () => $("#keys").showModal();
  else if (event.key === "g") run = () => turn(view === "folders" ? "inbox" : "folders");
  else if (event.key === "u") run = inbox.undo;
  else if (event.key === "Escape") run = () => (view === "inbox" ? why.close() : turn("inbox"));
  else if (view === "inbox" && "123".includes(event.key) && row?.folders[Number(event.key) - 1]) {
    run = () => inbox.file(row.key, row.folders[Number(event.key) - 1].name);
  } else if (view === "inbox" && keys[event.key]) {
    if (event.key === "Enter" && event.target.closest("button")) return;
    if (event.key.startsWith("Arrow") && event.target.closest(".why")) return;
    run = keys[event.key];
  }
  if (run) {
    event.preventDefault();
    run();
  }
});

const news = new EventSource("/api/events");
news.addEventListener("message", (told) => { if (Number(told.data) > mine.version) turn(view); });
news.addEventListener("error", () => say("The server does not answer. Is it still running?"));
news.addEventListener("open", () => { if ($("#said").textContent.startsWith("The server does not")) { say(""); turn(view); } });

turn("inbox");
