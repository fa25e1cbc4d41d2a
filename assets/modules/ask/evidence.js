/* The evidence of an answer: a citation is read beside its number and opened at its place, with its page drawn there.
   Where the window is narrow the evidence is a sheet from below; what lies behind it cannot be reached meanwhile. */
import { setProps } from "../shared/dash.js";
import { make, placed } from "../shared/texts.js";
import { writeText } from "../shell/typed.js";

const WIDE = window.matchMedia("(width >= 1100px)");
const WIDTHS = [600, 800, 1200, 1600];
const LATE_MS = 1000;
const NOTE_SHOWN_MS = 120;
const NOTE_HIDDEN_MS = 200;
const GAP_PX = 8;
const CITED = "a.citation[data-chunk]";
const pane = () => document.getElementById("ask-evidence");
const itemOf = (link) => pane()?.querySelector(`[data-passage="${link.dataset.chunk}"]`);

/* ---- a citation is read beside its number ------------------------------------------------------------------------ */
let noted = null;
let noteTimer = 0;
/* A note that the keyboard has shown goes with its focus, one that the mouse has shown with the mouse. */
let isFocused = false;
const noteOf = (link) => document.getElementById(link.getAttribute("aria-describedby") ?? "");
const hideNote = () => {
  window.clearTimeout(noteTimer);
  if (noted) {
    const note = noteOf(noted);
    if (note) {
      note.hidden = true;
    }
    noted = null;
  }
};
const showNote = (link) => {
  const note = noteOf(link);
  if (!note || !link.isConnected) {
    return;
  }
  if (noted !== link) {
    hideNote();
  }
  window.clearTimeout(noteTimer);
  note.hidden = false;
  noted = link;
  const place = link.getBoundingClientRect();
  const { width, height } = note.getBoundingClientRect();
  const below = place.bottom + GAP_PX;
  const top = below + height > window.innerHeight && place.top > height + GAP_PX ? place.top - height - GAP_PX : below;
  const left = Math.min(Math.max(GAP_PX, place.left - 24), document.documentElement.clientWidth - width - GAP_PX);
  Object.assign(note.style, { top: `${top}px`, left: `${Math.max(GAP_PX, left)}px` });
};
const later = (then, wait) => {
  window.clearTimeout(noteTimer);
  noteTimer = window.setTimeout(then, wait);
};
document.addEventListener("mouseover", (event) => {
  const link = event.target.closest?.(CITED);
  if (link) {
    later(() => showNote(link), noted ? 0 : NOTE_SHOWN_MS);
  } else if (event.target.closest?.(".citation-note")) {
    window.clearTimeout(noteTimer);
  } else if (noted) {
    later(hideNote, NOTE_HIDDEN_MS);
  } else {
    window.clearTimeout(noteTimer);
  }
});
document.addEventListener("focusin", (event) => {
  const isReached = event.target.matches?.(CITED) && event.target.matches(":focus-visible");
  if (isReached) {
    showNote(event.target);
  } else if (isFocused) {
    hideNote();
  }
  isFocused = isReached;
});
window.addEventListener("scroll", ({ target }) => noted && !isFocused && target.contains?.(noted) && hideNote(), true);

/* ---- the sheet ----------------------------------------------------------------------------------------------------- */
let behind = null;
let opener = null;
const isSheet = () => behind !== null;
const closeSheet = (goesBack = true) => {
  if (!behind) {
    return;
  }
  behind.forEach((element) => element.removeAttribute("inert"));
  behind = null;
  document.documentElement.classList.remove("has-sheet");
  const sheet = pane();
  if (sheet) {
    delete sheet.dataset.open;
    sheet.removeAttribute("role");
    sheet.removeAttribute("aria-modal");
  }
  if (goesBack && opener?.isConnected) {
    opener.focus();
  }
};
const openSheet = (from) => {
  const sheet = pane();
  if (WIDE.matches || !sheet || behind) {
    return;
  }
  opener = from;
  sheet.dataset.open = "true";
  sheet.setAttribute("role", "dialog");
  sheet.setAttribute("aria-modal", "true");
  behind = [];
  for (let here = sheet; here && here !== document.body; here = here.parentElement) {
    for (const beside of here.parentElement?.children ?? []) {
      if (beside !== here && !beside.hasAttribute("inert") && !beside.matches("script, style, [role=status]")) {
        beside.setAttribute("inert", "");
        behind.push(beside);
      }
    }
  }
  document.documentElement.classList.add("has-sheet");
};
WIDE.addEventListener("change", () => closeSheet(false));

/* ---- the page with the cited words ---------------------------------------------------------------------------------- */
const asked = async (address) => {
  const answer = await fetch(address, { headers: { Accept: "application/json" } });
  if (!answer.ok) {
    throw new Error(String(answer.status));
  }
  return answer.json();
};
const pagesOf = async ({ evidencePage: base, first, last, sought }) => {
  if (first !== undefined) {
    return Array.from({ length: Math.min(Number(last) - Number(first), 3) + 1 }, (_, at) => Number(first) + at);
  }
  const found = (await asked(`${base}/pages/find?${new URLSearchParams({ text: sought })}`)).pages;
  return found.length > 0 ? [found[0], found[0] + 1] : [];
};
/* The first of the pages of a passage on which the sentence has a place. */
const markedPage = async (box, start, end) => {
  const { evidencePage: base, reading } = box.dataset;
  const pages = await pagesOf(box.dataset);
  let before = null;
  for (const page of pages) {
    const span = new URLSearchParams({ start, end, reading });
    try {
      const { marks } = await asked(`${base}/pages/${page}/text?${span}`);
      before ??= { page, marks };
      if (marks.length > 0) {
        return { page, marks };
      }
    } catch (error) {
      /* The page behind the last one is asked for where a page is found by its words. */
      if (before === null) {
        throw error;
      }
    }
  }
  if (before === null) {
    throw new Error("no page");
  }
  return before;
};
const drawn = async (box, page) => {
  const wanted = box.clientWidth * Math.min(window.devicePixelRatio || 1, 2);
  const picture = make("img", "evidence-picture");
  picture.alt = "";
  picture.src = `${box.dataset.evidencePage}/pages/${page}?width=${WIDTHS.find((each) => each >= wanted) ?? WIDTHS.at(-1)}`;
  await picture.decode();
  return picture;
};
const showPage = async (box, start, end) => {
  const asking = `${start}-${end}`;
  if (box.dataset.shown === asking) {
    return;
  }
  box.dataset.shown = asking;
  const words = JSON.parse(box.dataset.words);
  const status = make("p", "evidence-status");
  status.setAttribute("role", "status");
  if (!box.querySelector("img")) {
    box.replaceChildren(status);
  }
  const waiting = window.setTimeout(() => (status.textContent = words.wait), LATE_MS);
  try {
    const { page, marks } = await markedPage(box, start, end);
    const picture = await drawn(box, page);
    if (box.dataset.shown !== asking) {
      return;
    }
    const sheet = make("div", "evidence-sheet");
    sheet.append(picture, ...marks.map((area) => placed(make("div", "sheet-mark"), area)));
    const view = make("div", "evidence-view");
    view.tabIndex = 0;
    view.setAttribute("role", "group");
    view.setAttribute("aria-label", words.title);
    view.append(sheet);
    box.replaceChildren(view);
    const mark = view.querySelector(".sheet-mark");
    view.scrollTop = mark ? mark.offsetTop - view.clientHeight / 3 : 0;
  } catch {
    if (box.dataset.shown === asking) {
      status.textContent = words.failed;
      box.replaceChildren(status);
    }
  } finally {
    window.clearTimeout(waiting);
  }
};
const inSight = new IntersectionObserver((entries) => {
  for (const { isIntersecting, target } of entries) {
    /* A document whose pages are laid out first is drawn once somebody has asked for the passage. */
    if (isIntersecting && !target.dataset.shown && target.dataset.first !== undefined) {
      showPage(target, target.dataset.start, target.dataset.end);
    }
  }
});
const watched = new WeakSet();
new MutationObserver(() => {
  for (const box of document.querySelectorAll("[data-evidence-page]")) {
    if (!watched.has(box)) {
      watched.add(box);
      inSight.observe(box);
    }
  }
  const wrong = document.querySelector(".wrong-panel");
  if (wrong && !watched.has(wrong)) {
    watched.add(wrong);
    wrong.scrollIntoView({ block: "nearest" });
  }
  if (isSheet() && !pane()?.dataset.open) {
    closeSheet(false);
  }
}).observe(document.documentElement, { childList: true, subtree: true });

/* ---- a citation is opened at its place ------------------------------------------------------------------------------ */
let chosen = null;
const choose = (link, takesFocus = true) => {
  const item = itemOf(link);
  if (!item) {
    return;
  }
  hideNote();
  chosen = link;
  openSheet(link);
  for (const other of pane().querySelectorAll(".is-chosen")) {
    other.classList.remove("is-chosen");
  }
  item.classList.add("is-chosen");
  item.querySelector("details.evidence-text").open = true;
  for (const mark of item.querySelectorAll(`mark[data-span="${link.dataset.start}"]`)) {
    mark.classList.add("is-chosen");
  }
  const page = item.querySelector("[data-evidence-page]");
  if (page) {
    showPage(page, link.dataset.start, link.dataset.end);
  }
  const body = pane().querySelector(".evidence-body");
  body.scrollTop += item.getBoundingClientRect().top - body.getBoundingClientRect().top - 4;
  window.history.replaceState(window.history.state, "", link.getAttribute("href"));
  if (takesFocus) {
    item.focus({ preventScroll: true });
  }
};
document.addEventListener(
  "click",
  (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) {
      return;
    }
    const link = event.target.closest?.(CITED);
    const act = event.target.closest?.("[data-evidence-act]");
    if (link && itemOf(link)) {
      event.preventDefault();
      event.stopPropagation();
      choose(link);
    } else if (act?.dataset.evidenceAct === "open") {
      openSheet(act);
      document.getElementById("evidence-title")?.focus();
    } else if (act?.dataset.evidenceAct === "close" || (isSheet() && event.target === document.documentElement)) {
      closeSheet();
    } else if (event.target.closest?.("[data-wrong-point]")) {
      closeSheet(false);
      const passage = event.target.closest("[data-wrong-point]").dataset.wrongPoint;
      const choice = () => document.querySelector(`#ask-wrong-right input[value="${passage}"]`);
      choice()?.click();
      /* React draws the choices anew. */
      window.setTimeout(() => choice()?.focus(), 50);
    } else if (isSheet() && event.target.closest?.("#ask-evidence a[href]")) {
      closeSheet(false);
    }
  },
  true,
);
document.addEventListener(
  "keydown",
  (event) => {
    if (event.key !== "Escape" || event.isComposing || document.querySelector("dialog[open], .modal.show")) {
      return;
    }
    if (noted) {
      hideNote();
    } else if (isSheet()) {
      closeSheet();
    } else if (chosen?.isConnected && pane()?.contains(document.activeElement)) {
      chosen.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  },
  true,
);
const leave = () => {
  hideNote();
  closeSheet(false);
};
window.addEventListener("popstate", leave);
window.addEventListener("_dashprivate_pushstate", leave);

/* The citation that an address names; the sheet stays closed, so that the answer is seen first. */
export const openCited = () => {
  const number = /^#cited-(\d+)$/.exec(window.location.hash)?.[1];
  const link = number && document.querySelector(`${CITED}[data-cite="${number}"]`);
  if (link && WIDE.matches) {
    choose(link, false);
  }
};

/* ---- the question of the shown answer comes back into the box ---------------------------------------------------------- */
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-ask-edit]");
  const field = button && document.getElementById(button.dataset.askEdit);
  if (field) {
    writeText(field, document.getElementById("ask-shown").textContent);
    setProps("ask-anew", { data: true });
    field.focus();
  }
});
