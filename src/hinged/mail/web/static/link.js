// The connection to the server: requests, events, and what to do while it is down.
import { warn } from "./dom.js";

const PAUSE = 1000; // milliseconds between two attempts
export const GONE = "The server does not answer. Nothing is filed until it is back; this page keeps trying.";
export const link = new EventTarget(); // "news" when something changed, "back" when the server answers again
export let up = true;
let news = null;
let version = 0; // the latest version on the server that this page itself caused

export async function ask(path, body) {
  const options = body === undefined ? {} : { method: "POST", headers: { "X-Hinged": "1", "Content-Type": "application/json" }, body: JSON.stringify(body) };
  let answer;
  let told;
  try {
    answer = await fetch(path, options);
    told = await answer.text();
  } catch {
    lost();
    throw new Error("the server does not answer");
  }
  version = Math.max(version, Number(answer.headers.get("X-Version") ?? 0));
  if (answer.ok) return JSON.parse(told);
  if (answer.status === 403) lost();
  let why = told;
  try {
    why = JSON.parse(told).error ?? told;
  } catch { /* a plain sentence */ }
  throw new Error(why.trim());
}

function lost() {
  if (!up) return;
  up = false;
  news?.close();
  warn(GONE);
  setTimeout(knock, PAUSE);
}

async function knock() {
  try {
    const answer = await fetch("/", { method: "HEAD" });
    if (answer.ok) {
      listen();
      return;
    }
    // Tabs share the cookie, so another tab may sign in for this one: keep trying.
    warn("The server no longer knows this browser. Open the address that it printed when it started; nothing is filed until then.");
  } catch { /* not yet */ }
  setTimeout(knock, PAUSE);
}

export function listen() {
  news = new EventSource("/api/events");
  news.addEventListener("open", () => {
    if (up) return;
    up = true;
    version = 0; // a restarted server counts from the beginning
    warn("");
    link.dispatchEvent(new Event("back"));
  });
  news.addEventListener("message", (told) => { if (Number(told.data) > version) link.dispatchEvent(new Event("news")); });
  news.addEventListener("error", () => {
    if (up) lost();
    else {
      news.close();
      setTimeout(knock, PAUSE);
    }
  });
}
