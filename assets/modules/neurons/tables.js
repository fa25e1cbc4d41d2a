/* Neurons: the chosen recording (solid, filled) beside another one (dashed, open). */
import * as axes from "./axes.js";
import * as plots from "./plots.js";
import * as naming from "./words.js";
import { make, sentences, text } from "../shared/texts.js";

const table = (place, heads, rows) => {
  const shown = make("table", "neurons-rows");
  const head = shown.createTHead().insertRow();
  heads.forEach((words) => {
    const cell = make("th", "", words);
    cell.scope = "col";
    head.append(cell);
  });
  const body = shown.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    row.forEach((words, at) => {
      const cell = make(at === 0 ? "th" : "td", "", words);
      if (at === 0) {
        cell.scope = "row";
      }
      line.append(cell);
    });
  }
  place.replaceChildren(shown);
};

const { number, rate } = plots;
const share = (value) => `${number(value * 100, 1)}%`;
const known = (value, digits) => (value === null ? "–" : number(value, digits));

export const populations = (place, rows) => {
  const heads = ["population", "neurons", "spikes", "inhibitory", "rate", "per_token", "silent", "residual"];
  table(
    place,
    heads.map((name) => text(`neurons.live.table.${name}`)),
    rows.map((row) => [
      row.name,
      number(row.neurons),
      number(row.spikes),
      share(row.spikes ? row.inhibitory / row.spikes : 0),
      rate(row.rate),
      number(row.per_neuron_and_token, 2),
      share(row.silent),
      known(row.residual, 3),
    ]),
  );
};

/* Rates of the chosen kind from layer to layer, in both recordings. */
const both = (found, kind, names) => {
  const kinds = kind === "all" ? [...new Set(found.populations.map((each) => each.kind))] : [kind];
  const of = (layer, side) => {
    const here = found.populations.filter((each) => each.layer === layer && kinds.includes(each.kind));
    const neurons = here.reduce((sum, each) => sum + each.neurons, 0);
    return here.reduce((sum, each) => sum + each[side] * each.neurons, 0) / neurons;
  };
  const chosen = found.populations.filter((each) => kinds.includes(each.kind));
  const layers = [...new Set(chosen.map((each) => each.layer))].sort((a, b) => (a < 0) - (b < 0) || a - b);
  const now = axes.colours();
  const data = [
    ["rate_a", now.accent, "solid", "circle"],
    ["rate_b", now.minus, "dash", "square-open"],
  ].map(([side, colour, dash, symbol], at) => ({
    type: "scatter",
    mode: "lines+markers",
    name: axes.plain(names[at]),
    x: layers.map((_, place) => place),
    y: layers.map((layer) => of(layer, side)),
    line: { color: colour, width: 2, dash },
    marker: { color: colour, symbol, size: 7 },
    text: layers.map(naming.layerName),
    hovertemplate: `%{text}: %{y:.3f}<extra>${axes.plain(names[at])}</extra>`,
  }));
  const apart = Math.ceil(layers.length / 12);
  const ticks = layers.map((_, place) => place).filter((place) => place % apart === 0);
  const x = {
    title: text("neurons.live.layer_axis"),
    tickmode: "array",
    tickvals: ticks,
    ticktext: ticks.map((place) => naming.layerShort(layers[place])),
    showgrid: false,
  };
  const y = { title: text("neurons.live.rate_short"), rangemode: "tozero", nticks: 5 };
  return plots.draw("both", data, axes.layout(x, y, axes.withLegend()));
};

/* isLatest: whether this is still what is asked for when an answer comes */
export const comparison = async (mine, other, kind, names, isLatest) => {
  const [found, map, ownMap] = await Promise.all([mine.compare(other.id), other.heat(), mine.heat()]);
  if (!isLatest()) {
    return;
  }
  document.getElementById("neurons-comparison").hidden = false;
  const told = {
    cosine: known(found.cosine, 3),
    rate_a: rate(found.rate_a),
    rate_b: rate(found.rate_b),
    tokens_a: found.tokens_a,
    tokens_b: found.tokens_b,
  };
  const said = text(found.role ? "neurons.live.both_answers" : "neurons.live.both", told);
  plots.say("both", sentences([said, ...naming.notesOf(found)]));
  table(
    document.getElementById("neurons-differ"),
    ["population", "neuron", "rate_a", "rate_b", "difference"].map((name) => text(`neurons.live.table.${name}`)),
    found.neurons.map((each) => [
      each.population,
      String(each.neuron),
      rate(each.rate_a),
      rate(each.rate_b),
      number(each.rate_b - each.rate_a, 3),
    ]),
  );
  plots.say("other", text("neurons.live.other", { name: names[1], count: map.tokens }));
  await both(found, kind, names);
  if (!isLatest()) {
    return;
  }
  const here = map.maps.find((each) => each.kind === kind) || map.maps[0];
  const own = ownMap.maps.find((each) => each.kind === kind) || map.maps[0];
  await plots.heat("other", here, [0, map.tokens], map.tokens, extremes([here, own]));
};

/* The least and the greatest rate of heat maps that share a scale. */
export const extremes = (maps) => {
  const rates = maps.flatMap((map) => map.rates.flat());
  const least = rates.reduce((low, value) => Math.min(low, value), 1);
  return [
    least,
    Math.max(
      rates.reduce((high, value) => Math.max(high, value), 0),
      least + 0.001,
    ),
  ];
};
