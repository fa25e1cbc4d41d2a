/* Neurons: the raster of spikes in WebGL. Of more neurons than the window has room for every second, third, … is
   drawn, each with all of its spikes, and the caption says so; a closer look shows more of them. */
import * as axes from "./axes.js";
import * as plots from "./plots.js";
import { sentences, text } from "../shared/texts.js";

const ROW_PX = 1.5;
const MARKS = 40_000;
/* Where marks cover each other neither sign lies on top: they are drawn in so many turns. */
const TURNS = 12;
const SHAPED_PX = 5;
const TICKS = 6;
/* all, some neurons, some tokens, some neurons at some tokens */
const RASTER_SAID = ["all", "thinned", "tokens", "both"].map((name) => `neurons.live.raster_${name}`);

/* What is chosen, population after population: a row a neuron. */
export class Rows {
  /* factor: the recording keeps one neuron in so many */
  constructor(populations, factor) {
    this.count = 0;
    this.factor = factor;
    this.parts = populations.map(({ name, label, spikes }) => {
      const part = { name, label, spikes, first: this.count };
      this.count += spikes.neurons;
      return part;
    });
    [
      {
        spikes: { steps: this.steps, tokens: this.tokens },
      },
    ] = this.parts;
  }

  /* the population of a row, and the neuron in it */
  of(row) {
    const part = this.parts.findLast((each) => each.first <= row);
    return { ...part, neuron: row - part.first };
  }

  /* At a token: how many neurons fire 0, 1, 2, … times, and how many pairs of spikes lie 1, 2, … steps apart. */
  firing(token) {
    const { steps, tokens } = this;
    const counts = new Array(steps + 1).fill(0);
    const apart = new Array(Math.max(steps - 1, 1)).fill(0);
    const fired = new Uint8Array(steps);
    for (const {
      spikes: { bytes, width, half, neurons },
    } of this.parts) {
      for (let place = 0; place < width; place += 1) {
        for (let step = 0; step < steps; step += 1) {
          const at = (step * tokens + token) * width + place;
          fired[step] = bytes[at] | bytes[half + at];
        }
        const bits = Math.min(8, neurons - place * 8);
        for (let bit = 0; bit < bits; bit += 1) {
          let sum = 0;
          let last = -1;
          for (let step = 0; step < steps; step += 1) {
            if ((fired[step] >> bit) & 1) {
              sum += 1;
              if (last >= 0) {
                apart[step - last - 1] += 1;
              }
              last = step;
            }
          }
          counts[sum] += 1;
        }
      }
    }
    return { counts, apart };
  }
}

const thinned = (rows, view, plotPx, rate) => {
  const seen = Math.max(1, view.to - view.from);
  const columns = Math.max(1, view.end - view.start) * rows.steps;
  const apart = Math.ceil(seen / Math.max(20, plotPx / ROW_PX));
  /* A window of very many tokens shows whole tokens, evenly chosen. */
  const tokensApart = Math.ceil((columns * 20 * Math.max(rate, 0.01)) / MARKS);
  return { apart: Math.max(apart, Math.ceil((seen * columns * rate) / tokensApart / MARKS)), tokensApart };
};

/* turn after turn, and in each by sign; which turn a mark has its place alone decides */
const marks = (rows, view, { apart, tokensApart }) => {
  const found = Array.from({ length: TURNS }, () => [[], []].map(() => ({ x: [], y: [] })));
  const { steps, tokens } = rows;
  const begin = Math.ceil(view.from / apart) * apart;
  for (let row = begin; row < view.to; row += apart) {
    const { spikes, neuron } = rows.of(row);
    const { bytes, width, half } = spikes;
    const bit = 1 << (neuron & 7);
    for (let step = 0; step < steps; step += 1) {
      let place = (step * tokens + view.start) * width + (neuron >> 3);
      for (let token = view.start; token < view.end; token += tokensApart, place += width * tokensApart) {
        const sign = bytes[place] & bit ? 0 : bytes[half + place] & bit ? 1 : -1;
        if (sign >= 0) {
          const { x, y } = found[(row * 7 + token * 5 + step * 11) % TURNS][sign];
          x.push(token + (step + 0.5) / steps);
          y.push(row);
        }
      }
    }
  }
  return found;
};

const windowOf = (rows, range, height) => {
  const [low, high] = height || [-0.5, rows.count - 0.5];
  return {
    start: Math.max(0, Math.floor(range[0])),
    end: Math.min(rows.tokens, Math.ceil(range[1])),
    from: Math.max(0, Math.ceil(Math.min(low, high))),
    to: Math.min(rows.count, Math.floor(Math.max(low, high)) + 1),
  };
};

/* Neurons keep their numbers where the recording holds only every second, fourth, … of them. */
const numbers = ({ factor }, view) => {
  if (factor === 1) {
    return {};
  }
  const least = Math.max(1, (view.to - view.from) / TICKS);
  const power = 10 ** Math.floor(Math.log10(least));
  const apart = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= least);
  const first = Math.ceil(view.from / apart) * apart;
  const rows = Array.from({ length: Math.max(0, Math.ceil((view.to - first) / apart)) }, (_, at) => first + at * apart);
  return { tickmode: "array", tickvals: rows, ticktext: rows.map((row) => String(row * factor)) };
};

const labels = (rows, view) => {
  if (rows.parts.length === 1) {
    return numbers(rows, view);
  }
  const seen = rows.parts.filter((part) => part.first + part.spikes.neurons > view.from && part.first < view.to);
  const apart = Math.ceil(seen.length / 10);
  const shown = seen.filter((_, at) => at % apart === 0);
  return {
    title: "",
    tickmode: "array",
    tickvals: shown.map((part) => Math.max(part.first, view.from)),
    ticktext: shown.map((part) => axes.plain(part.label)),
  };
};

export const raster = async (rows, summary, range, height) => {
  const place = document.getElementById("neurons-raster");
  const view = windowOf(rows, range, height);
  const margin = { ...axes.margin(true), t: 28 };
  const plotPx = place.clientHeight - margin.t - margin.b;
  const widthPx = place.clientWidth - margin.l - margin.r;
  const thin = thinned(rows, view, plotPx, summary.rate);
  const found = marks(rows, view, thin);
  const rowPx = (plotPx * thin.apart) / Math.max(1, view.to - view.from);
  const columnPx = widthPx / Math.max(1, (view.end - view.start) * rows.steps);
  const size = Math.max(2, Math.min(10, rowPx, columnPx * 1.5));
  const isShaped = size >= SHAPED_PX;
  const data = found.flatMap((turn, number) => {
    const traces = plots.signs().map(([sign, name, colour, , symbol], at) => ({
      type: "scattergl",
      mode: "markers",
      name: `${sign === "excitatory" ? "▲" : "▼"} ${name}`,
      hoverinfo: "skip",
      legendgroup: sign,
      showlegend: number === 0,
      x: Float32Array.from(turn[at].x),
      y: Float32Array.from(turn[at].y),
      marker: { color: colour, size, symbol: isShaped ? symbol : "square", line: { width: 0 } },
    }));
    return number % 2 ? traces.reverse() : traces;
  });
  const y = {
    title: text("neurons.live.neuron_axis"),
    range: height || [rows.count - 0.5, -0.5],
    fixedrange: false,
    showgrid: false,
    nticks: TICKS,
    minallowed: -0.5,
    maxallowed: rows.count - 0.5,
    ...labels(rows, view),
  };
  await plots.draw("raster", data, { ...axes.inTime(range, rows.tokens, y, axes.withLegend()), margin });
  const shown = found.flat().reduce((sum, { x }) => sum + x.length, 0);
  const { apart, tokensApart } = thin;
  const told = { neurons: rows.count, spikes: summary.spikes, shown, apart, tokens_apart: tokensApart };
  plots.say(
    "raster",
    sentences([
      text(RASTER_SAID[Number(apart > 1) + 2 * Number(tokensApart > 1)], told),
      rows.factor > 1 ? text("neurons.live.raster_kept", { factor: rows.factor }) : "",
    ]),
  );
  return { shown, apart: thin.apart };
};
