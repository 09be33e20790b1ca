// Small helpers. Text is only ever set as text: what a message holds is never read as HTML.
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

// The latest of the server's versions that this page made itself.
export const mine = { version: 0 };

export async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "X-Hinged": "1", "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  try {
    answer = await fetch(path, options);
  } catch {
    throw new Error("The server does not answer. Is it still running?");
  }
  mine.version = Math.max(mine.version, Number(answer.headers.get("X-Version") ?? 0));
  if (answer.ok) return answer.json();
  const told = await answer.text();
  let why = told;
  try {
    why = JSON.parse(told).error ?? told;
  } catch { /* a plain sentence */ }
  throw new Error(why);
}
