// The panel beside the inbox: the message as plain text, and the reasons for and against each folder.
import { $, chip, foreign, folderName, make, otherChip, percent, warn, when } from "./dom.js";
import { events, file, selected } from "./inbox.js";
import { ask, up } from "./link.js";

const panel = $("#why");
const text = $("#why-text");
const bar = $("#why-bar");
let drawn = null; // the response that the panel shows
let asked = 0;
let answered = 0;
let gone = false; // true if another program moved the message in the panel

// One request at a time, always for the message selected last, so that a held key does not flood the server.
export async function show() {
  asked += 1;
  const row = selected();
  if (row) gone = false;
  panel.classList.toggle("stale", row !== null && drawn !== null && drawn.key !== row.key);
  panel.inert = panel.classList.contains("stale");
  if (!row && !gone) clear();
  if (asked > answered + 1) return;
  while (answered !== asked) {
    const turn = asked;
    const wanted = selected();
    if (!wanted) {
      answered = turn;
      continue;
    }
    let told = null;
    try {
      told = await ask(`/api/message?key=${encodeURIComponent(wanted.key)}`);
    } catch (problem) {
      if (up) warn(problem.message);
    }
    if (told && selected()?.key === wanted.key) {
      if (!told.gone) draw(told, wanted);
      else if (drawn?.key !== wanted.key) clear(told.gone); // not an error: the list will soon be updated
    }
    answered = asked === turn ? turn : asked - 1;
  }
}

function clear(words = "Select a message to read it here.") {
  drawn = null;
  text.replaceChildren(make("p", { class: "soft" }, words));
  bar.replaceChildren();
  panel.classList.remove("stale");
  panel.inert = false;
}

function draw(told, row) {
  const same = drawn?.key === told.key;
  if (!same || JSON.stringify(told) !== JSON.stringify(drawn)) {
    const most = Math.max(1e-9, ...told.folders.flatMap((folder) => [...folder.for, ...folder.against].map(([, share]) => Math.abs(share))));
    const meta = [told.from, told.to && `to ${told.to}`, told.cc && `cc ${told.cc}`, told.list && `list ${told.list}`].filter(Boolean);
    const files = told.files.map((one) => make("li", {}, foreign("bdi", {}, one.name || "a file"), ` · ${one.kind}`));
    const [scrolled, inner] = [panel.scrollTop, text.querySelector(".body")?.scrollTop];
    text.replaceChildren(
      foreign("h2", {}, told.subject),
      make("div", { class: "meta" }, ...meta.map((line) => foreign("span", {}, line)), make("span", {}, when(told.date, true))),
      make("div", { class: "body", tabindex: "0", role: "document", "aria-label": "Text of the message", dir: "auto" }, told.body.trim() || "(no text)"),
      files.length ? make("ul", { class: "files", "aria-label": "Attachments" }, ...files) : "",
      make("h3", {}, told.folders.length ? "Why these folders" : told.silent),
      ...told.folders.map((folder, i) => reason(told, row, folder, i, most)),
    );
    bar.replaceChildren(
      ...told.folders.map((folder, i) => chip(folder.name, i + 1, { on: { click: () => file(row, folder.name) } })),
      otherChip({ on: { click: () => events.dispatchEvent(new CustomEvent("other", { detail: row })) } }),
    );
    panel.scrollTop = same ? scrolled : 0;
    if (same) text.querySelector(".body").scrollTop = inner;
  }
  drawn = told;
  panel.classList.remove("stale");
  panel.inert = false;
}

function reason(told, row, folder, i, most) {
  const sure = i === 0 && told.confidence !== null ? (told.pinned ? "pinned" : `${percent(told.confidence)} sure`) : "";
  const bar = (share) => {
    const inner = make("i");
    inner.style.width = `${Math.max(4, (100 * Math.abs(share)) / most)}%`;
    return make("span", { class: "meter", "aria-hidden": "true" }, inner);
  };
  return make(
    "section",
    { class: i === 0 ? "reason best" : "reason", "aria-label": folder.name },
    make("div", { class: "line" }, make("kbd", { "aria-hidden": "true" }, String(i + 1)), make("span", { class: "name" }, ...folderName(folder.name)), make("span", { class: "sure" }, sure), make("button", { type: "button", class: "button", "aria-label": `File to ${folder.name}`, on: { click: () => file(row, folder.name) } }, "File")),
    make(
      "ul",
      {},
      ...folder.for.map(([words, share]) => make("li", {}, foreign("bdi", {}, words), bar(share))),
      ...folder.against.map(([words, share]) => make("li", { class: "against" }, make("span", {}, "against: ", foreign("bdi", {}, words)), bar(share))),
    ),
  );
}

events.addEventListener("selected", show);
events.addEventListener("vanished", ({ detail: key }) => {
  if (drawn?.key !== key) return;
  gone = true; // the user may be reading it; it can no longer be filed
  text.prepend(make("p", { class: "note", role: "status" }, "Another program moved this message; it is no longer in the inbox."));
  for (const button of panel.querySelectorAll(".button, .chip")) button.disabled = true;
});
