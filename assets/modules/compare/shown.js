/* What the Compare page shows, and how: its tabs, its mode, folds and chapters, and the way to a row. */
import { at, remember, state } from "./address.js";
import { jump, measure, reload, topRow } from "./lines.js";
import { setProps } from "../shared/dash.js";

export const ways = () => [state.mode, state.folded, state.outline, state.chapter].join();

export const look = (view, { push = true } = {}) => {
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
export const press = () => {
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
export const choose = (changes) => {
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
/* To a row of the text from wherever one looks; a chapter that leaves it out is left. */
export const visit = async (row, options) => {
  if (state.view !== "text") {
    look("text");
  }
  if (!(await jump(row, options))) {
    choose({ chapter: null });
    await jump(row, options);
  }
};
