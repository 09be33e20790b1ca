// Small helpers. Text is only ever set as text: the content of a message is never parsed as HTML.
export const $ = (selector) => document.querySelector(selector);

export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, run] of Object.entries(value)) element.addEventListener(event, run);
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== false));
  return element;
}

// Untrusted text in one line, without control characters that would reverse it or what follows.
export const plain = (text) => text.replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
export const foreign = (tag, attributes, text) => make(tag, { dir: "auto", ...attributes }, plain(text)); // with its own text direction

// The last part of a folder's name is the most specific, so it comes first and is truncated last.
export function folderName(name) {
  const cut = name.lastIndexOf("/");
  return [foreign("span", { class: "leaf" }, name.slice(cut + 1)), cut < 0 ? null : foreign("span", { class: "path" }, name.slice(0, cut))];
}

export function chip(folder, number, attributes) {
  return make(
    "button",
    { type: "button", class: number === 1 ? "chip best" : "chip", "data-folder": folder, title: folder, "aria-label": `File to ${folder}`, ...attributes },
    make("b", { "aria-hidden": "true" }, String(number)),
    ...folderName(folder),
  );
}

export const otherChip = (attributes) => make("button", { type: "button", class: "chip other", "aria-haspopup": "dialog", ...attributes }, "Other folder…");

export const percent = (share) => `${Math.round(100 * share)} %`;

export function when(seconds, long = false) {
  if (seconds === null) return "";
  const date = new Date(1000 * seconds);
  if (long) return date.toLocaleString([], { dateStyle: "full", timeStyle: "short" });
  const sameDay = date.toDateString() === new Date().toDateString();
  const sameYear = date.getFullYear() === new Date().getFullYear();
  if (sameDay) return date.toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
  return date.toLocaleDateString([], sameYear ? { day: "numeric", month: "short" } : { year: "numeric", month: "short", day: "numeric" });
}

export const nameOf = (sender) => sender.replace(/\s*<[^<>]*>\s*$/, "").replace(/^"|"$/g, "") || sender;

export function say(text) {
  $("#said").textContent = text;
}

// An error stays visible until it is closed or another action succeeds.
export function warn(text) {
  $("#alarm-text").textContent = text;
  $("#alarm").hidden = !text;
  if (text) say("");
}
