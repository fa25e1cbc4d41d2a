/* Neurons: the membrane of one neuron around the chosen token, under the thresholds that it meets step by step. */
import * as axes from "./axes.js";
import * as plots from "./plots.js";
import * as recordings from "./recording.js";
import { text } from "../shared/texts.js";

const AROUND = 1;
const AROUND_STEPS = 30;

/* Thresholds halve from step to step, so they and the membrane are drawn on a scale of doublings around zero. */
const folded = (value) => Math.sign(value) * Math.log2(1 + Math.abs(value));

const scaleOf = (code) => {
  if (code === "few-spike") {
    return { place: folded, unit: "Δ", fires: (step, steps) => (step === steps - 1 ? 1 / 2 : 2 / 3) };
  }
  return { place: (value) => value, unit: code === "rate" ? "θ" : "", fires: () => 1 / 2 };
};

/* Times and potentials of the tokens around the chosen one: before each step, in units of Δ (few-spike) or θ. */
const traces = (told, spikes, at, neuron, token, scale) => {
  const around = spikes.steps > 1 ? AROUND : AROUND_STEPS;
  const from = Math.max(0, token - around);
  const end = Math.min(spikes.tokens, token + around + 1);
  const line = { x: [], y: [], customdata: [] };
  const over = { x: [], y: [] };
  const under = { x: [], y: [] };
  const fired = [
    { x: [], y: [] },
    { x: [], y: [] },
  ];
  for (let s = from; s < end; s += 1) {
    const { steps } = spikes;
    const unit = told.thresholds ? told.thresholds[steps - 1][s][at] || 1 : 1;
    for (let step = 0; step < steps; step += 1) {
      const theta = told.thresholds ? told.thresholds[step][s][at] / unit : 0;
      const sign = spikes.at(step, s, neuron);
      const before = told.potential[step][s][at] / unit + (told.thresholds ? theta * sign : 0);
      const x = s + step / steps;
      line.x.push(x);
      line.y.push(scale.place(before));
      line.customdata.push([plots.number(before, 2), s + 1, step + 1]);
      if (told.thresholds) {
        const limit = scale.place(theta * scale.fires(step, steps));
        over.x.push(x);
        over.y.push(limit);
        under.x.push(x);
        under.y.push(-limit);
      }
      if (sign) {
        const mark = fired[sign > 0 ? 0 : 1];
        mark.x.push(x + 0.5 / steps);
        mark.y.push(scale.place(before));
      }
    }
    if (steps === 1) {
      continue;
    }
    /* The membrane begins anew with each token. */
    const left = told.potential[steps - 1][s][at] / unit;
    for (const each of [line, over, under]) {
      each.x.push(s + 1, null);
      each.y.push(each === line ? scale.place(left) : each.y.at(-1), null);
    }
    line.customdata.push([plots.number(left, 2), s + 1, steps], null);
  }
  return { line, over, under, fired, range: [from, end] };
};

const ticksOf = (highest, scale) => {
  if (scale.place !== folded) {
    return {};
  }
  const powers = [];
  for (let power = 1; folded(power) <= highest + 1; power *= 4) {
    powers.push(power);
  }
  const values = [...powers.map((power) => -power).reverse(), 0, ...powers];
  return {
    tickmode: "array",
    tickvals: values.map(folded),
    ticktext: values.map((value) => String(value).replace("-", "−")),
  };
};

export const membrane = async (told, spikes, code, at, token, name) => {
  const scale = scaleOf(told.thresholds ? code : "");
  const neuron = told.idx[at];
  const found = traces(told, spikes, at, told.rows[at], token, scale);
  const now = axes.colours();
  const limit = {
    type: "scatter",
    mode: "lines",
    line: { color: now.muted, width: 1, shape: "hv" },
    hoverinfo: "skip",
  };
  const data = [
    ...(told.thresholds
      ? [
          { ...limit, ...found.over, name: text("neurons.live.threshold") },
          { ...limit, ...found.under, showlegend: false },
        ]
      : []),
    {
      type: "scatter",
      mode: "lines",
      name: text("neurons.live.potential"),
      ...found.line,
      line: { color: now.text, width: 2, shape: "hv" },
      hovertemplate: `${axes.plain(text("neurons.live.membrane_hover", { unit: scale.unit }))}<extra></extra>`,
    },
    ...plots.signs().map(([, words, colour, , symbol], each) => ({
      type: "scatter",
      mode: "markers",
      ...found.fired[each],
      name: words,
      showlegend: false,
      hoverinfo: "skip",
      marker: { color: colour, symbol, size: 10 },
    })),
  ];
  const highest = recordings.greatest([...found.line.y, ...found.over.y].filter(Number.isFinite).map(Math.abs));
  const y = {
    title: text(scale.unit ? "neurons.live.membrane_axis" : "neurons.live.membrane_axis_plain", { unit: scale.unit }),
    zeroline: true,
    zerolinecolor: now.border,
    ...ticksOf(highest, scale),
  };
  const wanted = axes.inTime(found.range, spikes.tokens, y, axes.withLegend());
  wanted.xaxis.fixedrange = true;
  await plots.draw("membrane", data, wanted);
  const signed = found.fired.map((each) => each.x.filter((x) => Math.floor(x) === token).length);
  plots.say(
    "membrane",
    text("neurons.live.membrane", {
      neuron: String(neuron),
      population: name,
      token: token + 1,
      excitatory: signed[0],
      inhibitory: signed[1],
    }),
  );
  return found.range;
};

/* The place of the traced neuron that fires most: it is shown first, as a silent one would show an empty plot. */
export const mostFiring = (told, spikes) =>
  recordings.placeOfGreatest(
    told.rows.map((neuron) => {
      let sum = 0;
      for (let step = 0; step < spikes.steps; step += 1) {
        for (let s = 0; s < spikes.tokens; s += 1) {
          sum += Math.abs(spikes.at(step, s, neuron));
        }
      }
      return sum;
    }),
  );
