// The user's settings: on or off, minimum confidence, pins, excluded folders.
import { $, foreign, make, percent, warn } from "./dom.js";
import { ask, up } from "./link.js";

async function change(what, value) {
  try {
    draw(await ask("/api/settings", { what, value }));
    warn("");
    return true;
  } catch (problem) {
    warn(up ? problem.message : `Not changed: ${problem.message}.`);
    await show();
    return false;
  }
}

function tag(text, label, run) {
  return make("li", {}, foreign("bdi", {}, text), make("button", { type: "button", "aria-label": label, on: { click: run } }, "×"));
}

function draw(told) {
  $("#on").checked = told.on;
  if (!$("#confidence").matches(":active")) { // not while the user is moving it
    $("#confidence").value = told.confidence;
    $("#confidence-shown").textContent = percent(told.confidence);
  }
  $("#pins").replaceChildren(...told.pins.map((pin) => tag(`${pin.who} → ${pin.folder}`, `Take away the pin of ${pin.who}`, () => change("unpin", pin.who))));
  $("#excluded").replaceChildren(...told.excluded.map((name) => tag(name, `Take ${name} in again`, () => change("include", name))));
}

// Fill a list of folders and keep the choice: events may arrive while the user fills in the form.
function fill(select, names) {
  if (JSON.stringify([...select.options].map((option) => option.value)) === JSON.stringify(names)) return;
  const chosen = select.value;
  select.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
  if (names.includes(chosen)) select.value = chosen;
}

export async function show() {
  try {
    const [told, all] = await Promise.all([ask("/api/settings"), ask("/api/folders")]);
    draw(told);
    for (const select of [$("#pin-folder"), $("#exclude-folder")]) fill(select, all.folders.map((folder) => folder.name));
  } catch (problem) {
    if (up) warn(problem.message);
  }
}

$("#on").addEventListener("change", (event) => change("on", event.target.checked));
$("#confidence").addEventListener("input", (event) => { $("#confidence-shown").textContent = percent(event.target.value); });
$("#confidence").addEventListener("change", (event) => change("confidence", Number(event.target.value)));
$("#pin-form").addEventListener("submit", async (event) => {
  event.preventDefault();
  if (await change("pin", [$("#pin-who").value.trim(), $("#pin-folder").value])) $("#pin-who").value = "";
});
$("#exclude-form").addEventListener("submit", (event) => {
  event.preventDefault();
  change("exclude", $("#exclude-folder").value);
});
