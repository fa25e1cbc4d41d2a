/* Neurons: what is pressed and changed on the page reaches the recording on screen. */
(() => {
  const { text } = window.evorag;
  const tools = window.evorag.neurons;
  let view;

  tools.fail = (place, error, again) => {
    const problem = error.problem ? tools.problemOf(error) : { title: error.message };
    const line = document.createElement("div");
    line.className = "error-line";
    const words = document.createElement("span");
    words.textContent = window.evorag.sentences([problem.title, problem.detail, problem.remedy]);
    const code = document.createElement("code");
    code.textContent = problem.code || "";
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "btn btn-secondary btn-sm", textContent: text("neurons.live.again") });
    button.addEventListener("click", again);
    line.append(words, " ", code, " ", button);
    place.replaceChildren(line);
    document.querySelectorAll("#neurons [aria-busy]").forEach((each) => each.removeAttribute("aria-busy"));
  };

  /* ---- what is pressed */
  document.addEventListener("change", (event) => {
    const { id, value } = event.target;
    if (id === "neurons-recording") {
      window.evorag.go(`/neurons?recording=${encodeURIComponent(value)}`);
    } else if (view?.isHere && view.tokens) {
      if (id === "neurons-layer" || id === "neurons-kind") {
        view[id.slice("neurons-".length)] = value;
        const { layers } = view.mapOf(view.kind);
        if ((view.kind === "all" && view.layer === "all") || (view.layer !== "all" && !layers.includes(Number(view.layer)))) {
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
        view.attempt(() => view.drawMembrane());
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
      view.attempt(() => tools.send(button, view));
    } else if (button.dataset.neuronsSave) {
      const { figure, neuronsSave } = button.dataset;
      tools.save(figure, neuronsSave, document.getElementById(`neurons-${figure}-title`).textContent);
    } else {
      pressed[button.dataset.neurons]?.();
    }
  });
  document.addEventListener("toggle", ({ target }) => {
    if (target.id === "neurons-export" && target.open && view?.isHere && view.tokens) {
      tools.sayPart(view);
    }
  }, true);
  document.addEventListener("evorag:theme", () => {
    if (view?.isHere && view.rows) {
      view.attempt(async () => {
        await view.drawRaster();
        await Promise.all([view.drawRates(), view.drawHeat(), view.drawShares(), view.drawMembrane()]);
        if (view.other) {
          await view.beside(view.other);
        }
      });
    }
  });
  let resizing = 0;
  window.addEventListener("resize", () => {
    window.clearTimeout(resizing);
    resizing = window.setTimeout(() => view?.isHere && view.rows && view.drawRaster(), 150);
  });

  const open = (given) => {
    view?.tokens?.play(false);
    tools.leave();
    if (given?.id) {
      view = new tools.View(new tools.Recording(given.id), new URLSearchParams(window.location.search));
      tools.view = view;
      view.attempt(() => view.start());
    }
    return window.dash_clientside.no_update;
  };
  window.dash_clientside = Object.assign({}, window.dash_clientside, { neurons: { open } });
})();
