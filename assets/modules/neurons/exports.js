/* Neurons: the spikes of what is chosen as files for other programs. */
import * as recordings from "./recording.js";
import * as naming from "./words.js";
import { size, text } from "../shared/texts.js";

/* of a line of the table beside the name of its population: neuron, token, step and sign */
const LINE_BYTES = 13;

/* The tokens in view, the first and the one after the last; all of them where the view is whole. */
const tokensOf = ({ range }) => range && [Math.floor(range[0]), Math.ceil(range[1])];

const address = (link, view) => {
  const wanted = recordings.partOf(view.layer, view.kind);
  wanted.set("form", link.dataset.neuronsExport);
  const tokens = tokensOf(view);
  if (tokens) {
    wanted.set("from", tokens[0]);
    wanted.set("to", tokens[1]);
  }
  return `${link.href.split("?")[0]}?${wanted}`;
};

/* About as large as the table will be. */
const tableBytes = ({ summary }, [from, end]) => {
  const { excitatory, inhibitory } = summary.rate_per_token;
  const rate = [excitatory, inhibitory].flatMap((rates) => rates.slice(from, end)).reduce((sum, each) => sum + each, 0);
  const name =
    summary.table.reduce((sum, row) => sum + row.name.length * row.neurons, 0) / Math.max(summary.neurons, 1);
  return rate * summary.neurons * summary.steps * (name + LINE_BYTES);
};

/* What the menu will export, said as it opens. */
export const sayPart = (view) => {
  const tokens = tokensOf(view);
  const [from, end] = tokens || [0, view.tokens.count];
  const said = {
    part: naming.chosenName(view),
    from: from + 1,
    to: end,
    size: view.summary ? size(tableBytes(view, [from, end])) : "–",
  };
  document.getElementById("neurons-export-part").textContent = text(
    tokens ? "neurons.live.export_part" : "neurons.live.export_all_tokens",
    said,
  );
};

export const keep = (content, name) => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  window.setTimeout(() => URL.revokeObjectURL(link.href), 1000);
};
const nameIn = (disposition) => {
  const coded = /filename\*=UTF-8''([^;]+)/i.exec(disposition);
  return coded ? decodeURIComponent(coded[1]) : /filename="?([^";]+)/.exec(disposition)?.[1] || "";
};

/* A table is as large as what is chosen, so the browser takes it as it comes; the other files are small and made
   before they are sent. What is refused is an error to read: a download would only be a file of it. */
export const send = async (link, view) => {
  const wanted = address(link, view);
  if (link.dataset.neuronsExport === "csv" && (await fetch(wanted, { method: "HEAD" })).ok) {
    window.location.assign(wanted);
    return;
  }
  const place = document.getElementById("neurons-export-said");
  place.textContent = text("neurons.live.exporting");
  try {
    const answer = await recordings.request(wanted);
    keep(await answer.blob(), nameIn(answer.headers.get("Content-Disposition") || ""));
  } finally {
    place.textContent = "";
  }
};
