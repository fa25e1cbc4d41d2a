/* Neurons: what is drawn of the recording on screen, and what is said below it. */
import * as membranes from "./membrane.js";
import * as plots from "./plots.js";
import * as rasters from "./raster.js";
import * as recordings from "./recording.js";
import * as tables from "./tables.js";
import * as naming from "./words.js";
import { text } from "../shared/texts.js";

export const drawHeat = async (view) => {
  const map = view.mapOf(view.kind);
  const [least, most] = tables.extremes([map]);
  await plots.heat("heat", map, view.span, view.tokens.count, [least, most]);
  plots.say(
    "heat",
    text("neurons.live.heat", { kind: naming.kindName(view.kind), least: plots.rate(least), most: plots.rate(most) }),
  );
  view.listen("heat");
};

export const drawRates = async (view) => {
  const { summary } = view;
  await plots.rates("steps", summary.rate_per_step, false, view.span, view.tokens.count);
  await plots.rates("rates", summary.rate_per_token, true, view.span, view.tokens.count);
  const told = {
    neurons: summary.neurons,
    spikes: summary.spikes,
    rate: plots.rate(summary.rate),
    steps: summary.steps,
  };
  plots.say("steps", text("neurons.live.steps", told));
  const each = summary.rate_per_token.excitatory.map((value, at) => value + summary.rate_per_token.inhibitory[at]);
  const most = recordings.placeOfGreatest(each);
  plots.say(
    "rates",
    text("neurons.live.rates", { number: most + 1, words: view.tokens.shown(most), rate: plots.rate(each[most]) }),
  );
  view.listen("steps");
  view.listen("rates");
};

export const drawRaster = async (view) => {
  if (!view.rows) {
    return;
  }
  const before = performance.now();
  await rasters.raster(view.rows, view.summary, view.span, view.height);
  view.timings.raster = performance.now() - before;
  view.listen("raster");
  view.mark();
};

/* How the neurons fire at the chosen token, counted here, beside all tokens. */
export const drawShares = async (view) => {
  const { summary, rows, token, turn } = view;
  if (!summary || !rows) {
    return;
  }
  const { steps } = rows;
  const { counts, apart } = rows.firing(token);
  const mark = text("neurons.live.this_token", { number: token + 1 });
  const { edges, counts: all } = summary.rate_histogram;
  const width = edges[1] - edges[0];
  const last = Math.max(
    all.findLastIndex((count) => count > 0),
    0,
  );
  const neurons = (values) => values.map((count) => count / Math.max(rows.count, 1));
  await plots.shares(
    "histogram",
    {
      x: edges.slice(0, -1).map((edge) => edge + width / 2),
      y: neurons(all),
      width,
      axis: text("neurons.live.share_neurons"),
      hover: text("neurons.live.histogram_hover"),
    },
    { x: counts.map((_, count) => count / steps), y: neurons(counts) },
    {
      title: text("neurons.live.rate_axis"),
      range: [-width, Math.max(edges[last + 1], counts.findLastIndex((count) => count > 0) / steps) + width],
      nticks: 6,
    },
    mark,
  );
  if (turn !== view.turn) {
    return;
  }
  plots.say(
    "histogram",
    text("neurons.live.histogram", {
      silent: plots.number((100 * counts[0]) / Math.max(rows.count, 1), 1),
      token: token + 1,
      neurons: rows.count,
    }),
  );
  const isi = summary.isi_histogram;
  const pairs = isi.counts.reduce((sum, count) => sum + count, isi.longer);
  const pairsHere = apart.reduce((sum, count) => sum + count, 0);
  if (pairs === 0) {
    await plots.nothing("intervals", text("neurons.live.no_intervals"));
    return;
  }
  await plots.shares(
    "intervals",
    {
      x: isi.counts.map((_, at) => at + 1),
      y: isi.counts.map((count) => count / pairs),
      width: 0.9,
      axis: text("neurons.live.share_intervals"),
      hover: text("neurons.live.intervals_hover"),
    },
    isi.within_token
      ? { x: apart.map((_, at) => at + 1), y: apart.map((count) => count / Math.max(pairsHere, 1)) }
      : { x: [], y: [] },
    { title: text("neurons.live.interval_axis"), dtick: Math.ceil(isi.counts.length / 12) },
    mark,
  );
  plots.say(
    "intervals",
    text(isi.within_token ? "neurons.live.intervals_within" : "neurons.live.intervals", { count: pairs }),
  );
};

export const drawMembrane = async (view) => {
  if (view.traced) {
    const { told, part } = view.traced;
    const at = Number(document.getElementById("neurons-neuron").value);
    await membranes.membrane(told, part.spikes, view.recording.meta.code, at, view.token, part.name);
  }
};
