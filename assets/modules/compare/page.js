/* The Compare page: how it begins, and what the mouse does; the back button undoes it without the server. */
import { address, at, begin, go, isShown, read, remember, root, say, state, wholeNumber } from "./address.js";
import { current } from "./cells.js";
import { findSoon, rememberQuestion, settle } from "./keys.js";
import {
  cellWidth,
  find,
  findNext,
  fittingMode,
  GRID,
  mark,
  measure,
  openFold,
  reload,
  showFirst,
  step,
} from "./lines.js";
import { choose, look, press, visit, ways } from "./shown.js";
import "../shared/lists.js";
import { offer, setProps, skip } from "../shared/dash.js";
import { whenGrid } from "../shell/grid.js";

/* The row that somebody chose before the lines were there. */
let wanted = null;
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
document.addEventListener("input", ({ target }) => {
  if (target.id === "compare-find" && state.grid) {
    findSoon(target.value);
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
