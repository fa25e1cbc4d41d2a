/* A server that cannot be reached or is slow is said on every page, and what failed is said where it was asked for.
   While the page is seen, the server is asked every second whether it is there. */
import { ready } from "./pages.js";
import { text } from "../shared/texts.js";

const EVERY_MS = 1000;
const PATIENCE_MS = 1200;
const SAID_BACK_MS = 4000;
const LIVE = "/health/live";
const CALLBACK = "/_dash-update-component";
const FAILED = "Callback-Error";
const plainFetch = window.fetch.bind(window);
let state = "ok";
let asking = false;
let hasMissed = false;
let leaving = 0;

const part = (name) => document.getElementById(`connection${name ? `-${name}` : ""}`);
const show = (now) => {
  if (now === state || !part()) {
    return;
  }
  const before = state;
  state = now;
  window.clearTimeout(leaving);
  const isBack = now === "ok";
  part().dataset.state = now;
  part("text").textContent = text(
    isBack ? (hasMissed ? "connection.back_missed" : "connection.back") : `connection.${now}`,
  );
  part("retry").hidden = isBack;
  part("reload").hidden = !(isBack && hasMissed);
  part().hidden = false;
  if (isBack && !hasMissed) {
    /* A moment of slowness needs no words afterwards. */
    leaving = window.setTimeout(
      () => {
        part().hidden = true;
      },
      before === "slow" ? 0 : SAID_BACK_MS,
    );
  }
};

const look = async () => {
  if (asking || document.hidden) {
    return;
  }
  asking = true;
  const aborting = new AbortController();
  const slow = window.setTimeout(() => show("slow"), PATIENCE_MS);
  const given_up = window.setTimeout(() => aborting.abort(), 10 * PATIENCE_MS);
  try {
    const answer = await plainFetch(LIVE, { signal: aborting.signal, cache: "no-store" });
    /* A proxy answers for a server that is gone. */
    show(answer.status >= 502 && answer.status <= 504 ? "lost" : "ok");
  } catch {
    show("lost");
  }
  window.clearTimeout(slow);
  window.clearTimeout(given_up);
  asking = false;
};
window.setInterval(look, EVERY_MS);
document.addEventListener("visibilitychange", look);
window.addEventListener("offline", () => show("lost"));
window.addEventListener("online", look);
document.addEventListener("click", (event) => {
  if (event.target.closest?.("#connection-retry")) {
    look();
  }
});

/* ---- what failed, where it failed ------------------------------------------------------------------------------------ */
let bubble = null;
const close = () => {
  bubble?.remove();
  bubble = null;
};
/* What was last pressed or chosen: much of what fails was caused by a store or a list, which have no place. */
const RECENT_MS = 2000;
const CONTROLS = "button, a, input, select, textarea, summary, [role=option], [role=tab]";
let pressed = null;
let pressedAt = 0;
for (const name of ["click", "change"]) {
  document.addEventListener(
    name,
    (event) => {
      const control = event.target.closest?.(CONTROLS);
      if (control && !control.closest(".failed-here, .notice")) {
        pressed = control;
        pressedAt = performance.now();
      }
    },
    true,
  );
}
const isDrawn = (element) => Boolean(element?.isConnected && element.getBoundingClientRect().width);
/* Where the callback was asked for; no place for what the page asks by itself. */
const cause = (body, askedAt) => {
  let changed = "";
  try {
    changed = JSON.parse(body).changedPropIds?.[0] ?? "";
  } catch {
    return null;
  }
  const named = document.getElementById(changed.slice(0, changed.lastIndexOf(".")));
  if (isDrawn(named)) {
    return named;
  }
  const isByItself = !changed || changed.endsWith(".n_intervals") || changed.startsWith("_pages");
  return !isByItself && askedAt - pressedAt < RECENT_MS && isDrawn(pressed) ? pressed : null;
};
const say = (element, words) => {
  if (!isDrawn(element)) {
    return false;
  }
  const box = element.getBoundingClientRect();
  close();
  bubble = document.createElement("div");
  bubble.className = "failed-here error-line";
  bubble.setAttribute("role", "alert");
  const closing = document.createElement("button");
  closing.type = "button";
  closing.className = "notice-close";
  closing.setAttribute("aria-label", text("connection.close"));
  closing.textContent = "×";
  closing.addEventListener("click", close);
  const said = document.createElement("span");
  said.textContent = words;
  bubble.append(said, closing);
  document.body.append(bubble);
  const room = document.documentElement.clientWidth - bubble.offsetWidth - 8;
  bubble.style.left = `${Math.max(8, Math.min(box.left, room)) + window.scrollX}px`;
  bubble.style.top = `${box.bottom + 6 + window.scrollY}px`;
  if (box.bottom + bubble.offsetHeight > window.innerHeight || box.top < 0) {
    bubble.scrollIntoView({ block: "nearest" });
  }
  return true;
};
/* What is said where it failed is not said at the foot of the window as well. */
const withoutNotice = async (answer) => {
  const body = await answer.json();
  delete body.sideUpdate?.notice;
  return new Response(JSON.stringify(body), answer);
};
window.addEventListener("_dashprivate_pushstate", close);
window.addEventListener("popstate", close);

/* A page whose module does not come is not drawn: its place says so. Only a new window asks for a module again. */
const clear = () => {
  document.getElementById("incomplete")?.remove();
  delete document.getElementById("content")?.dataset.incomplete;
};
window.addEventListener("_dashprivate_pushstate", clear);
window.addEventListener("popstate", clear);
const sayIncomplete = () => {
  const place = document.getElementById("content");
  if (place && !document.getElementById("incomplete")) {
    const box = document.createElement("div");
    box.id = "incomplete";
    box.className = "state state-error";
    box.setAttribute("role", "alert");
    const said = document.createElement("p");
    said.className = "state-text";
    said.textContent = text("connection.incomplete");
    const again = document.createElement("button");
    again.type = "button";
    again.className = "btn btn-primary";
    again.textContent = text("connection.again");
    again.addEventListener("click", () => window.location.reload());
    box.append(said, again);
    place.prepend(box);
    place.dataset.incomplete = "";
    box.scrollIntoView({ block: "nearest" });
  }
  throw Object.assign(new Error("a module is missing"), { isSaid: true });
};
/* Done when the page that is shown has its module; who has left the page that has none meanwhile waits for the next. */
const drawable = async () => {
  const path = window.location.pathname;
  await ready(path).catch(() => (path === window.location.pathname ? sayIncomplete() : drawable()));
};

const beneath = window.fetch.bind(window);
window.fetch = async (...given) => {
  const address = String(given[0]?.url ?? given[0]);
  if (!address.includes(CALLBACK)) {
    try {
      return await beneath(...given);
    } catch (error) {
      if (error.name !== "AbortError") {
        look();
      }
      throw error;
    }
  }
  const askedAt = performance.now();
  try {
    /* A page is drawn when its module is there, so that its callbacks, cells and listeners are never late. */
    const [answer] = await Promise.all([beneath(...given), drawable()]);
    const failed = answer.headers.get(FAILED);
    if (failed) {
      const isSaid = say(cause(given[1]?.body, askedAt), decodeURIComponent(failed));
      return isSaid && answer.status === 200 ? await withoutNotice(answer) : answer;
    }
    if (answer.status >= 500) {
      say(cause(given[1]?.body, askedAt), text("connection.refused"));
    }
    return answer;
  } catch (error) {
    if (!error.isSaid) {
      hasMissed = true;
      say(cause(given[1]?.body, askedAt), text("connection.missed"));
    }
    look();
    throw error;
  }
};
