/* Neurons: how plots look: colours out of the theme, margins, axes and legends. Plots over time share their margins, so
   that what is below each other is at one time. */
import { text } from "../shared/texts.js";

const LEFT = 64;
const NAMED = 120;
const RIGHT = 16;
const MARGIN = { l: LEFT, r: RIGHT, t: 8, b: 40 };
const NARROW_PX = 600;
const FEW = 60;

export const colours = () => {
  const style = getComputedStyle(document.documentElement);
  const root = document.getElementById("neurons");
  const own = (name) => style.getPropertyValue(`--ev-${name}`).trim();
  return {
    text: own("text"),
    muted: own("muted"),
    border: own("border"),
    surface: own("surface"),
    sunken: own("sunken"),
    accent: own("accent"),
    font: own("font"),
    plus: root.dataset.excitatory,
    minus: root.dataset.inhibitory,
  };
};
/* Plotly reads labels as markup. */
export const plain = (words) =>
  String(words).replace(/[&<>]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[sign]);

const narrow = () => window.innerWidth < NARROW_PX;
/* Plots over time make room together for the names of kinds beside the raster. */
let named = false;
export const makeRoom = (isNamed) => {
  named = isNamed;
};
export const margin = (isInTime) => ({
  ...MARGIN,
  ...(narrow() ? { l: 48, r: 4 } : {}),
  ...(named && isInTime ? { l: NAMED } : {}),
});
export const layout = (x, y, more = {}) => {
  const now = colours();
  const axis = {
    gridcolor: now.border,
    zeroline: false,
    color: now.muted,
    linecolor: now.border,
    tickfont: { size: 12 },
    fixedrange: true,
    automargin: false,
  };
  return {
    margin: margin(),
    paper_bgcolor: now.surface,
    plot_bgcolor: now.surface,
    template: "none",
    dragmode: "zoom",
    font: { family: now.font, size: 12, color: now.text },
    showlegend: false,
    bargap: 0.08,
    hoverlabel: { font: { family: now.font, size: 12 } },
    uirevision: "kept",
    ...more,
    xaxis: { ...axis, ...x, title: { text: x.title || "", font: { size: 12 }, standoff: 6 } },
    yaxis: { ...axis, ...y, title: { text: y.title || "", font: { size: 12 }, standoff: 4 } },
  };
};
/* The axis of tokens: token s lies from s to s + 1, numbered from 1. */
export const inTime = (range, tokens, y, more) => {
  const [from, to] = range;
  const apart = Math.max(1, Math.ceil((to - from) / (narrow() ? 5 : 12)));
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500].find((each) => each >= apart) || Math.ceil(apart / 1000) * 1000;
  const ticks = [];
  for (
    let s = Math.max(0, Math.ceil(from / step) * step - 1);
    s < Math.min(tokens, to);
    s += s === 0 && step > 1 ? step - 1 : step
  ) {
    ticks.push(s);
  }
  const bounds = Array.from(
    { length: Math.max(0, Math.floor(to) - Math.ceil(from) + 1) },
    (_, at) => Math.ceil(from) + at,
  );
  return layout(
    {
      range: [from, to],
      fixedrange: false,
      title: text("neurons.live.token_axis"),
      showgrid: false,
      tickmode: "array",
      tickvals: ticks.map((s) => s + 0.5),
      ticktext: ticks.map((s) => String(s + 1)),
      /* Tokens are told apart by lines where there is room for them. */
      minor: {
        tickmode: "array",
        tickvals: to - from <= FEW ? bounds : [],
        showgrid: true,
        gridcolor: colours().border,
        ticks: "",
      },
      minallowed: 0,
      maxallowed: tokens,
    },
    y,
    more,
  );
};
const legend = {
  showlegend: true,
  legend: { orientation: "h", itemsizing: "constant", x: 1, xanchor: "right", y: 1.02, yanchor: "bottom" },
};
export const withLegend = (isInTime) => ({ ...legend, margin: { ...margin(isInTime), t: 28 } });
