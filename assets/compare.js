/* The Compare page: lines for the grid as they come into sight, steps from change to change, search, and the address.

   The address holds how the comparison is shown. Looking at something else in the same two versions changes it without
   asking the server for the page again; the back button undoes it here as well. */
(() => {
  const { current, fill } = window.evorag.compareCells;
  const GRID = "compare-grid";
  const ROUTE = "/api/v1/compare";
  const TEXT_PAD = 34;
  const NARROW = 700;
  const BLOCK = 100;
  const root = () => document.getElementById("compare");
  const skip = () => window.dash_clientside.no_update;
  const at = (id) => document.getElementById(id);
  let state = null;

  /* ---- the address -------------------------------------------------------------------------------------------------- */
  const address = () => new URLSearchParams(window.location.search);
  const samePair = (search, pair) =>
    search.get("doc") === pair.doc &&
    search.get("old") === String(pair.old) &&
    search.get("new") === String(pair.new) &&
    (search.get("other") || null) === pair.other;
  const remember = (changes, { push = false } = {}) => {
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
  const go = (target) => {
    if (target?.address) {
      const [path, query] = target.address.split("?");
      const search = new URLSearchParams(query);
      for (const name of ["mode", "folded", "view"]) {
        const kept = address().get(name);
        if (kept && !search.has(name)) {
          search.set(name, kept);
        }
      }
      window.evorag.go(`${path}?${search}`);
    }
    return skip();
  };

  /* ---- asking the server ---------------------------------------------------------------------------------------------- */
  const ask = async (what, values = {}) => {
    const search = new URLSearchParams({ doc: state.pair.doc, old: state.pair.old, new: state.pair.new });
    const shown = {
      other: state.pair.other,
      mode: state.mode,
      width: state.width,
      folded: state.folded ? null : "0",
      outline: state.outline ? "1" : null,
      chapter: state.chapter,
      open: [...state.open].join(",") || null,
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
  const askAhead = async (what, values = {}) => {
    const answer = await ask(what, { ...values, block: BLOCK });
    state.ahead = answer.lines ? { start: answer.start, lines: answer.lines, total: answer.total } : null;
    return answer;
  };
  const askView = (values) => askAhead("view", values);
  const say = (text) => {
    const place = at("compare-said");
    if (place) {
      place.textContent = text;
    }
  };
  const failed = (error) => {
    const place = at("compare-place");
    if (place) {
      place.textContent = error.message;
    }
    say(error.message);
  };

  /* ---- the grid ------------------------------------------------------------------------------------------------------- */
  const cellWidth = () => {
    const probe = document.createElement("span");
    probe.className = "line-probe";
    document.body.append(probe);
    const widths = ["0", "\u3042"].map((sign) => {
      probe.textContent = sign.repeat(100);
      return probe.getBoundingClientRect().width / 100;
    });
    probe.remove();
    return Math.max(widths[0], widths[1] / 2) || 8;
  };
  const columnsOf = (mode) => (mode === "side" ? ["old", "new"] : ["merged"]);
  const arrange = () => {
    const { grid, mode } = state;
    grid.setColumnsVisible(["old", "new"], mode === "side");
    grid.setColumnsVisible(["merged"], mode === "inline");
    const numbers = at(GRID).clientWidth < NARROW ? 40 : 56;
    grid.setColumnWidths(["old_no", "new_no"].map((key) => ({ key, newWidth: numbers })));
    const width = grid.getColumn(columnsOf(mode)[0]).getActualWidth();
    const cells = Math.floor((width - TEXT_PAD) / state.cell);
    return Math.min(1000, Math.max(12, cells - (cells % 2)));
  };
  const source = (version) => ({
    getRows: async (wanted) => {
      try {
        const ahead = state.ahead;
        state.ahead = ahead?.start === wanted.startRow ? null : ahead;
        const found = ahead && !state.ahead ? ahead : await ask("rows", { start: wanted.startRow, end: wanted.endRow });
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
  const topRow = () => {
    const first = state.grid?.getFirstDisplayedRowIndex?.() ?? -1;
    return first > 0 ? (state.grid.getDisplayedRowAtIndex(first)?.data?.row ?? -1) : -1;
  };

  /* Lines are numbered anew for another width, mode or fold; the row that was seen first stays first. */
  const reload = async ({ row = -1, keep = true } = {}) => {
    const top = keep && row < 0 ? topRow() : -1;
    state.width = arrange();
    current.outline = state.outline;
    state.version += 1;
    const version = state.version;
    try {
      const view = await askView({ row: row < 0 ? null : row, top: top < 0 ? null : top });
      if (version !== state.version) {
        return;
      }
      state.open = new Set(view.open);
      state.total = view.total;
      state.changes = view.changes;
      state.grid.setGridOption("datasource", source(version));
      state.grid.setRowCount(view.total, true);
      tell();
      const position = row >= 0 ? view.position : view.top;
      if (position !== null && position !== undefined) {
        show(position, row >= 0 ? "middle" : "top");
      }
    } catch (error) {
      failed(error);
    }
  };
  const show = (position, where) => {
    state.grid.ensureIndexVisible(position, where);
    state.position = position;
    if (where === "middle" && at(GRID).getBoundingClientRect().top > window.innerHeight / 2) {
      document.querySelector(".compare-tabs").scrollIntoView({ block: "start" });
    }
  };
  const mark = (row) => {
    const before = current.row;
    current.row = row;
    const nodes = [];
    state.grid.forEachNode((node) => {
      if (node.data && (node.data.row === before || node.data.row === row)) {
        nodes.push(node);
      }
    });
    state.grid.redrawRows({ rowNodes: nodes });
  };
  const tell = (index = 0) => {
    const place = at("compare-place");
    const words = state.words;
    if (place) {
      place.textContent = index
        ? fill(words.place, { index, count: state.changes })
        : fill(words.changes, { count: state.changes });
    }
  };

  /* ---- ways to a place -------------------------------------------------------------------------------------------------- */
  const jump = async (row, { focus = false } = {}) => {
    if (state.view !== "text") {
      look("text");
    }
    try {
      let view = await askView({ row });
      if (view.position === null && state.chapter !== null) {
        choose({ chapter: null }, { quiet: true });
        view = await askView({ row });
      }
      if (view.position === null) {
        return;
      }
      if (view.open.length !== state.open.size) {
        opened(view);
      }
      show(view.position, "middle");
      mark(row);
      remember({ row });
      if (focus) {
        focusLine(view.position);
      }
    } catch (error) {
      failed(error);
    }
  };
  const opened = (view) => {
    state.open = new Set(view.open);
    state.total = view.total;
    state.changes = view.changes;
    state.grid.setRowCount(view.total, true);
    state.grid.refreshInfiniteCache();
    tell();
  };
  const focusLine = (position) => {
    const columns = columnsOf(state.mode);
    const line = state.grid.getDisplayedRowAtIndex(position)?.data;
    const column = line && line.change === "added" && state.mode === "side" ? columns[1] : columns[0];
    state.grid.setFocusedCell(position, column);
  };
  const step = async (to, inGrid) => {
    if (!state?.grid) {
      return;
    }
    try {
      const found = await askAhead("step", { from: state.position < 0 ? null : state.position, to });
      if (found.position === null) {
        say(found.text);
        return;
      }
      show(found.position, "middle");
      mark(found.row);
      tell(found.index);
      say(found.text);
      remember({ row: found.row });
      if (inGrid) {
        focusLine(found.position);
      }
    } catch (error) {
      failed(error);
    }
  };
  const openFold = async (row, count) => {
    state.open.add(row);
    try {
      opened(await askView({ top: row }));
      say(fill(state.words.unfolded, { count }));
    } catch (error) {
      failed(error);
    }
  };

  /* ---- search inside ------------------------------------------------------------------------------------------------------ */
  let asking = 0;
  const find = async (text, { jumps = true } = {}) => {
    const wanted = text.trim();
    const number = ++asking;
    current.found = wanted;
    remember({ find: wanted });
    if (!wanted) {
      state.found = [];
      at("compare-found").textContent = "";
      state.grid.redrawRows();
      return;
    }
    try {
      const { rows } = await ask("find", { q: wanted });
      if (number !== asking) {
        return;
      }
      state.found = rows;
      state.foundAt = -1;
      state.grid.redrawRows();
      at("compare-found").textContent = rows.length ? fill(state.words.found, { count: rows.length }) : state.words.found_none;
      if (rows.length && jumps) {
        findNext(1);
      }
    } catch (error) {
      failed(error);
    }
  };
  const findNext = (by) => {
    const rows = state.found;
    if (!rows.length) {
      return;
    }
    state.foundAt = (state.foundAt < 0 && by < 0 ? rows.length - 1 : state.foundAt + by + rows.length) % rows.length;
    at("compare-found").textContent = fill(state.words.found_place, { index: state.foundAt + 1, count: rows.length });
    jump(rows[state.foundAt]);
  };

  /* ---- what is shown, and how ---------------------------------------------------------------------------------------------- */
  const look = (view, { push = true } = {}) => {
    state.view = view;
    for (const tab of document.querySelectorAll("[data-compare-view]")) {
      const here = tab.dataset.compareView === view;
      tab.setAttribute("aria-selected", String(here));
      tab.tabIndex = here ? 0 : -1;
      const panel = at(tab.getAttribute("aria-controls"));
      if (panel) {
        panel.hidden = !here;
      }
    }
    window.dash_clientside.set_props("compare-shown-view", { data: view });
    if (push) {
      remember({ view: view === "text" ? null : view }, { push: true });
    }
    if (view === "text" && state.grid) {
      measure();
    }
  };
  const press = () => {
    for (const button of document.querySelectorAll("[data-compare-mode]")) {
      button.setAttribute("aria-pressed", String(button.dataset.compareMode === state.mode));
    }
    for (const button of document.querySelectorAll("[data-compare-chapter]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.compareChapter) === state.chapter));
    }
    const fold = at("compare-fold");
    if (fold) {
      fold.value = state.outline ? "outline" : state.folded ? "1" : "0";
    }
    const chapter = at("compare-chapter");
    if (chapter) {
      chapter.value = state.chapter === null ? "all" : String(state.chapter);
    }
  };
  const choose = (changes, { quiet = false } = {}) => {
    const before = [state.mode, state.folded, state.outline, state.chapter].join();
    const top = topRow();
    Object.assign(state, changes);
    if ([state.mode, state.folded, state.outline, state.chapter].join() === before) {
      return;
    }
    if ("folded" in changes || "outline" in changes || "chapter" in changes) {
      state.open = new Set();
      state.position = -1;
    }
    press();
    const shown = { mode: state.chosenMode, folded: state.folded ? null : "0", outline: state.outline ? "1" : null };
    remember({ ...shown, chapter: state.chapter }, { push: !quiet });
    if (state.grid) {
      reload({ row: "chapter" in changes ? -1 : top, keep: false });
    }
  };
  const measure = () => {
    if (!state?.grid || state.view !== "text" || !at(GRID)?.clientWidth) {
      return;
    }
    const mode = state.chosenMode || (at(GRID).clientWidth < NARROW ? "inline" : "side");
    if (mode !== state.mode) {
      state.mode = mode;
      press();
    }
    if (arrange() !== state.width) {
      reload();
    }
  };

  /* ---- beginning ------------------------------------------------------------------------------------------------------------ */
  const wholeNumber = (text) => (/^\d{1,9}$/.test(text || "") ? Number(text) : -1);
  const read = () => {
    const search = address();
    const mode = search.get("mode");
    return {
      chosenMode: mode === "side" || mode === "inline" ? mode : null,
      folded: search.get("folded") !== "0",
      outline: search.get("outline") === "1",
      chapter: wholeNumber(search.get("chapter")) >= 0 ? wholeNumber(search.get("chapter")) : null,
      view: document.querySelector(`[data-compare-view="${CSS.escape(search.get("view") || "text")}"]`)
        ? search.get("view") || "text"
        : "text",
    };
  };
  let watching = null;
  const start = (pair) => {
    if (!pair || !root()) {
      return skip();
    }
    watching?.disconnect();
    state = { pair, ...read(), open: new Set(), ahead: null, version: 0, position: -1, found: [], foundAt: -1, words: {}, grid: null };
    current.row = -1;
    current.found = "";
    press();
    remember({});
    if (root().dataset.isEqual === "true") {
      return skip();
    }
    const mine = state;
    const begin = (tries = 200) => {
      let grid = null;
      try {
        grid = window.dash_ag_grid.getApi(GRID);
      } catch {
        grid = null;
      }
      if (state !== mine || !root()) {
        return;
      }
      if (!grid || !at(GRID) || grid.isDestroyed?.()) {
        if (tries > 0) {
          window.setTimeout(() => begin(tries - 1), 20);
        }
        return;
      }
      ready(grid);
    };
    begin();
    return skip();
  };
  const ready = (grid) => {
    const search = address();
    state.grid = grid;
    state.words = grid.getGridOption("context").words;
    state.cell = cellWidth();
    state.mode = state.chosenMode || (at(GRID).clientWidth && at(GRID).clientWidth < NARROW ? "inline" : "side");
    press();
    const row = wholeNumber(search.get("row"));
    current.row = row;
    at(GRID).querySelector("[role=grid], [role=treegrid]")?.setAttribute("aria-label", state.words.grid);
    grid.addEventListener("cellKeyDown", pressed);
    grid.addEventListener("fullWidthCellKeyDown", pressed);
    grid.addEventListener("cellClicked", clicked);
    const begun = state;
    reload({ row, keep: false }).then(() => {
      const text = search.get("find");
      if (text && state === begun) {
        at("compare-find").value = text;
        find(text, { jumps: row < 0 });
      }
    });
    let waiting = 0;
    watching = new ResizeObserver(() => {
      window.clearTimeout(waiting);
      waiting = window.setTimeout(measure, 150);
    });
    watching.observe(at(GRID));
  };
  const pressed = ({ event, data }) => {
    if (event?.key === "Enter" && data) {
      if (data.fold !== null) {
        openFold(data.row, data.fold);
      } else if (data.move_target !== null) {
        jump(data.move_target, { focus: true });
      }
    }
  };
  const clicked = ({ column, data, rowIndex }) => {
    if (data && column?.getColId().endsWith("_no")) {
      state.position = rowIndex;
      mark(data.row);
      remember({ row: data.row });
      say(state.words.linked);
    }
  };

  /* ---- what people do -------------------------------------------------------------------------------------------------------- */
  const copy = async () => {
    const words = state.words;
    try {
      await navigator.clipboard.writeText(window.location.href);
      say(words.copied);
      at("compare-place").textContent = words.copied;
    } catch {
      at("compare-place").textContent = words.not_copied;
    }
  };
  const DOES = {
    next: () => step("next"),
    previous: () => step("previous"),
    copy,
    "find-next": () => findNext(1),
    "find-previous": () => findNext(-1),
  };
  document.addEventListener("click", (event) => {
    const target = event.target.closest?.(
      "[data-compare-do], [data-compare-mode], [data-compare-view], [data-compare-chapter], [data-compare-fold], [data-compare-row]",
    );
    if (!target || !state || !root()?.contains(target)) {
      return;
    }
    const { compareDo, compareMode, compareView, compareChapter, compareFold, compareRow } = target.dataset;
    if (compareView) {
      look(compareView);
    } else if (!state.grid) {
      return;
    } else if (compareDo) {
      DOES[compareDo]();
    } else if (compareMode) {
      choose({ mode: compareMode, chosenMode: compareMode });
    } else if (compareChapter) {
      const chapter = Number(compareChapter);
      choose({ chapter: state.chapter === chapter ? null : chapter });
    } else if (compareFold) {
      openFold(Number(compareFold), Number(target.dataset.count));
    } else {
      if (target.dataset.cell) {
        settle(target);
      }
      jump(Number(compareRow));
    }
  });
  document.addEventListener("change", (event) => {
    if (!state?.grid) {
      return;
    }
    if (event.target.id === "compare-fold") {
      choose({ folded: event.target.value !== "0", outline: event.target.value === "outline" });
    } else if (event.target.id === "compare-chapter") {
      choose({ chapter: event.target.value === "all" ? null : Number(event.target.value) });
    }
  });

  let typing = 0;
  document.addEventListener("input", (event) => {
    if (event.target.id === "compare-find" && state?.grid) {
      window.clearTimeout(typing);
      typing = window.setTimeout(() => find(event.target.value), 250);
    } else if (event.target.classList?.contains("image-range")) {
      event.target.closest(".image-compare").style.setProperty("--at", `${event.target.value}%`);
    }
  });
  const finding = (event) => {
    event.preventDefault();
    if (current.found === event.target.value.trim()) {
      findNext(event.shiftKey ? -1 : 1);
    } else {
      window.clearTimeout(typing);
      find(event.target.value);
    }
  };

  /* The strip is a slider whose steps are the parts that changed. */
  const settle = (cell) => {
    const strip = at("compare-strip");
    strip.setAttribute("aria-valuenow", cell.dataset.cell);
    strip.setAttribute("aria-valuetext", cell.dataset.words);
    for (const other of strip.querySelectorAll(".heat-here")) {
      other.classList.remove("heat-here");
    }
    cell.classList.add("heat-here");
  };
  const slide = (event) => {
    const cells = [...document.querySelectorAll("#compare-strip [data-cell]")];
    const here = cells.findIndex((cell) => cell.classList.contains("heat-here"));
    const target = {
      ArrowDown: here + 1,
      ArrowRight: here + 1,
      ArrowUp: Math.max(here - 1, 0),
      ArrowLeft: Math.max(here - 1, 0),
      Home: 0,
      End: cells.length - 1,
    }[event.key];
    if (target === undefined || !cells.length) {
      return;
    }
    event.preventDefault();
    const cell = cells[Math.min(target, cells.length - 1)];
    settle(cell);
    jump(Number(cell.dataset.compareRow));
  };
  const turn = (event) => {
    const tabs = [...document.querySelectorAll("[data-compare-view]")];
    const here = tabs.indexOf(event.target.closest("[data-compare-view]"));
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (by && here >= 0) {
      event.preventDefault();
      const tab = tabs[(here + by + tabs.length) % tabs.length];
      look(tab.dataset.compareView);
      tab.focus();
    }
  };
  const writing = (target) => target.closest?.("input, textarea, select, [contenteditable]");
  document.addEventListener("keydown", (event) => {
    if (!state || !root() || event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) {
      return;
    }
    if (event.target.id === "compare-find" && event.key === "Enter" && !event.isComposing && state.grid) {
      finding(event);
    } else if (event.target.id === "compare-strip" && state.grid) {
      slide(event);
    } else if (event.target.closest?.("[data-compare-view]")) {
      turn(event);
    }
    if ((event.key === "n" || event.key === "p") && !writing(event.target) && state.grid && state.view === "text") {
      event.preventDefault();
      step(event.key === "n" ? "next" : "previous", Boolean(event.target.closest?.(`#${GRID}`)));
    } else if (event.key === "Escape") {
      at("compare-export")?.removeAttribute("open");
    }
  });
  document.addEventListener("click", (event) => {
    const menu = at("compare-export");
    if (menu?.open && !menu.contains(event.target)) {
      menu.removeAttribute("open");
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

  /* Steps of a long run end in the next one. */
  const again = (run) => {
    if (run?.ids && run.at < run.ids.length && at("compare-impact-progress")) {
      window.dash_clientside.set_props("compare-impact-next", { data: run });
    }
    return skip();
  };

  window.addEventListener(
    "popstate",
    (event) => {
      if (!state || !root() || window.location.pathname !== "/compare" || !samePair(address(), state.pair)) {
        return;
      }
      event.stopImmediatePropagation();
      const before = [state.mode, state.folded, state.outline, state.chapter].join();
      const { view, ...shown } = read();
      Object.assign(state, shown);
      if (state.grid) {
        state.mode = state.chosenMode || (at(GRID).clientWidth && at(GRID).clientWidth < NARROW ? "inline" : "side");
      }
      press();
      look(view, { push: false });
      if (state.grid && [state.mode, state.folded, state.outline, state.chapter].join() !== before) {
        state.open = new Set();
        reload({ row: wholeNumber(address().get("row")), keep: false });
      }
    },
    true,
  );

  window.dash_clientside = Object.assign({}, window.dash_clientside, { compare: { go, start, again } });
})();
