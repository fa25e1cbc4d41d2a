/* Documents: the formats and cells of the grid, and what is done with what is chosen in it. What a user wrote is only
   ever text. */
import { go, offer, setProps, skip } from "../shared/dash.js";
import { chooseInList, showList } from "../shared/lists.js";
import { exact, relative } from "../shared/texts.js";
import { whenGrid } from "../shell/grid.js";

const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
const components = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
const element = (...parts) => window.React.createElement(...parts);
const icon = (name) => element("span", { className: `icon icon-${name}`, "aria-hidden": "true" });
const MEANINGS = {
  ok: "check-circle-fill",
  working: "arrow-repeat",
  warning: "exclamation-triangle-fill",
  error: "x-circle-fill",
  neutral: "dash-circle",
};

/* ---- formats ---------------------------------------------------------------------------------------------------- */
const numbers = new Intl.NumberFormat("en");
functions.evoNumber = (params) => (params.value == null ? "" : numbers.format(params.value));
functions.evoSize = (params) => {
  let amount = params.value ?? 0;
  let unit = "B";
  for (const next of ["KB", "MB", "GB"]) {
    if (amount < 1023.5) {
      break;
    }
    amount /= 1024;
    unit = next;
  }
  const digits = unit === "B" || amount >= 99.5 ? 0 : 1;
  return `${amount.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits })} ${unit}`;
};
functions.evoVersions = (params) => `${params.data.published ?? "–"} / ${params.value}`;
const shortly = new Intl.DateTimeFormat(document.documentElement.lang, {
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
});
functions.evoAgo = (params) => relative(new Date(params.value), "short");
functions.evoMoment = (params) => (params.value ? exact(new Date(params.value)) : "");
functions.evoWord = (params, name) => params.context.words[name];

/* ---- cells ------------------------------------------------------------------------------------------------------ */
const follow = (event) => {
  if (event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)) {
    event.preventDefault();
    go(event.currentTarget.getAttribute("href"));
  }
};
components.DocumentName = (props) =>
  element(
    "a",
    {
      href: props.context.address + encodeURIComponent(props.data.key),
      className: "cell-name",
      title: props.value,
      onClick: follow,
    },
    icon(props.context.icons[props.data.type] || "file-earmark-text"),
    element("span", null, props.value),
  );
components.DocumentTags = (props) =>
  element(
    "span",
    { className: "chips" },
    ...String(props.value || "")
      .split(", ")
      .filter(Boolean)
      .map((tag) => element("span", { className: "chip", key: tag }, tag)),
  );
components.DocumentState = (props) => {
  const words = props.context.words;
  const meaning = words[`meaning_${props.value}`] || "neutral";
  const { scheduled, hidden, in_part: inPart } = props.data;
  const state = element(
    "span",
    { className: `meaning meaning-${meaning}` },
    icon(MEANINGS[meaning]),
    element("span", null, words[`state_${props.value}`] || props.value),
  );
  if (inPart) {
    const next = element("span", { className: "state-next", title: inPart }, inPart);
    return element("span", { className: "state-cell" }, state, next);
  }
  if (!scheduled && !hidden) {
    return state;
  }
  const next = scheduled
    ? words.next_scheduled.replace("{time}", () => shortly.format(new Date(scheduled)))
    : words.next_hidden.replace("{number}", () => String(hidden));
  const title = scheduled ? exact(new Date(scheduled)) : next;
  return element("span", { className: "state-cell" }, state, element("span", { className: "state-next", title }, next));
};
components.DocumentEdit = (props) =>
  props.value
    ? element(
        "button",
        {
          type: "button",
          className: "cell-button",
          title: props.context.words.edit,
          "aria-label": `${props.context.words.edit}: ${props.data.name}`,
          onClick: () => setProps("documents-edited", { data: { key: props.data.key, at: Date.now() } }),
        },
        icon("pencil"),
      )
    : null;

/* ---- the list of documents --------------------------------------------------------------------------------------- */
const GRID = "documents-grid";
const api = () => {
  try {
    return window.dash_ag_grid.getApi(GRID);
  } catch {
    return null;
  }
};
const whenReady = (act) => {
  const look = (tries) => {
    const grid = api();
    if (grid) {
      act(grid);
    } else if (tries > 0) {
      window.setTimeout(() => look(tries - 1), 60);
    }
  };
  whenGrid(() => look(50));
};
let words = {};
const tell = () => {
  const chosen = api()?.getSelectedNodes().length ?? 0;
  return chosen ? words.selected.replace("{count}", () => numbers.format(chosen)) : words.shown;
};
const say = () => {
  const place = document.getElementById("documents-count");
  if (place) {
    place.textContent = tell();
  }
};
/* The server has sorted: the heads only say how, and ask for another order. */
functions.evoAsGiven = () => 0;
functions.evoSorted = ({ api: grid }) => {
  const sorted = grid.getColumnState().find((column) => column.sort);
  if (sorted && (sorted.colId !== words.sort || sorted.sort !== words.order)) {
    words = { ...words, sort: sorted.colId, order: sorted.sort };
    chooseInList({ sort: sorted.colId, order: sorted.sort });
  }
};
const told = (given) => {
  words = given;
  whenReady((grid) => {
    grid.applyColumnState({ state: [{ colId: words.sort, sort: words.order }], defaultState: { sort: null } });
    /* The rows come with the words: what was chosen on the page before is chosen no more. */
    window.setTimeout(() => {
      say();
      const [noDelete, noRestore] = nothingTo(grid);
      setProps("documents-delete", { disabled: noDelete });
      setProps("documents-restore", { disabled: noRestore });
    }, 100);
  });
  return words.shown;
};
const can = (row, action) => row.state !== "purged" && (row.state === "deleted") === (action === "restore");
/* A grid whose page was left meanwhile has nothing chosen. */
const nothingTo = (grid) => {
  const rows = grid.getSelectedRows() ?? [];
  return ["delete", "restore"].map((action) => !rows.some((row) => can(row, action)));
};
const selected = () => {
  const grid = api();
  if (!grid) {
    return [true, true];
  }
  say();
  return nothingTo(grid);
};
const choose = () => {
  const trigger = window.dash_clientside.callback_context.triggered_id;
  const action = trigger === "documents-restore" ? "restore" : "delete";
  const rows = api()?.getSelectedRows() ?? [];
  const keys = rows.filter((row) => can(row, action)).map((row) => row.key);
  if (!keys.length) {
    return skip();
  }
  setProps(GRID, { selectedRows: [] });
  return { action, keys, at: Date.now() };
};
/* Where a document has changed, the list is asked for again: it may stand elsewhere, or nowhere on this page. */
const apply = (changes) => {
  if (!changes?.keys?.length) {
    return skip();
  }
  showList();
  return Date.now();
};
const count = (text, name, limit) => {
  const length = Array.from(text || "").length;
  const over = length > limit;
  const blank = !(text || "").trim() || !(name || "").trim();
  const shown = `${numbers.format(length)} / ${numbers.format(limit)}`;
  return [shown, over ? "counter counter-over" : "counter", over || blank, over || blank];
};

offer({ documents: { told, selected, choose, apply, count } });
