/* The frame around every page: place, rail, keys, notices, times. No text of a user is ever parsed as HTML here. */
import { openPalette } from "./palette.js";
import { go, offer, skip } from "../shared/dash.js";
import { bound, day, exact, moment, relative } from "../shared/texts.js";

const root = document.documentElement;

const remember = (key, value) => {
  try {
    window.localStorage.setItem(key, value);
  } catch {
    /* private windows may refuse; the choice then lasts until the page is left */
  }
};

const markTheme = () => {
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    if (button !== root) {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === root.dataset.themeChoice));
    }
  }
};
const chooseTheme = (choice) => {
  remember("evorag-theme", choice);
  document.dispatchEvent(new CustomEvent("evorag:theme-chosen", { detail: choice }));
  markTheme();
  document.dispatchEvent(new CustomEvent("evorag:theme", { detail: root.dataset.bsTheme }));
};
const chooseLanguage = (code) => {
  document.cookie = `evorag_lang=${code}; path=/; max-age=31536000; samesite=lax`;
  window.location.reload();
};
const markRail = () => {
  const open = root.dataset.rail !== "closed";
  document.querySelector('[data-action="collapse"]')?.setAttribute("aria-expanded", String(open));
};
/* ---- moving through the pages ------------------------------------------------------------------------------- */
/* The new page has arrived when its title stands there; pages of one title are waited for a second. */
const whenShown = (then) => {
  const before = document.getElementById("page-title")?.textContent;
  const started = Date.now();
  const wait = window.setInterval(() => {
    if (document.getElementById("page-title")?.textContent !== before || Date.now() - started > 1000) {
      window.clearInterval(wait);
      then();
    }
  }, 40);
};

/* Where the keyboard goes after a change of page: to the question field of Ask, else to the title; a tour that was
   asked for has it already. */
const ASK = ["/", "/ask"];
const focusPage = (pathname) => {
  if (document.getElementById("tour")?.contains(document.activeElement)) {
    return;
  }
  if (!ASK.includes(pathname) || !focusQuestion()) {
    document.getElementById("page-title")?.focus({ preventScroll: true });
  }
};
const focusQuestion = () => {
  const field = document.getElementById("ask-question");
  field?.focus();
  return Boolean(field);
};
/* The pages behind the door of an address are its tabs; a page below one of them counts as that one. */
const markPlace = (pathname) => {
  let door = "";
  for (const holder of document.querySelectorAll(".door-tabs [data-paths]")) {
    const here = holder.dataset.paths
      .split(" ")
      .some((path) => pathname === path || (path !== "/" && pathname.startsWith(`${path}/`)));
    const link = holder.querySelector("a");
    if (here) {
      door = holder.closest("[data-door]").dataset.door;
      link.setAttribute("aria-current", "page");
    } else {
      link.removeAttribute("aria-current");
    }
  }
  for (const tabs of document.querySelectorAll("[data-door]")) {
    tabs.hidden = tabs.dataset.door !== door || tabs.dataset.alone === "true";
  }
  for (const link of document.querySelectorAll(".rail-links .rail-link")) {
    if (link.id === `door-${door}`) {
      link.setAttribute("aria-current", "true");
    } else {
      link.removeAttribute("aria-current");
    }
  }
};
let before = null;
/* A dialog is of the page that it was opened on; one that is opened while the next page is still coming stays. */
let left = window.location.pathname;
const leave = () => {
  if (window.location.pathname !== left) {
    left = window.location.pathname;
    document.querySelector("dialog[open]")?.close();
  }
};
window.addEventListener("_dashprivate_pushstate", leave);
window.addEventListener("popstate", leave);
const navigated = (pathname) => {
  markPlace(pathname);
  markTheme();
  markRail();
  /* An answer has another address than the start page, and takes nobody out of what they read. */
  const stays = before === null || (ASK.includes(before) && ASK.includes(pathname));
  if (!stays) {
    whenShown(() => focusPage(pathname));
  }
  before = pathname;
  return skip();
};

/* ---- keys --------------------------------------------------------------------------------------------------- */
const DESTINATIONS = { d: "/documents", u: "/upload", j: "/jobs", h: "/", a: "/" };
let waitingForSecond = 0;
const writing = (target) => target.closest?.("input, textarea, select, [contenteditable], .ag-cell-inline-editing");
document.addEventListener("keydown", (event) => {
  if (
    event.ctrlKey ||
    event.metaKey ||
    event.altKey ||
    writing(event.target) ||
    document.querySelector("dialog[open], .modal.show")
  ) {
    return;
  }
  const follows = Date.now() < waitingForSecond;
  waitingForSecond = 0;
  if (follows && DESTINATIONS[event.key]) {
    event.preventDefault();
    go(DESTINATIONS[event.key]);
  } else if (event.key === "g") {
    waitingForSecond = Date.now() + 1500;
  } else if (event.key === "/") {
    event.preventDefault();
    if (!focusQuestion()) {
      go("/");
    }
  } else if (event.key === "?") {
    event.preventDefault();
    document.getElementById("keys-dialog")?.showModal();
  }
});

/* ---- buttons of the frame ----------------------------------------------------------------------------------- */
const actions = {
  more: () => document.getElementById("more-dialog")?.showModal(),
  keys: () => document.getElementById("keys-dialog")?.showModal(),
  palette: () => openPalette(),
  close: (button) => button.closest("dialog")?.close(),
  reload: () => window.location.reload(),
  dismiss: (button) => button.closest(".notice")?.setAttribute("hidden", ""),
  collapse: () => {
    root.dataset.rail = root.dataset.rail === "closed" ? "open" : "closed";
    remember("evorag-rail", root.dataset.rail);
    markRail();
  },
};
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-action], [data-theme-choice], [data-language-choice]");
  if (!button || button === root) {
    return;
  }
  if (button.dataset.action) {
    actions[button.dataset.action]?.(button);
  } else if (button.dataset.languageChoice) {
    chooseLanguage(button.dataset.languageChoice);
  } else {
    chooseTheme(button.dataset.themeChoice);
  }
});

/* A link in a dialog leads to another answer of the same page: the dialog has done its work. */
document.addEventListener("click", (event) => {
  event.target.closest?.("dialog a[href]:not([download])")?.closest("dialog").close();
});

/* A file dropped beside a place for files must not replace the page. */
for (const name of ["dragover", "drop"]) {
  window.addEventListener(name, (event) => {
    if (event.dataTransfer?.types.includes("Files")) {
      event.preventDefault();
    }
  });
}

/* ---- notices go by themselves unless they ask for something -------------------------------------------------- */
const watchNotices = () => {
  const area = document.getElementById("notice");
  if (!area) {
    window.setTimeout(watchNotices, 200);
    return;
  }
  let leaving = 0;
  new MutationObserver(() => {
    const notice = area.querySelector(".notice");
    if (!notice || notice.dataset.seen === notice.dataset.notice) {
      return;
    }
    /* React draws the next notice into the element of the last one, which may be hidden by now. */
    notice.dataset.seen = notice.dataset.notice;
    notice.removeAttribute("hidden");
    window.clearTimeout(leaving);
    if (notice.dataset.lasting === "false") {
      leaving = window.setTimeout(() => notice.setAttribute("hidden", ""), 6000);
    }
  }).observe(area, { childList: true, subtree: true, attributeFilter: ["data-notice"] });
};
watchNotices();

/* ---- times: relative ones go on, exact ones are in the reader's own zone --------------------------------------------------- */
document.addEventListener("mouseover", (event) => {
  const time = event.target.closest?.("time.when");
  if (time) {
    time.title = exact(new Date(time.dateTime));
  }
});
window.setInterval(() => {
  for (const time of document.querySelectorAll("time.when")) {
    const text = relative(new Date(time.dateTime));
    if (time.firstChild && time.firstChild.nodeValue !== text) {
      time.firstChild.nodeValue = text;
    }
  }
}, 20000);

const hours = new Intl.DateTimeFormat(root.lang, { timeStyle: "short" });
const said = (time) => {
  const at = new Date(time.dateTime);
  const sameDay = time.dataset.after && new Date(time.dataset.after).toDateString() === at.toDateString();
  const told = { day, bound }[time.dataset.told] || moment;
  return sameDay ? hours.format(at) : told(at);
};
const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;
/* The server reads “yesterday” in a question as the asker's yesterday. */
document.cookie = `evorag_zone=${zone()}; path=/; samesite=lax`;

const write = (place, text) => {
  const node = place.firstChild;
  if (node && node.nodeValue !== text) {
    node.nodeValue = text;
  }
};
const localise = () => {
  for (const time of document.querySelectorAll("time.when-exact")) {
    write(time, said(time));
    time.title = exact(new Date(time.dateTime));
  }
  /* A choice holds text alone: its title is the moment until that is said in full, and its day stands last. */
  for (const option of document.querySelectorAll("select.when-days option[title]")) {
    if (option.title !== option.dataset.said) {
      option.dataset.at = option.title;
      option.dataset.said = exact(new Date(option.title));
      option.title = option.dataset.said;
    }
    write(option, option.textContent.replace(/[^·]*$/, ` ${day(new Date(option.dataset.at))}`));
  }
  for (const place of document.querySelectorAll(".when-bounds[title]")) {
    place.title = place.title.replace(/\d{4}-\d\d-\d\dT[\d:.]+[+-][\d:]+/g, (at) => bound(new Date(at)));
  }
  for (const hint of document.querySelectorAll("[data-zone]")) {
    hint.dataset.said ||= hint.textContent;
    write(hint, `${hint.dataset.said} (${zone()})`);
  }
};
let isLocalising = false;
new MutationObserver(() => {
  if (!isLocalising) {
    isLocalising = true;
    window.setTimeout(() => {
      isLocalising = false;
      localise();
    }, 30);
  }
}).observe(document.documentElement, { childList: true, characterData: true, subtree: true });

offer({ shell: { navigated } });
