// The panel beside the inbox: the message as plain text, and what speaks for and against each folder.
import { $, ask, make, percent, say, when } from "./dom.js";
import { events, file, selected } from "./inbox.js";

const panel = $("#why");
let asked = 0;

export async function show() {
  const row = selected();
  const turn = (asked += 1);
  if (!row) {
    panel.replaceChildren();
    return;
  }
  try {
    const told = await ask(`/api/message?key=${encodeURIComponent(row.key)}`);
    if (turn === asked && told.gone) say(told.gone);
    else if (turn === asked) draw(told);
  } catch (problem) {
    if (turn === asked) say(problem.message);
  }
}

function draw(told) {
  const most = Math.max(1e-9, ...told.folders.flatMap((folder) => [...folder.for, ...folder.against].map(([, share]) => Math.abs(share))));
  panel.replaceChildren(
    make("button", { type: "button", class: "back", on: { click: close } }, "← Inbox"),
    make("h2", {}, told.subject),
    make("div", { class: "meta" }, make("span", {}, told.from), told.to ? make("span", {}, `to ${told.to}`) : null, told.cc ? make("span", {}, `cc ${told.cc}`) : null, told.list ? make("span", {}, `list ${told.list}`) : null, make("span", {}, when(told.date, true))),
    make("div", { class: "body", tabindex: "0", role: "document", "aria-label": "Text of the message" }, told.body.trim() || "(no text)"),
    told.files.length ? make("ul", { class: "files", "aria-label": "Attachments" }, ...told.files.map((one) => make("li", {}, `${one.name || "a file"} · ${one.kind}`))) : "",
    make("h3", {}, told.folders.length ? "Why these folders" : told.silent),
    ...told.folders.map((folder, i) => reason(told, folder, i, most)),
  );
  panel.scrollTop = 0;
}

function reason(told, folder, i, most) {
  const sure = i === 0 && told.confidence !== null ? (told.pinned ? "pinned" : `${percent(told.confidence)} sure`) : "";
  const bar = (share) => {
    const inner = make("i");
    inner.style.width = `${Math.max(4, (100 * Math.abs(share)) / most)}%`;
    return make("span", { class: "meter", "aria-hidden": "true" }, inner);
  };
  return make(
    "section",
    { class: i === 0 ? "reason best" : "reason", "aria-label": folder.name },
    make("div", { class: "line" }, make("kbd", { "aria-hidden": "true" }, String(i + 1)), make("span", { class: "name" }, folder.name), make("span", { class: "sure" }, sure), make("button", { type: "button", class: "button", "aria-label": `File to ${folder.name}`, on: { click: () => file(told.key, folder.name) } }, "File")),
    make(
      "ul",
      {},
      ...folder.for.map(([words, share]) => make("li", {}, words, bar(share))),
      ...folder.against.map(([words, share]) => make("li", { class: "against" }, `against: ${words}`, bar(share))),
    ),
  );
}

export function close() {
  $("#view-inbox").classList.remove("reading");
}

events.addEventListener("selected", show);
events.addEventListener("filed", close);
events.addEventListener("open", () => {
  $("#view-inbox").classList.add("reading");
  if (matchMedia("(max-width: 900px)").matches) panel.focus();
});
