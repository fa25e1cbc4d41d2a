/* The tour of the first page: shown once to whoever has not left it in this browser, and again when it is asked for.
   It covers nothing and takes the focus only from whoever began it or goes through it. */
import { go } from "../shared/dash.js";

const SEEN = "evorag-tour";
const WANTED = "evorag-tour-wanted";
const tour = () => document.getElementById("tour");
const steps = () => [...tour().querySelectorAll("[data-tour-step]")];
let led = null;
let at = 0;

/* A browser that keeps nothing shows the tour with each page. */
const kept = (store, name) => {
  try {
    return store.getItem(name);
  } catch {
    return null;
  }
};
const keep = (store, name, value) => {
  try {
    if (value === null) {
      store.removeItem(name);
    } else {
      store.setItem(name, value);
    }
  } catch {
    /* Nothing is kept. */
  }
};
const point = (about) => {
  for (const element of document.querySelectorAll(".tour-target")) {
    element.classList.remove("tour-target");
  }
  if (about) {
    document.querySelector(about)?.classList.add("tour-target");
  }
};
const show = (index, takesFocus) => {
  at = index;
  steps().forEach((step, number) => {
    step.hidden = number !== at;
  });
  const isLast = at === steps().length - 1;
  const hidden = { back: at === 0, next: isLast, done: !isLast, leave: isLast };
  for (const [act, isHidden] of Object.entries(hidden)) {
    tour().querySelector(`[data-tour="${act}"]`).hidden = isHidden;
  }
  tour().hidden = false;
  point(steps()[at].dataset.tourAbout);
  if (takesFocus) {
    steps()[at].querySelector("h2").focus();
  }
};
const leave = () => {
  keep(window.localStorage, SEEN, "left");
  const hadFocus = tour().contains(document.activeElement);
  tour().hidden = true;
  point("");
  if (hadFocus) {
    const field = document.getElementById("ask-question");
    (field?.offsetParent ? field : document.getElementById("page-title"))?.focus();
  }
};
const begin = () => {
  const isWanted = kept(window.sessionStorage, WANTED) !== null;
  keep(window.sessionStorage, WANTED, null);
  if (isWanted || kept(window.localStorage, SEEN) === null) {
    show(0, isWanted);
  }
};
const acts = { next: () => show(at + 1, true), back: () => show(at - 1, true), done: leave, leave };

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-tour]");
  if (button && tour()?.contains(button)) {
    acts[button.dataset.tour]();
  } else if (event.target.closest?.("#tour a")) {
    leave();
  }
});
document.addEventListener("keydown", (event) => {
  const isElsewhere = event.target.matches?.("input, textarea:not(#ask-question), select, [contenteditable]");
  if (event.key !== "Escape" || event.defaultPrevented || isElsewhere || document.querySelector("dialog[open]")) {
    return;
  }
  if (tour() && !tour().hidden) {
    event.preventDefault();
    leave();
  }
});
/* The page comes after the scripts, and again when somebody goes back to it. */
new MutationObserver(() => {
  const present = tour();
  if (present !== led) {
    led = present;
    if (present) {
      begin();
    } else {
      point("");
    }
  }
}).observe(document.documentElement, { childList: true, subtree: true });

export const takeTour = () => {
  if (tour()) {
    show(0, true);
    tour().scrollIntoView({ block: "nearest" });
    return;
  }
  keep(window.sessionStorage, WANTED, "1");
  go("/");
};
