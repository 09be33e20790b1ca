// The user's wishes: on or off, how sure it must be, pins, folders left out.
import { $, ask, make, percent, say } from "./dom.js";

async function change(what, value) {
  try {
    draw(await ask("/api/settings", { what, value }));
  } catch (problem) {
    say(problem.message);
    await show();
  }
}

function tag(text, label, run) {
  return make("li", {}, text, make("button", { type: "button", "aria-label": label, on: { click: run } }, "×"));
}

function draw(told) {
  $("#on").checked = told.on;
  if (!$("#confidence").matches(":active")) { // nobody is just moving it
    $("#confidence").value = told.confidence;
    $("#confidence-shown").textContent = percent(told.confidence);
  }
  $("#pins").replaceChildren(...told.pins.map((pin) => tag(`${pin.who} → ${pin.folder}`, `Take away the pin of ${pin.who}`, () => change("unpin", pin.who))));
  $("#excluded").replaceChildren(...told.excluded.map((name) => tag(name, `Take ${name} in again`, () => change("include", name))));
}

export async function show() {
  try {
    const [told, all] = await Promise.all([ask("/api/settings"), ask("/api/folders")]);
    draw(told);
    for (const select of [$("#pin-folder"), $("#exclude-folder")]) {
      const chosen = select.value; // live news must not undo a choice
      select.replaceChildren(...all.folders.map((folder) => make("option", { value: folder.name }, folder.name)));
      if (all.folders.some((folder) => folder.name === chosen)) select.value = chosen;
    }
  } catch (problem) {
    say(problem.message);
  }
}

$("#on").addEventListener("change", (event) => change("on", event.target.checked));
$("#confidence").addEventListener("input", (event) => { $("#confidence-shown").textContent = percent(event.target.value); });
$("#confidence").addEventListener("change", (event) => change("confidence", Number(event.target.value)));
$("#pin-form").addEventListener("submit", (event) => {
  event.preventDefault();
  change("pin", [$("#pin-who").value.trim(), $("#pin-folder").value]).then(() => { $("#pin-who").value = ""; });
});
$("#exclude-form").addEventListener("submit", (event) => {
  event.preventDefault();
  change("exclude", $("#exclude-folder").value);
});
