/* The Compare page: what is looked at and how, by mouse and keyboard; the back button undoes it without the server. */
import { address, at, begin, go, isShown, read, remember, root, say, state, wholeNumber } from "./address.js";
import { current } from "./cells.js";
import {
  cellWidth,
  find,
  findNext,
  fittingMode,
  GRID,
  jump,
  mark,
  measure,
  openFold,
  reload,
  showFirst,
  step,
  topRow,
} from "./lines.js";
import "../shared/grid-theme.js";
import "../shared/lists.js";
import { offer, setProps, skip } from "../shared/dash.js";
import { whenGrid } from "../shell/grid.js";

const ways = () => [state.mode, state.folded, state.outline, state.chapter].join();

/* ---- what is shown, and how ---------------------------------------------------------------------------------------------- */
const look = (view, { push = true } = {}) => {
  state.view = view;
  for (const tab of document.querySelectorAll("[data-compare-view]")) {
    const here = tab.dataset.compareView === view;
    tab.setAttribute("aria-selected", String(here));
    tab.tabIndex = here ? 0 : -1;
    at(tab.getAttribute("aria-controls")).hidden = !here;
  }
  setProps("compare-shown-view", { data: view });
  if (push) {
    remember({ view: view === "text" ? null : view }, { push: true });
  }
  measure();
};
const press = () => {
  for (const button of document.querySelectorAll("[data-compare-mode]")) {
    button.setAttribute("aria-pressed", String(button.dataset.compareMode === state.mode));
  }
  for (const button of document.querySelectorAll("[data-compare-chapter]")) {
    button.setAttribute("aria-pressed", String(Number(button.dataset.compareChapter) === state.chapter));
  }
  if (at("compare-fold")) {
    at("compare-fold").value = state.outline ? "outline" : state.folded ? "1" : "0";
    at("compare-chapter").value = state.chapter === null ? "all" : String(state.chapter);
  }
};
const choose = (changes) => {
  const before = ways();
  const top = topRow();
  Object.assign(state, changes);
  if (ways() === before) {
    return;
  }
  if (!("mode" in changes)) {
    state.open = new Set();
    state.position = -1;
    state.index = 0;
  }
  press();
  const shown = { mode: state.chosenMode, folded: state.folded ? null : "0", outline: state.outline ? "1" : null };
  remember({ ...shown, chapter: state.chapter }, { push: true });
  reload({ row: "chapter" in changes ? -1 : top, keep: false });
};
/* The row that somebody chose before the lines were there. */
let wanted = null;
/* To a row of the text from wherever one looks; a chapter that leaves it out is left. */
const visit = async (row, options) => {
  if (state.view !== "text") {
    look("text");
  }
  if (!(await jump(row, options))) {
    choose({ chapter: null });
    await jump(row, options);
  }
};
document.addEventListener("evorag:compare-mode", press);
document.addEventListener("evorag:compare-jump", (event) => visit(event.detail));

/* ---- beginning ------------------------------------------------------------------------------------------------------------ */
const gridThere = () => {
  try {
    const grid = window.dash_ag_grid.getApi(GRID);
    return at(GRID) && !grid.isDestroyed() ? grid : null;
  } catch {
    return null;
  }
};
/* Before its columns share its width, lines would be broken for another one and asked for again. */
const isLaidOut = (grid) => {
  const { left, right } = grid.getHorizontalPixelRange();
  const width = grid.getAllDisplayedColumns().reduce((sum, column) => sum + column.getActualWidth(), 0);
  return !at(GRID).clientWidth || (right > left && width > right - left - 2);
};
const start = (pair) => {
  if (!pair || !root()) {
    return skip();
  }
  const { run } = begin(pair);
  current.row = -1;
  current.found = "";
  press();
  remember({});
  const wait = (tries) => {
    const grid = gridThere();
    if (run !== state.run || !root()) {
      return;
    }
    if (grid && (isLaidOut(grid) || tries < 400)) {
      ready(grid);
    } else if (tries > 0) {
      window.setTimeout(() => wait(tries - 1), 20);
    }
  };
  if (root().dataset.isEqual !== "true") {
    whenGrid(() => wait(500));
  }
  return skip();
};
let watching = null;
const ready = (grid) => {
  const search = address();
  const { run } = state;
  state.grid = grid;
  state.words = grid.getGridOption("context").words;
  state.cell = cellWidth();
  state.mode = fittingMode();
  press();
  current.row = wholeNumber(search.get("row"));
  at(GRID).querySelector("[role=grid], [role=treegrid]")?.setAttribute("aria-label", state.words.grid);
  grid.setGridOption("focusGridInnerElement", enter);
  grid.addEventListener("cellKeyDown", entered);
  grid.addEventListener("fullWidthCellKeyDown", entered);
  grid.addEventListener("cellClicked", numbered);
  reload({ row: current.row, keep: false }).then(() => {
    const text = search.get("find");
    if (wanted !== null && run === state.run) {
      visit(wanted);
      wanted = null;
    } else if (text && run === state.run) {
      at("compare-find").value = text;
      find(text, { jumps: current.row < 0 });
    } else if (current.row < 0 && run === state.run) {
      showFirst();
    }
  });
  let waiting = 0;
  watching?.disconnect();
  watching = new ResizeObserver(() => {
    window.clearTimeout(waiting);
    waiting = window.setTimeout(measure, 150);
  });
  watching.observe(at(GRID));
};
const entered = ({ event, data }) => {
  if (event?.key === "Enter" && data) {
    if (data.fold !== null) {
      openFold(data.row, data.fold);
    } else if (data.move_target !== null) {
      visit(data.move_target, { focus: true });
    }
  }
};
const numbered = ({ column, data, rowIndex }) => {
  if (data && column?.getColId().endsWith("_no")) {
    state.position = rowIndex;
    state.index = 0;
    mark(data.row);
    remember({ row: data.row });
    say(state.words.linked);
  }
};

/* ---- by mouse -------------------------------------------------------------------------------------------------------------- */
const copy = async () => {
  const { words } = state;
  let said = words.copied;
  try {
    await navigator.clipboard.writeText(window.location.href);
  } catch {
    said = words.not_copied;
  }
  at("compare-place").textContent = said;
  say(said);
};
/* What cannot be made is said on the page; a download would only be a file of an error. */
const fetchExport = async (address, failed) => {
  let said = "";
  try {
    const answer = await fetch(address, { method: "HEAD" });
    if (!answer.ok) {
      const body = await (await fetch(address)).json();
      said = [failed, body.detail, body.remedy].filter(Boolean).join(" ");
    }
  } catch {
    said = failed;
  }
  at("compare-export-said").textContent = said;
  if (!said) {
    window.location.assign(address);
  }
};
const rememberQuestion = () => {
  const question = at("compare-question").value.trim();
  remember({ q: question, alone: question && !at("compare-alone").checked ? "0" : null });
};
const DOES = {
  next: () => step("next"),
  previous: () => step("previous"),
  copy,
  "find-next": () => findNext(1),
  "find-previous": () => findNext(-1),
};
const CLICKS = {
  compareDo: (name) => DOES[name](),
  compareMode: (mode) => choose({ mode, chosenMode: mode }),
  compareChapter: (text) => choose({ chapter: state.chapter === Number(text) ? null : Number(text) }),
  compareFold: (row, target) => openFold(Number(row), Number(target.dataset.count)),
  compareRow: (row, target) => {
    if (target.dataset.cell) {
      settle(target);
    }
    at("compare-overview")?.removeAttribute("open");
    visit(Number(row));
  },
};
const CLICKED =
  "[data-compare-do], [data-compare-mode], [data-compare-chapter], [data-compare-fold], [data-compare-row]";
document.addEventListener("click", (event) => {
  const menu = at("compare-export");
  for (const unfolded of [menu, at("compare-overview")]) {
    if (unfolded?.open && !unfolded.contains(event.target)) {
      unfolded.removeAttribute("open");
    }
  }
  const download = event.target.closest?.("[data-compare-export]");
  if (download) {
    event.preventDefault();
    menu.removeAttribute("open");
    fetchExport(download.href, menu.dataset.failed);
    return;
  }
  if (event.target.closest?.("#compare-old-doc, #compare-new-doc")) {
    state.opensPicker = Date.now();
  }
  if (event.target.closest?.("#compare-ask")) {
    rememberQuestion();
  }
  const tab = event.target.closest?.("[data-compare-view]");
  if (tab && state.pair) {
    look(tab.dataset.compareView);
    return;
  }
  const target = event.target.closest?.(CLICKED);
  if (target?.dataset.compareRow && !state.grid && root()?.contains(target)) {
    wanted = Number(target.dataset.compareRow);
    at("compare-overview")?.removeAttribute("open");
  } else if (target && state.grid && root()?.contains(target)) {
    const name = Object.keys(CLICKS).find((each) => each in target.dataset);
    CLICKS[name](target.dataset[name], target);
  }
});
document.addEventListener("change", ({ target }) => {
  if (target.id === "compare-fold" && state.grid) {
    choose({ folded: target.value !== "0", outline: target.value === "outline" });
  } else if (target.id === "compare-chapter" && state.grid) {
    choose({ chapter: target.value === "all" ? null : Number(target.value) });
  }
});
let typing = 0;
document.addEventListener("input", ({ target }) => {
  if (target.id === "compare-find" && state.grid) {
    window.clearTimeout(typing);
    typing = window.setTimeout(() => find(target.value), 250);
  } else if (target.classList?.contains("image-range")) {
    target.closest(".image-compare").style.setProperty("--at", `${target.value}%`);
  }
});
/* A picker of documents opens with the focus on its chosen option; its search takes it, so that one can type at once. */
document.addEventListener("focusin", (event) => {
  const search = document.querySelector(".dash-dropdown-search");
  if (search && event.target.matches(".dash-dropdown-search, .dash-options-list-option-checkbox")) {
    if (Date.now() - (state.opensPicker || 0) < 3000 && event.target !== search) {
      search.focus();
    }
    state.opensPicker = 0;
  }
});

/* A cell of a table that has the focus says what stood there before. */
document.addEventListener("focusin", (event) => {
  const said = at("compare-cell-said");
  const cell = event.target.closest?.("#compare-table-grid .ag-cell");
  if (said && cell) {
    said.textContent = cell.querySelector(".cell-changed, .cell-removed")?.title || "\u00a0";
  }
});

/* ---- by keyboard ----------------------------------------------------------------------------------------------------------- */
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
const settle = (cell) => {
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
/* Tab comes back to the current line, or to the first one in sight. */
const enter = () => {
  const { grid } = state;
  const position = state.position >= 0 ? state.position : Math.max(grid.getFirstDisplayedRowIndex(), 0);
  grid.ensureIndexVisible(position);
  grid.setFocusedCell(position, state.mode === "side" ? "old" : "merged");
  return true;
};

/* Steps of a long run end in the next one. */
const again = (run) => {
  if (run?.ids && run.at < run.ids.length && at("compare-impact-progress")) {
    setProps("compare-impact-next", { data: run });
  }
  return skip();
};

window.addEventListener(
  "popstate",
  (event) => {
    if (!isShown()) {
      return;
    }
    event.stopImmediatePropagation();
    const before = ways();
    const { view, ...shown } = read();
    Object.assign(state, shown);
    if (state.grid) {
      state.mode = fittingMode();
    }
    press();
    look(view, { push: false });
    if (state.grid && ways() !== before) {
      state.open = new Set();
      reload({ row: wholeNumber(address().get("row")), keep: false });
    }
  },
  true,
);

offer({ compare: { go, start, again } });
