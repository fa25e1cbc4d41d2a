/* The Compare page by keyboard: search, the strip, tabs, steps from change to change, and the grid as one stop of Tab. */
import { at, remember, root, state } from "./address.js";
import { current } from "./cells.js";
import { find, findNext, GRID, step } from "./lines.js";
import { look, visit } from "./shown.js";

export const rememberQuestion = () => {
  const question = at("compare-question").value.trim();
  remember({ q: question, alone: question && !at("compare-alone").checked ? "0" : null });
};
let typing = 0;
/* What is typed is found once the typing rests. */
export const findSoon = (text) => {
  window.clearTimeout(typing);
  typing = window.setTimeout(() => find(text), 250);
};
const finding = (event) => {
  event.preventDefault();
  window.clearTimeout(typing);
  if (current.found === event.target.value.trim()) {
    findNext(event.shiftKey ? -1 : 1);
  } else {
    find(event.target.value);
  }
};
/* The strip is a slider whose steps are the parts that changed. */
export const settle = (cell) => {
  const strip = at("compare-strip");
  strip.setAttribute("aria-valuenow", cell.dataset.cell);
  strip.setAttribute("aria-valuetext", cell.dataset.words);
  strip.querySelector(".heat-here")?.classList.remove("heat-here");
  cell.classList.add("heat-here");
};
const slide = (event) => {
  const cells = [...document.querySelectorAll("#compare-strip [data-cell]")];
  const here = cells.findIndex((cell) => cell.classList.contains("heat-here"));
  const down = Math.min(here + 1, cells.length - 1);
  const up = Math.max(here - 1, 0);
  const steps = { ArrowDown: down, ArrowRight: down, ArrowUp: up, ArrowLeft: up, Home: 0, End: cells.length - 1 };
  const cell = cells[steps[event.key]];
  if (cell) {
    event.preventDefault();
    settle(cell);
    visit(Number(cell.dataset.compareRow));
  }
};
const turn = (event) => {
  const tabs = [...document.querySelectorAll("[data-compare-view]")];
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (by) {
    event.preventDefault();
    const tab = tabs[(tabs.indexOf(event.target) + by + tabs.length) % tabs.length];
    look(tab.dataset.compareView);
    tab.focus();
  }
};
const writing = (target) => target.closest?.("input, textarea, select, [contenteditable]");
document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (!root() || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) {
    return;
  }
  if (key === "Escape") {
    at("compare-export")?.removeAttribute("open");
  } else if (target.id === "compare-question" && key === "Enter" && !event.isComposing) {
    rememberQuestion();
  } else if (target.matches?.("[data-compare-view]") && key.startsWith("Arrow")) {
    turn(event);
  } else if (!state.grid) {
    return;
  } else if (target.id === "compare-find" && key === "Enter" && !event.isComposing) {
    finding(event);
  } else if (target.id === "compare-strip" && key.length > 1) {
    slide(event);
  } else if ((key === "n" || key === "p") && !writing(target) && state.view === "text") {
    event.preventDefault();
    step(key === "n" ? "next" : "previous", Boolean(target.closest?.(`#${GRID}`)));
  }
});

/* The grid is one stop of the Tab key: arrows move inside, Tab goes on behind it and Shift+Tab before it. */
const STOPS = "a[href], button, input, select, textarea, summary, [tabindex]";
const isStop = (each) => each.tabIndex >= 0 && !each.disabled && each.getClientRects().length > 0;
document.addEventListener(
  "keydown",
  (event) => {
    const grid = event.key === "Tab" && event.target.closest?.(`#${GRID}`);
    if (!grid || event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    const side = event.shiftKey ? Node.DOCUMENT_POSITION_PRECEDING : Node.DOCUMENT_POSITION_FOLLOWING;
    const outside = (each) => !grid.contains(each) && grid.compareDocumentPosition(each) & side;
    const stops = [...document.querySelectorAll(STOPS)].filter((each) => outside(each) && isStop(each));
    const next = event.shiftKey ? stops.at(-1) : stops[0];
    if (next) {
      event.preventDefault();
      event.stopImmediatePropagation();
      next.focus();
    }
  },
  true,
);
