/* Neurons: plotly's strict bundle (it needs no eval, which the policy of the pages forbids), and the plain plots. */
import { colours, inTime, layout, margin, plain, withLegend } from "./axes.js";
import * as exporting from "./exports.js";
import * as recordings from "./recording.js";
import * as naming from "./words.js";
import { text } from "../shared/texts.js";

const BUNDLE = "/assets/vendor/plotly/plotly-strict.min.js";

/* Other pages draw with Dash's own bundle under the same global name, so that name is given back. */
let loading;
export const load = () => {
  loading ||= new Promise((resolve, reject) => {
    const before = window.Plotly;
    const script = document.createElement("script");
    script.src = BUNDLE;
    script.addEventListener("load", () => {
      const strict = window.Plotly;
      if (before) {
        window.Plotly = before;
      }
      resolve(strict);
    });
    script.addEventListener("error", () => {
      loading = undefined;
      script.remove();
      reject(new Error(text("neurons.live.no_plots")));
    });
    document.head.append(script);
  });
  return loading;
};

const CONFIG = { displayModeBar: false, doubleClick: false, responsive: true, showTips: false };

/* What is out of sight is drawn when it comes into sight: a token that is chosen changes seven plots. */
const drawn = new Set();
const inSight = new Set();
const waiting = new Map();
const catchUp = async (place) => {
  const late = waiting.get(place);
  waiting.delete(place);
  if (late?.data) {
    await (await load()).react(place, late.data, late.wanted, CONFIG);
  }
  if (late?.axis) {
    await (await load()).relayout(place, late.axis);
  }
};
const watch = new IntersectionObserver(
  (entries) =>
    entries.forEach(({ target, isIntersecting }) => {
      inSight[isIntersecting ? "add" : "delete"](target);
      if (isIntersecting) {
        catchUp(target);
      }
    }),
  { rootMargin: "80px" },
);

export const draw = async (id, data, wanted) => {
  const plotly = await load();
  const place = document.getElementById(`neurons-${id}`);
  if (!place) {
    return undefined;
  }
  place.removeAttribute("aria-busy");
  if (drawn.has(place) && !inSight.has(place)) {
    waiting.set(place, { data, wanted });
    return place;
  }
  if (!drawn.has(place)) {
    place.replaceChildren();
    drawn.add(place);
    inSight.add(place);
    watch.observe(place);
  }
  waiting.delete(place);
  await plotly.react(place, data, wanted, CONFIG);
  return place;
};
/* Another part of the time, without drawing the plot anew. */
export const slide = async (id, range, tokens) => {
  const place = document.getElementById(`neurons-${id}`);
  if (drawn.has(place)) {
    const { xaxis } = inTime(range, tokens, {});
    const axis = Object.fromEntries(
      ["range", "tickvals", "ticktext", "minor"].map((name) => [`xaxis.${name}`, xaxis[name]]),
    );
    waiting.set(place, { ...waiting.get(place), axis });
    if (inSight.has(place)) {
      await catchUp(place);
    }
  }
};
export const say = (id, words) => {
  const place = document.getElementById(`neurons-${id}-said`);
  if (place && place.textContent !== words) {
    place.textContent = words;
  }
};
/* What was drawn is out of date: it is hidden until something else is drawn, or until there is nothing. */
export const wait = (id) => {
  const place = document.getElementById(`neurons-${id}`);
  if (place) {
    waiting.delete(place);
    place.setAttribute("aria-busy", "true");
    say(id, text("neurons.live.loading"));
  }
};
export const nothing = async (id, words) => {
  const place = document.getElementById(`neurons-${id}`);
  if (place) {
    waiting.delete(place);
    watch.unobserve(place);
    if (drawn.delete(place)) {
      (await load()).purge(place);
    }
    place.replaceChildren();
    place.removeAttribute("aria-busy");
    say(id, words);
  }
};
export const leave = async () => {
  if (drawn.size) {
    const plotly = await load();
    drawn.forEach((place) => plotly.purge(place));
    [drawn, inSight, waiting].forEach((each) => each.clear());
    watch.disconnect();
  }
};

/* Where the axes of a plot lie in its box: legends may have moved them. */
export const areaOf = (place) => place._fullLayout._size;

/* The band over a token. */
export const band = (place, token, [from, end]) => {
  let shown = place.querySelector(":scope > .neurons-band");
  if (!shown) {
    shown = document.createElement("div");
    shown.className = "neurons-band";
    place.append(shown);
  }
  const area = areaOf(place);
  const width = area.w;
  const left = Math.max(0, ((token - from) / (end - from)) * width);
  const right = Math.min(width, ((token + 1 - from) / (end - from)) * width);
  shown.hidden = right <= 0 || left >= width;
  Object.assign(shown.style, {
    left: `${area.l + left}px`,
    width: `${Math.max(2, right - left)}px`,
    top: `${area.t}px`,
    height: `${area.h}px`,
  });
};

export const number = (value, digits = 0) =>
  value.toLocaleString(document.documentElement.lang, { minimumFractionDigits: digits, maximumFractionDigits: digits });
export const rate = (value) => number(value, 3);
export const signs = () => [
  ["excitatory", text("neurons.live.excitatory"), colours().plus, "solid", "triangle-up"],
  ["inhibitory", text("neurons.live.inhibitory"), colours().minus, "dot", "triangle-down"],
];

/* Rates of both signs; inhibition is drawn downwards as well as in its own colour. */
export const rates = (id, values, perToken, range, tokens) => {
  const steps = Math.round(values.excitatory.length / tokens);
  const data = signs().map(([sign, name, colour, , symbol]) => ({
    type: "scatter",
    mode: perToken && tokens <= 80 ? "lines+markers" : "lines",
    name: `${sign === "excitatory" ? "▲" : "▼"} ${name}`,
    x: values[sign].map((_, at) => (at + 0.5) / steps),
    y: values[sign].map((value) => (sign === "excitatory" ? value : -value)),
    customdata: values[sign].map((value, at) => [value, Math.floor(at / steps) + 1, (at % steps) + 1]),
    line: { color: colour, width: 1.5, shape: "hvh" },
    marker: { color: colour, symbol, size: 5 },
    fill: "tozeroy",
    fillcolor: `${colour}33`,
    hovertemplate: `${plain(perToken ? text("neurons.live.token_hover") : text("neurons.live.step_hover"))}<extra>${plain(name)}</extra>`,
  }));
  const most = recordings.greatest(values.excitatory, recordings.greatest(values.inhibitory, 0.01)) * 1.08;
  const ticks = [-1, -0.5, 0, 0.5, 1].map((share) => share * Number((most / 1.2).toPrecision(1)));
  const y = {
    title: text("neurons.live.rate_short"),
    range: [-most, most],
    tickmode: "array",
    tickvals: ticks,
    zeroline: true,
    zerolinecolor: colours().muted,
    ticktext: ticks.map((value) => String(Number(Math.abs(value).toPrecision(2)))),
  };
  return draw(id, data, inTime(range, tokens, y, withLegend(true)));
};

export const heat = (id, map, range, tokens, [least, most]) => {
  const now = colours();
  const names = map.layers.map((layer) => naming.layerShort(layer));
  const rows = map.layers.map((_, row) => row);
  const apart = Math.ceil(rows.length / 12);
  const data = [
    {
      type: "heatmap",
      z: map.rates,
      x: map.rates[0].map((_, s) => s + 0.5),
      y: rows,
      zmin: least,
      zmax: most,
      xgap: 0,
      colorscale: [
        [0, now.sunken],
        [1, now.accent],
      ],
      colorbar: {
        orientation: "h",
        thickness: 8,
        lenmode: "pixels",
        len: 160,
        x: 1,
        xanchor: "right",
        xpad: 16,
        y: 1.02,
        yanchor: "bottom",
        ypad: 0,
        tickmode: "array",
        tickvals: [least, most],
        ticktext: [rate(least), rate(most)],
        tickfont: { size: 11, color: now.muted },
        outlinewidth: 0,
      },
      customdata: map.rates.map((row, at) => row.map((_, s) => [names[at], s + 1])),
      hovertemplate: `${plain(text("neurons.live.heat_hover"))}<extra></extra>`,
    },
  ];
  const ticks = rows.filter((row) => row % apart === 0 || map.layers[row] < 0);
  const y = {
    title: text("neurons.live.layer_axis"),
    tickmode: "array",
    tickvals: ticks,
    ticktext: ticks.map((row) => names[row]),
    range: [rows.length - 0.5, -0.5],
    showgrid: false,
  };
  return draw(id, data, { ...inTime(range, tokens, y), margin: { ...margin(id === "heat"), t: 32 } });
};

/* Shares of all tokens as bars, of the chosen token as diamonds over them. */
export const shares = (id, bars, marks, x, mark) => {
  const now = colours();
  const data = [
    {
      type: "bar",
      name: text("neurons.live.all_tokens"),
      x: bars.x,
      y: bars.y,
      width: bars.width,
      marker: { color: now.muted },
      hovertemplate: `${plain(bars.hover)}<extra></extra>`,
    },
    {
      type: "scatter",
      mode: "markers",
      name: mark,
      x: marks.x,
      y: marks.y,
      marker: { color: now.accent, symbol: "diamond-open", size: 9, line: { width: 2 } },
      hovertemplate: `${plain(bars.hover)}<extra></extra>`,
    },
  ];
  const wanted = layout(x, { title: bars.axis, rangemode: "tozero", nticks: 5, tickformat: ".0%" }, withLegend());
  return draw(id, data, wanted);
};

export const save = async (id, form, title) => {
  const place = document.getElementById(`neurons-${id}`);
  const plotly = await load();
  if (!drawn.has(place)) {
    return;
  }
  await catchUp(place);
  const name = `evorag-${id}`;
  if (form !== "csv") {
    await plotly.downloadImage(place, {
      format: form,
      filename: name,
      width: place.clientWidth,
      height: place.clientHeight,
      scale: form === "png" ? 2 : 1,
    });
    return;
  }
  const quote = (cell) => (/[",\n]/.test(String(cell)) ? `"${String(cell).replaceAll('"', '""')}"` : String(cell));
  const lines = [["trace", "x", "y", "value"]];
  for (const trace of place.data) {
    const isMap = trace.type === "heatmap";
    const rows = isMap
      ? trace.z.flatMap((row, at) => row.map((value, s) => [trace.y[at], s, value]))
      : [...trace.x].map((x, at) => [x, trace.y[at]]);
    rows.forEach(([x, y, value]) => lines.push(isMap ? ["", y, x, value] : [trace.name || title, x, y, ""]));
  }
  exporting.keep(
    new Blob([lines.map((line) => line.map(quote).join(",")).join("\r\n")], { type: "text/csv" }),
    `${name}.csv`,
  );
};
