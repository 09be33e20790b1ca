// One message of the inbox. Its buttons act on that message.
import { chip, foreign, make, nameOf, otherChip, percent, plain, when } from "./dom.js";

export function rowElement(row, mine, run) {
  return make(
    "li",
    {
      class: "row",
      tabindex: mine ? "0" : "-1",
      "data-key": row.key,
      "aria-current": mine ? "true" : null,
      on: { click: (event) => { if (!event.target.closest("button")) run.open(row.key); } },
    },
    make("div", { class: "line" }, foreign("span", { class: "who" }, nameOf(row.from)), row.files ? make("span", { class: "clip" }, row.files === 1 ? "1 file" : `${row.files} files`) : null, make("time", {}, when(row.date))),
    make("div", { class: "what", dir: "auto" }, make("span", { class: "subject" }, plain(row.subject)), " ", foreign("bdi", {}, row.snippet)), // the subject's direction
    make("div", { class: "chips" }, ...chips(row, mine, run)),
  );
}

function chips(row, mine, run) {
  const tabindex = mine ? "0" : "-1";
  const found = row.folders.map((folder, i) => {
    const sure = i === 0 && row.confidence !== null ? ` (${row.pinned ? "pinned" : percent(row.confidence)})` : "";
    return chip(folder.name, i + 1, { tabindex, "aria-label": `File to ${folder.name}${sure}`, on: { click: () => run.file(row, folder.name) } });
  });
  const silent = found.length ? null : make("span", { class: "silent" }, row.silent);
  return [...found, silent, otherChip({ tabindex, on: { click: () => run.other(row) } })];
}

// A row whose message is still loading.
export const skeleton = () => make("li", { class: "skeleton", "aria-hidden": "true" }, make("i"), make("i"), make("i"));
