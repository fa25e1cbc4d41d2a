/* Neurons: what is pressed and changed on the page reaches the recording on screen. */
import "./files.js";
import * as drawing from "./drawing.js";
import * as exporting from "./exports.js";
import * as plots from "./plots.js";
import { Recording } from "./recording.js";
import { show, View } from "./view.js";
import { go, offer, skip } from "../shared/dash.js";

let view;

/* ---- what is pressed */
document.addEventListener("change", (event) => {
  const { id, value } = event.target;
  if (id === "neurons-recording") {
    go(`/neurons?recording=${encodeURIComponent(value)}`);
  } else if (view?.isHere && view.tokens) {
    if (id === "neurons-layer" || id === "neurons-kind") {
      view[id.slice("neurons-".length)] = value;
      const { layers } = view.mapOf(view.kind);
      if (
        (view.kind === "all" && view.layer === "all") ||
        (view.layer !== "all" && !layers.includes(Number(view.layer)))
      ) {
        view.layer = String(layers[Math.floor(layers.length / 2)]);
      }
      view.fields();
      view.attempt(async () => {
        await view.select();
        if (view.other) {
          await view.beside(view.other);
        }
      });
    } else if (id === "neurons-with") {
      view.attempt(() => view.beside(value));
    } else if (id === "neurons-neuron") {
      view.attempt(() => drawing.drawMembrane(view));
    }
  }
});
const pressed = {
  previous: () => view.choose(Math.max(0, view.token - 1)),
  next: () => view.choose(Math.min(view.tokens.count - 1, view.token + 1)),
  play: () => view.tokens.play(!view.tokens.isPlaying),
  reset: () => view.zoom(null, null),
};
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-neurons], [data-neurons-save], [data-neurons-export]");
  if (button?.dataset.neuronsExport) {
    event.preventDefault();
  }
  if (!button || !view?.isHere || !view.tokens) {
    return;
  }
  if (button.dataset.neuronsExport) {
    view.attempt(() => exporting.send(button, view));
  } else if (button.dataset.neuronsSave) {
    const { figure, neuronsSave } = button.dataset;
    plots.save(figure, neuronsSave, document.getElementById(`neurons-${figure}-title`).textContent);
  } else {
    pressed[button.dataset.neurons]?.();
  }
});
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (target.id === "neurons-export" && target.open && view?.isHere && view.tokens) {
      exporting.sayPart(view);
    }
  },
  true,
);
document.addEventListener("evorag:theme", () => {
  if (view?.isHere && view.rows) {
    view.attempt(async () => {
      await drawing.drawRaster(view);
      await Promise.all([
        drawing.drawRates(view),
        drawing.drawHeat(view),
        drawing.drawShares(view),
        drawing.drawMembrane(view),
      ]);
      if (view.other) {
        await view.beside(view.other);
      }
    });
  }
});
let resizing = 0;
window.addEventListener("resize", () => {
  window.clearTimeout(resizing);
  resizing = window.setTimeout(() => view?.isHere && view.rows && drawing.drawRaster(view), 150);
});

const open = (given) => {
  view?.tokens?.play(false);
  plots.leave();
  if (given?.id) {
    view = new View(new Recording(given.id), new URLSearchParams(window.location.search));
    show(view);
    view.attempt(() => view.start());
  }
  return skip();
};
offer({ neurons: { open } });
