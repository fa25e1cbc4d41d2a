/* The cells of the Compare page. What a document holds is only ever the text of an element, never markup. */
const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});
const components = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});
const element = (...parts) => window.React.createElement(...parts);
const icon = (name) => element("span", { className: `icon icon-${name}`, "aria-hidden": "true" });
export const fill = (template, values) => {
  const message =
    typeof template === "object"
      ? template[document.documentElement.lang === "en" && values.count === 1 ? "one" : "other"]
      : template;
  return message.replace(/\{(\w+)\}/g, (sign, name) =>
    typeof values[name] === "number" ? values[name].toLocaleString("en") : (values[name] ?? sign),
  );
};

/* Signs that turn the order of reading round, or cannot be seen, are drawn as a box, so that nothing hides. */
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;
const seen = (text) => text.replace(UNSEEN, "\u25a1");

export const current = { row: -1, found: "", outline: false };
functions.evoCompareIsFold = (params) => Boolean(params.rowNode.data && params.rowNode.data.fold !== null);
functions.evoCompareIsCurrent = (params) => Boolean(params.data) && params.data.row === current.row;

/* ---- the text of both versions ------------------------------------------------------------------------------------ */
const SIGNS = { removed: "\u2212", added: "+", changed: "\u00b1", moved: "\u21c5" };
const kindOf = (line, column) => {
  if (line.change === "equal") {
    return "";
  }
  if (line.move !== null) {
    return column === "old" && line.change === "added"
      ? ""
      : column === "new" && line.change === "removed"
        ? ""
        : "moved";
  }
  if (column === "old") {
    return line.change === "added" ? "" : "removed";
  }
  if (column === "new") {
    return line.change === "removed" ? "" : "added";
  }
  return line.change;
};
const hasSide = (line, column) =>
  column === "merged" || (column === "old" ? line.change !== "added" : line.change !== "removed");

/* The found words are marked within a piece, whatever the case of their letters. */
const marked = (text, key) => {
  const wanted = current.found.toLowerCase();
  const lower = text.toLowerCase();
  if (!wanted || lower.length !== text.length || !lower.includes(wanted)) {
    return [seen(text)];
  }
  const parts = [];
  let at = 0;
  for (let next = lower.indexOf(wanted); next >= 0; next = lower.indexOf(wanted, at)) {
    parts.push(seen(text.slice(at, next)));
    parts.push(
      element("mark", { key: `${key}-${next}`, className: "found" }, seen(text.slice(next, next + wanted.length))),
    );
    at = next + wanted.length;
  }
  parts.push(seen(text.slice(at)));
  return parts;
};
const piece =
  (words, whole) =>
  ([op, text], at) => {
    if (op === "equal" || whole) {
      return element("span", { key: at }, ...marked(text, at));
    }
    return element(op === "removed" ? "del" : "ins", { key: at, title: words[op] }, ...marked(text, at));
  };
/* The sign before a line; that of a moved one leads to its other place. */
const sign = (line, kind, words) => {
  if (kind === "moved" && line.line === 0 && line.move_target !== null) {
    const title = words[line.change === "removed" ? "moved_to" : "moved_from"];
    const link = { type: "button", className: "line-sign move-link", title, "aria-label": title, tabIndex: -1 };
    return element("button", { ...link, "data-compare-row": String(line.move_target) }, "\u21c5");
  }
  if (!kind || line.line > 0) {
    return element("span", { className: "line-sign", "aria-hidden": "true" }, kind ? "\u00b7" : "");
  }
  return element(
    "span",
    { className: "line-sign", role: "img", "aria-label": words[kind], title: words[kind] },
    SIGNS[kind],
  );
};

/* Lines are broken for letters of the usual width. Wider ones, as capitals may be, are set closer; far wider ones have
   the face in which all are of one width. */
const CLOSEST = 0.85;
const fitted = (text) => {
  if (!text) {
    return;
  }
  text.classList.remove("is-tight");
  text.style.letterSpacing = "";
  const lacking = text.scrollWidth - text.clientWidth;
  if (lacking <= 0) {
    return;
  }
  text.classList.toggle("is-tight", text.clientWidth < CLOSEST * text.scrollWidth);
  if (!text.classList.contains("is-tight")) {
    text.style.letterSpacing = `${-(lacking + 1) / text.textContent.length}px`;
  }
};

components.CompareText = (props) => {
  const line = props.data;
  const column = props.column.getColId();
  if (!line) {
    return element("div", { className: "diff-line line-loading" });
  }
  const words = props.context.words;
  if (!hasSide(line, column)) {
    return element("div", { className: "diff-line line-none" });
  }
  const kind = kindOf(line, column);
  const whole = line.change !== "changed" && !line.edited;
  const name = `diff-line${kind ? ` line-${kind}` : ""}${line.heading ? " line-heading" : ""} kind-${line.kind}`;
  return element(
    "div",
    { className: name },
    sign(line, kind, words),
    element("span", { className: "line-text", ref: fitted }, ...(line[column] || []).map(piece(words, whole))),
  );
};

components.CompareNumber = (props) => {
  const line = props.data;
  const side = props.column.getColId();
  const value = line ? line[side] : null;
  if (value === null || value === undefined) {
    return element("div", { className: "line-number" });
  }
  return element("div", { className: "line-number", title: props.context.words.link_here }, value.toLocaleString("en"));
};

components.CompareFold = (props) => {
  const line = props.data;
  const words = props.context.words;
  const heading = line.path.length ? line.path[line.path.length - 1] : "";
  const part = current.outline ? "fold_whole" : heading ? "fold_under" : "fold";
  const key = line.fold_changed ? "fold_outline" : part;
  const label = fill(words[key], {
    count: line.fold,
    changed: line.fold_changed,
    heading: seen(heading) || words.start,
  });
  const button = element(
    "button",
    {
      type: "button",
      className: "fold-line",
      "data-compare-fold": String(line.row),
      "data-count": String(line.fold),
      tabIndex: -1,
    },
    icon("chevron-right"),
    element("span", null, label),
  );
  return element("div", { role: "gridcell", className: "fold-cell" }, button);
};

/* ---- cells of tables -------------------------------------------------------------------------------------------------- */
const SHORT = 48;
components.CompareSign = (props) => {
  const signs = props.context.signs;
  return props.value
    ? element("span", { className: `row-sign row-${props.value}`, title: signs[props.value] }, SIGNS[props.value])
    : null;
};
components.CompareCell = (props) => {
  const [change, before, now] = props.value || ["", null, null];
  const old = seen(before ?? "");
  const text = seen(now ?? "");
  if (!change) {
    return element("span", { className: "cell-same", title: text }, text);
  }
  const was = `${props.context.was} ${old || "\u2013"}`;
  if (change === "removed") {
    return element("span", { className: "cell-removed", title: was }, element("del", null, old));
  }
  if (change === "added") {
    return element("span", { className: "cell-added" }, element("ins", null, text));
  }
  const short = old.length + text.length <= SHORT;
  return element(
    "span",
    { className: "cell-changed", title: was },
    short ? element("del", null, old) : icon("pencil"),
    short ? element("span", { className: "arrow", "aria-hidden": "true" }, "\u2192") : null,
    element("ins", null, text),
  );
};
