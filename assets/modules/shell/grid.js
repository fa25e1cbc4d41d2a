/* AG Grid, a third of what the first page took, is fetched when the first grid is drawn. Until then the name that Dash
   looks for stands for a component that fetches it; afterwards, too, so that a grid on the page is not made anew. */
import { text } from "../shared/texts.js";

const { createElement, useEffect, useState } = window.React;
const TRIES_MS = [0, 500, 2000, 5000];
const source = document.querySelector('meta[name="evorag-grid"]')?.content;
const waiting = [];
let fetching;
let made;

const fetched = () =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = source;
    script.addEventListener("load", resolve);
    script.addEventListener("error", () => {
      script.remove();
      reject(new Error(source));
    });
    document.head.append(script);
  });
const load = async () => {
  for (const wait of TRIES_MS) {
    await new Promise((resolve) => window.setTimeout(resolve, wait));
    try {
      await fetched();
      break;
    } catch (error) {
      if (wait === TRIES_MS.at(-1)) {
        fetching = undefined;
        throw error;
      }
    }
  }
  const library = window.dash_ag_grid;
  made = library.AgGrid;
  window.dash_ag_grid = { ...library, AgGrid: Object.assign(AgGrid, made) };
  waiting.splice(0).forEach((act) => act());
};
const AgGrid = (props) => {
  const [state, setState] = useState("fetching");
  useEffect(() => {
    if (made || state !== "fetching") {
      return undefined;
    }
    let isThere = true;
    fetching ||= load();
    fetching.then(
      () => isThere && setState("made"),
      () => isThere && setState("failed"),
    );
    return () => {
      isThere = false;
    };
  }, [state]);
  if (made) {
    return createElement(made, props);
  }
  if (state === "failed") {
    const again = { type: "button", className: "btn btn-light", onClick: () => setState("fetching") };
    return createElement(
      "p",
      { className: "grid-missing", role: "alert" },
      text("connection.no_grid"),
      " ",
      createElement("button", again, text("connection.again")),
    );
  }
  const { id, className, style } = props;
  return createElement("div", { id, className, style, "aria-busy": "true" });
};
/* What Dash reads of a component before it first draws one. */
AgGrid.dashRenderType = true;

/* Where Dash has put the library on the page itself, it stays as it is. */
const isLater = Boolean(source) && !window.dash_ag_grid;
if (isLater) {
  window.dash_ag_grid = { AgGrid };
}

/* Do it once grids can be asked for what they show. */
export const whenGrid = (act) => {
  if (isLater && !made) {
    waiting.push(act);
  } else {
    act();
  }
};

/* The theme of every grid, from the tokens of the styles; Dash looks for it by this name. */
const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});

functions.evoGridTheme = (_theme, agGrid) =>
  agGrid.themeQuartz.withParams({
    accentColor: "var(--ev-accent)",
    backgroundColor: "var(--ev-surface)",
    foregroundColor: "var(--ev-text)",
    textColor: "var(--ev-text)",
    headerBackgroundColor: "var(--ev-surface)",
    headerTextColor: "var(--ev-muted)",
    headerFontWeight: 600,
    borderColor: "var(--ev-border)",
    rowHoverColor: "var(--ev-sunken)",
    selectedRowBackgroundColor: "var(--ev-accent-soft)",
    oddRowBackgroundColor: "var(--ev-surface)",
    fontFamily: "var(--ev-font)",
    fontSize: 14,
    cellHorizontalPadding: 10,
    wrapperBorderRadius: "var(--ev-radius)",
    browserColorScheme: "inherit",
  });
