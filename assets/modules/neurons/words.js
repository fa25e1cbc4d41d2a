/* Neurons: the words for layers and kinds, for what a recording leaves out, and for what to mind in a comparison. */
import { sentences, text } from "../shared/texts.js";

const HEAD = -1;
const NOTES = { codes: ["codes"], neurons: ["neurons"], codes_and_neurons: ["codes", "neurons"] };

/* Only the last population of a language model belongs to no layer; a file from elsewhere has no layers at all. */
let head = "–";
export const nameHead = (kinds) => {
  head = kinds.includes("head_input") ? text("neurons.live.head") : "–";
};
export const layerShort = (layer) => (layer === HEAD ? head : String(layer));
export const layerName = (layer) => (layer === HEAD ? head : text("neurons.live.layer", { number: String(layer) }));
export const kindName = (kind) => {
  if (kind === "all") {
    return text("neurons.live.all_kinds");
  }
  const words = text(`neurons.live.kind.${kind}`);
  return words.startsWith("neurons.live.") ? kind : words;
};
export const nameOf = (layer, kind) => (layer === HEAD ? kind : `layers.${layer}.${kind}`);
export const chosenName = ({ layer, kind }) =>
  [layer === "all" ? text("neurons.live.all_layers") : layerName(Number(layer)), kindName(kind)]
    .filter((name) => name !== "–")
    .join(" · ");

export const sayLeftOut = ({ currents, thinned, tokens, membranes, absent, foreign }) => {
  const place = document.getElementById("neurons-left-out");
  const said = [
    thinned > 1 && text("neurons.live.left_thinned", { factor: thinned }),
    tokens > 0 && text("neurons.live.left_tokens", { count: tokens }),
    membranes > 0 && text("neurons.live.left_membranes", { count: membranes }),
    currents && text("neurons.live.left_currents"),
    absent > 0 && text("neurons.live.left_absent", { count: absent }),
    foreign && text("neurons.live.left_foreign"),
  ].filter(Boolean);
  place.hidden = !said.length;
  place.querySelector(":scope > span:last-child").textContent = sentences(said);
};

export const notesOf = (found) => {
  const shared = found.populations.reduce((sum, each) => sum + each.neurons, 0);
  return (NOTES[found.note_code] || []).map((name) => text(`neurons.live.note_${name}`, { neurons: shared }));
};
