// Folders at a glance, and the curve of hits.
import { $, foreign, make, percent, warn } from "./dom.js";
import { ask, up } from "./link.js";

const SVG = "http://www.w3.org/2000/svg";
const [HEIGHT, LEFT, BOTTOM] = [230, 46, 26];

function drawn(tag, attributes, text = "") {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}

export async function curve() {
  const told = await ask("/api/curve");
  const n = told.points.length ? told.points[told.points.length - 1][0] : 0;
  const words = [];
  const counted = (counts) => `the right folder was first for ${counts.first.toLocaleString()} and among three for ${counts.top3.toLocaleString()}; for ${counts.silent.toLocaleString()} nothing was suggested.`;
  if (told.filed) words.push(`Of ${told.filed.toLocaleString()} filed here, ${counted(told)}`);
  if (told.replayed) words.push(`Replayed, of ${told.replayed.toLocaleString()} messages filed before, ${counted(told.replay)}`);
  if (words.length) words.push("The curve shows the last hundred messages at each moment.");
  $("#curve-words").textContent = words.join(" ") || "File a few messages and a curve appears here.";
  $("#curve-legend").hidden = n < 2;
  $("#curve-legend .before").hidden = !told.replayed;
  if (n < 2) {
    $("#curve").replaceChildren();
    return;
  }
  const WIDTH = Math.max(280, $("#curve").clientWidth); // the width on screen, so that text keeps its size
  const x = (at) => LEFT + ((WIDTH - LEFT - 8) * at) / n;
  const y = (share) => 8 + (HEIGHT - BOTTOM - 8) * (1 - share);
  const last = told.points[told.points.length - 1];
  const svg = drawn("svg", { class: "curve", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `Over the last hundred messages the right folder was first for ${percent(last[1])} and among the first three for ${percent(last[2])}` });
  if (told.replayed) svg.append(drawn("rect", { class: "before", x: LEFT, y: 8, width: Math.max(0, x(told.replayed) - LEFT), height: HEIGHT - BOTTOM - 8 }));
  const here = (WIDTH - 8 - x(told.replayed)) > 90; // enough room for the label
  if (told.replayed && told.replayed < n) svg.append(drawn("line", { class: "start", x1: x(told.replayed), x2: x(told.replayed), y1: 8, y2: HEIGHT - BOTTOM }));
  if (told.replayed && here) svg.append(drawn("text", { x: x(told.replayed) + 8, y: HEIGHT - BOTTOM - 8 }, "filed here"));
  if (told.replayed) svg.append(drawn("text", { x: LEFT + 8, y: HEIGHT - BOTTOM - 8 }, "replayed"));
  for (const share of [0, 0.25, 0.5, 0.75, 1]) {
    svg.append(drawn("line", { class: "grid", x1: LEFT, x2: WIDTH - 8, y1: y(share), y2: y(share) }), drawn("text", { x: LEFT - 8, y: y(share) + 4, "text-anchor": "end" }, `${100 * share} %`));
  }
  svg.append(drawn("text", { x: LEFT, y: HEIGHT - 6 }, "0"), drawn("text", { x: WIDTH - 8, y: HEIGHT - 6, "text-anchor": "end" }, `${n.toLocaleString()} messages`));
  for (const [name, at] of [["top3", 2], ["first", 1]]) {
    svg.append(drawn("path", { class: name, d: told.points.map((point, i) => `${i ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(point[at]).toFixed(1)}`).join("") }));
  }
  $("#curve").replaceChildren(svg);
}

const notes = ({ recent, replayed, silent }) => [replayed === recent ? " · replayed" : replayed ? ` · ${replayed} replayed` : "", silent ? ` · ${silent} without a suggestion` : ""].join("");

export async function folders() {
  const told = await ask("/api/folders");
  const head = make("thead", {}, make("tr", {}, make("th", { scope: "col" }, "Folder"), make("th", { scope: "col", class: "n" }, "Learnt"), make("th", { scope: "col" }, "First of the last 20"), make("th", { scope: "col" }, "Mistaken for")));
  const rows = told.folders.map((folder) => {
    const inner = make("i");
    if (folder.recent) inner.style.width = percent(folder.hits / folder.recent).replace(" ", "");
    const mistaken = Object.entries(folder.mistaken ?? {}).sort((a, b) => b[1] - a[1]).slice(0, 2).map(([name, times]) => `${name} (${times})`).join(", ");
    return make(
      "tr",
      {},
      make("td", {}, foreign("bdi", {}, folder.name), folder.excluded ? " · left out" : null),
      make("td", { class: "n" }, folder.learnt.toLocaleString()),
      make("td", {}, ...(folder.recent ? [make("span", { class: "meter", "aria-hidden": "true" }, inner), `${folder.hits} of ${folder.recent}`, make("span", { class: "soft" }, notes(folder))] : [make("span", { class: "soft" }, "none filed here yet")])),
      foreign("td", {}, mistaken || "–"),
    );
  });
  $("#folders").replaceChildren(head, make("tbody", {}, ...rows));
}

export const show = () => Promise.all([curve(), folders()]).catch((problem) => { if (up) warn(problem.message); });
