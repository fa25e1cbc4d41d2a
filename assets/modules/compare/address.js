/* What the Compare page shows, kept in its address, and how it asks the server. One state for all compare-*.js. */
import { go as moveTo, skip } from "../shared/dash.js";

const ROUTE = "/api/v1/compare";
const BLOCK = 100;
/* ``run`` counts the comparisons that were opened, ``version`` the layouts of one; ``pair`` is null before the first. */
export const state = { pair: null, run: 0 };
export const at = (id) => document.getElementById(id);
export const root = () => at("compare");

export const begin = (pair) =>
  Object.assign(state, {
    pair,
    run: state.run + 1,
    version: 0,
    grid: null,
    open: new Set(),
    ahead: null,
    position: -1,
    going: -1,
    index: 0,
    total: 0,
    changes: 0,
    found: [],
    foundAt: -1,
    words: {},
    ...read(),
  });

/* ---- the address -------------------------------------------------------------------------------------------------- */
export const address = () => new URLSearchParams(window.location.search);
export const wholeNumber = (text) => (/^\d{1,9}$/.test(text || "") ? Number(text) : -1);
export const read = () => {
  const search = address();
  const mode = search.get("mode");
  const chapter = wholeNumber(search.get("chapter"));
  const view = search.get("view") || "text";
  return {
    chosenMode: mode === "side" || mode === "inline" ? mode : null,
    folded: search.get("folded") !== "0",
    outline: search.get("outline") === "1",
    chapter: chapter >= 0 ? chapter : null,
    view: document.querySelector(`[data-compare-view="${CSS.escape(view)}"]`) ? view : "text",
  };
};
export const isShown = () => {
  const search = address();
  const { pair } = state;
  return (
    Boolean(pair && root()) &&
    window.location.pathname === "/compare" &&
    search.get("doc") === pair.doc &&
    search.get("old") === String(pair.old) &&
    search.get("new") === String(pair.new) &&
    (search.get("other") || null) === pair.other
  );
};
export const remember = (changes, { push = false } = {}) => {
  const search = address();
  for (const [name, value] of Object.entries({ ...state.pair, ...changes })) {
    if (value === null || value === undefined || value === "") {
      search.delete(name);
    } else {
      search.set(name, value);
    }
  }
  const target = `${window.location.pathname}?${search}`;
  if (target !== window.location.pathname + window.location.search) {
    window.history[push ? "pushState" : "replaceState"]({}, "", target);
  }
};
/* Other versions are shown the way that these were. */
export const go = (target) => {
  if (target?.address) {
    const [path, query] = target.address.split("?");
    const search = new URLSearchParams(query);
    for (const name of ["mode", "folded", "view", "q", "alone"]) {
      const kept = address().get(name);
      if (kept && !search.has(name)) {
        search.set(name, kept);
      }
    }
    moveTo(`${path}?${search}`);
  }
  return skip();
};

/* ---- asking the server ---------------------------------------------------------------------------------------------- */
export const ask = async (what, values = {}) => {
  const search = new URLSearchParams();
  const shown = {
    ...state.pair,
    mode: state.mode,
    width: state.width,
    folded: state.folded ? null : "0",
    outline: state.outline ? "1" : null,
    chapter: state.chapter,
    open: [...state.open].join(","),
    ...values,
  };
  for (const [name, value] of Object.entries(shown)) {
    if (value !== null && value !== undefined && value !== "") {
      search.set(name, value);
    }
  }
  const answer = await fetch(`${ROUTE}/${what}?${search}`);
  const body = await answer.json();
  if (!answer.ok) {
    throw new Error([body.title, body.detail, body.remedy].filter(Boolean).join(" "));
  }
  return body;
};
/* The answer holds the lines around the place that was asked for: the grid takes them from here. */
export const askAhead = async (what, values = {}) => {
  const { version, run } = state;
  const answer = await ask(what, { ...values, block: BLOCK });
  /* Lines of an answer that was overtaken are numbered for another width. */
  if (version === state.version && run === state.run) {
    state.ahead = answer.lines ? { start: answer.start, lines: answer.lines, total: answer.total } : null;
  }
  return answer;
};

export const say = (text) => {
  const place = at("compare-said");
  if (place) {
    place.textContent = text;
  }
};
export const failed = (error) => {
  const place = at("compare-place");
  if (place) {
    place.textContent = error.message;
  }
  say(error.message);
};
