/* The grid of the Compare page: which lines it shows, ways to a place in them, folds, and search. */
import { ask, askAhead, at, failed, remember, say, state } from "./address.js";
import { current, fill } from "./cells.js";

export const GRID = "compare-grid";
/* Padding and sign of a cell, in pixels. */
const TEXT_PAD = 36;
const NARROW = 700;
const ROW = 24;
/* The bar of a narrow window covers so much. */
const FOOT = 96;
const NUMBERS = { narrow: 40, wide: 56 };

/* ---- layout --------------------------------------------------------------------------------------------------------- */
/* Letters of prose as often as they come, for the width that they have on average. */
const PROSE =
  "The committee approved 12 of the 34 requests for repair, and asked each department for its plan by May. ";
export const cellWidth = () => {
  const probe = document.createElement("span");
  probe.className = "line-probe";
  document.body.append(probe);
  const width = (text, cells) => {
    probe.textContent = text;
    return probe.getBoundingClientRect().width / cells;
  };
  const even = [width("0".repeat(100), 100), width("\u3042".repeat(100), 200)];
  probe.classList.add("is-prose");
  const found = Math.max(...even, width(PROSE, PROSE.length));
  probe.remove();
  return found || 8;
};
const isNarrow = () => Boolean(at(GRID).clientWidth) && at(GRID).clientWidth < NARROW;
export const fittingMode = () => state.chosenMode || (isNarrow() ? "inline" : "side");
const columns = () => (state.mode === "side" ? ["old", "new"] : ["merged"]);
/* Shows the columns of the mode and returns how many cells of text one of them holds. */
const arrange = () => {
  const { grid, mode } = state;
  grid.setColumnsVisible(["old", "new"], mode === "side");
  grid.setColumnsVisible(["merged"], mode === "inline");
  const newWidth = isNarrow() ? NUMBERS.narrow : NUMBERS.wide;
  grid.setColumnWidths(["old_no", "new_no"].map((key) => ({ key, newWidth })));
  const cells = Math.floor((grid.getColumn(columns()[0]).getActualWidth() - TEXT_PAD) / state.cell);
  return Math.min(1000, Math.max(12, cells - (cells % 2)));
};

/* ---- lines ------------------------------------------------------------------------------------------------------------ */
const source = (version) => ({
  getRows: async (wanted) => {
    const { ahead } = state;
    try {
      const isHere = ahead?.start === wanted.startRow;
      state.ahead = isHere ? null : ahead;
      const found = isHere ? ahead : await ask("rows", { start: wanted.startRow, end: wanted.endRow });
      if (version === state.version) {
        wanted.successCallback(found.lines, found.total);
      } else {
        wanted.failCallback();
      }
    } catch (error) {
      wanted.failCallback();
      failed(error);
    }
  },
});
export const topRow = () => {
  const first = state.grid?.getFirstDisplayedRowIndex() ?? -1;
  return first > 0 ? (state.grid.getDisplayedRowAtIndex(first)?.data?.row ?? -1) : -1;
};
/* While lines are made anew, the grid itself holds the focus that one of its cells had. */
const holdFocus = () => {
  const place = at(GRID);
  const cell = place.contains(document.activeElement) ? state.grid.getFocusedCell() : null;
  if (cell) {
    place.tabIndex = -1;
    place.focus({ preventScroll: true });
  }
  return cell && { ...cell, row: state.grid.getDisplayedRowAtIndex(cell.rowIndex)?.data?.row ?? -1 };
};
const giveFocus = ({ column, rowIndex }, position) => {
  const index = Math.min(position ?? rowIndex, state.total - 1);
  if (index >= 0 && at(GRID) === document.activeElement) {
    state.grid.ensureIndexVisible(index);
    state.grid.setFocusedCell(index, column.isVisible() ? column : columns()[0]);
  }
};
const take = (view) => {
  state.open = new Set(view.open);
  state.total = view.total;
  state.changes = view.changes;
};
const known = (row) => (row < 0 ? null : row);
/* Lines are numbered anew for another width, mode or fold; the row that has the focus keeps it, else the row that was
   seen first stays first. */
export const reload = async ({ row: asked = -1, keep = true } = {}) => {
  /* One that overtakes another, since the width changed meanwhile, goes to where that one was going. */
  const row = keep && asked < 0 ? state.going : asked;
  const top = keep && row < 0 ? topRow() : -1;
  const focused = holdFocus();
  const held = keep && row < 0 ? (focused?.row ?? -1) : -1;
  state.going = row;
  state.width = arrange();
  current.outline = state.outline;
  state.version += 1;
  const { version, run } = state;
  try {
    const view = await askAhead("view", { row: known(row), top: known(held < 0 ? top : held) });
    if (version !== state.version || run !== state.run) {
      return;
    }
    const index = state.changes === view.changes ? state.index : 0;
    take(view);
    state.going = -1;
    state.position = -1;
    state.grid.setGridOption("datasource", source(version));
    state.grid.setRowCount(view.total, true);
    tell(index);
    const position = row >= 0 ? view.position : view.top;
    if (position !== null && held < 0) {
      show(position, row >= 0 ? "middle" : "top");
    }
    if (focused) {
      giveFocus(focused, row >= 0 || held >= 0 ? position : null);
    }
    if (row >= 0 && view.index) {
      tell(view.index);
    }
  } catch (error) {
    if (focused) {
      giveFocus(focused, null);
    }
    failed(error);
  }
};
/* Folds were opened: rows that are there stay until the new ones arrive. */
const unfold = (view) => {
  take(view);
  state.grid.setRowCount(view.total, true);
  state.grid.refreshInfiniteCache();
  tell();
};
export const openFold = async (row, count) => {
  state.open.add(row);
  try {
    unfold(await askAhead("view", { top: row }));
    say(fill(state.words.unfolded, { count }));
  } catch (error) {
    failed(error);
  }
};
export const measure = () => {
  if (!state.grid || state.view !== "text" || !at(GRID)?.clientWidth) {
    return;
  }
  const mode = fittingMode();
  const turns = mode !== state.mode;
  if (turns) {
    state.mode = mode;
    document.dispatchEvent(new CustomEvent("evorag:compare-mode"));
  }
  if (turns || arrange() !== state.width) {
    reload();
  }
};

/* ---- places ------------------------------------------------------------------------------------------------------------- */
const show = (position, where) => {
  state.grid.ensureIndexVisible(position, where);
  state.position = where === "middle" ? position : state.position;
  if (where !== "middle") {
    return;
  }
  const { top } = document.querySelector(`#${GRID} .ag-body`).getBoundingClientRect();
  const y = top + position * ROW - state.grid.getVerticalPixelRange().top;
  if (y < 0 || y > window.innerHeight - FOOT) {
    document.querySelector(".compare-tabs").scrollIntoView({ block: "start" });
  }
};
export const mark = (row) => {
  const touched = new Set([current.row, row]);
  current.row = row;
  const rowNodes = [];
  state.grid.forEachNode((node) => {
    if (node.data && touched.has(node.data.row)) {
      rowNodes.push(node);
    }
  });
  state.grid.redrawRows({ rowNodes });
};
const tell = (index = 0, round = "") => {
  const { words, changes } = state;
  state.index = index;
  const text = index ? fill(words.place, { index, count: changes }) : fill(words.changes, { count: changes });
  at("compare-place").textContent = text;
  at("compare-round").textContent = round;
};
const focusLine = (position) => {
  const line = state.grid.getDisplayedRowAtIndex(position)?.data;
  const side = line?.change === "added" && state.mode === "side" ? 1 : 0;
  state.grid.setFocusedCell(position, columns()[side]);
};
export const jump = async (row, { focus = false } = {}) => {
  try {
    const view = await askAhead("view", { row });
    if (view.position === null) {
      return false;
    }
    if (view.open.length !== state.open.size) {
      unfold(view);
    }
    show(view.position, "middle");
    mark(row);
    tell(view.index);
    remember({ row });
    if (focus) {
      focusLine(view.position);
    }
  } catch (error) {
    failed(error);
  }
  return true;
};
export const step = async (to, inGrid = false) => {
  try {
    const found = await askAhead("step", {
      to,
      ...(state.position < 0 ? { row: known(current.row) } : { from: state.position }),
    });
    const was = state.index;
    const isRound =
      was > 0 && (to === "next" ? found.index <= was && was === found.count : was === 1 && found.index > 1);
    const round = isRound ? state.words[to === "next" ? "from_first" : "from_last"] : "";
    say([round, found.text].filter(Boolean).join(" "));
    if (found.position === null) {
      return;
    }
    show(found.position, "middle");
    mark(found.row);
    tell(found.index, round);
    remember({ row: found.row });
    if (inGrid) {
      focusLine(found.position);
    }
  } catch (error) {
    failed(error);
  }
};

/* A text that is opened without a place begins at what changed first, unless somebody has gone elsewhere meanwhile. */
export const showFirst = async () => {
  const { run, version } = state;
  const isUntouched = () =>
    run === state.run && version === state.version && state.position < 0 && state.grid.getFirstDisplayedRowIndex() <= 0;
  try {
    const found = await askAhead("step", { to: "next", row: null });
    if (found.position > 0 && isUntouched()) {
      state.grid.ensureIndexVisible(found.position, "top");
    }
  } catch (error) {
    failed(error);
  }
};

/* ---- search inside ------------------------------------------------------------------------------------------------------ */
let asked = 0;
export const find = async (text, { jumps = true } = {}) => {
  const wanted = text.trim();
  const number = ++asked;
  current.found = wanted;
  remember({ find: wanted });
  try {
    const { rows } = wanted ? await ask("find", { q: wanted }) : { rows: [] };
    if (number !== asked) {
      return;
    }
    state.found = rows;
    state.foundAt = -1;
    state.grid.redrawRows();
    const count = rows.length ? fill(state.words.found, { count: rows.length }) : state.words.found_none;
    at("compare-found").textContent = wanted ? count : "";
    if (rows.length && jumps) {
      findNext(1);
    }
  } catch (error) {
    failed(error);
  }
};
export const findNext = (by) => {
  const { found } = state;
  if (found.length) {
    const next = state.foundAt < 0 && by < 0 ? found.length - 1 : state.foundAt + by + found.length;
    state.foundAt = next % found.length;
    const place = { index: state.foundAt + 1, count: found.length };
    at("compare-found").textContent = fill(state.words.found_place, place);
    document.dispatchEvent(new CustomEvent("evorag:compare-jump", { detail: found[state.foundAt] }));
  }
};
