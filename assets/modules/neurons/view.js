/* Neurons: one recording on screen. A token, a layer and a kind are chosen once and shown in every plot; the address
   keeps what is chosen. */
import * as drawing from "./drawing.js";
import * as membranes from "./membrane.js";
import * as axes from "./axes.js";
import * as plots from "./plots.js";
import * as rasters from "./raster.js";
import * as recordings from "./recording.js";
import * as tables from "./tables.js";
import * as strip from "./tokens.js";
import * as naming from "./words.js";
import { fail } from "./problems.js";
import { text } from "../shared/texts.js";

const IN_TIME = ["raster", "steps", "rates", "heat"];
const OF_CHOSEN = ["raster", "steps", "rates", "membrane", "histogram", "intervals"];
const USUAL_KIND = "mlp_product";
const CLICK_PX = 4;

/* who listens to a plot: purging a plot takes only plotly's own listeners away */
const heard = new WeakMap();

/* The recording on screen. */
let shown = null;
export const present = () => shown;
export const show = (view) => {
  shown = view;
};

export class View {
  constructor(recording, given) {
    this.recording = recording;
    this.given = given;
    this.turn = 0;
    this.turnBeside = 0;
    this.range = null;
    this.height = null;
    this.timings = {};
  }

  get span() {
    return this.range || [0, this.tokens.count];
  }

  get isHere() {
    return shown === this && document.getElementById("neurons")?.dataset.recording === this.recording.id;
  }

  async start() {
    await this.recording.open();
    this.map = await this.recording.heat();
    if (!this.isHere) {
      return;
    }
    this.tokens = new strip.Tokens(this.recording, (token) => this.choose(token));
    naming.sayLeftOut(this.recording.leftOut);
    const kinds = this.map.maps.map((each) => each.kind);
    naming.nameHead(kinds);
    this.kind = kinds.includes(this.given.get("kind"))
      ? this.given.get("kind")
      : kinds.includes(USUAL_KIND)
        ? USUAL_KIND
        : kinds.at(-1);
    const { layers } = this.mapOf(this.kind);
    const asked = this.given.get("layer");
    this.layer =
      asked === "all" || layers.includes(Number(asked || NaN)) ? asked : String(layers[Math.floor(layers.length / 2)]);
    const first = Math.max(0, this.recording.roles.indexOf("answer"));
    const token = Number(this.given.get("token"));
    this.fields();
    this.choose(Number.isInteger(token) && token >= 1 && token <= this.tokens.count ? token - 1 : first);
    await this.select();
    const other = document.getElementById("neurons-with")?.value;
    if (other) {
      await this.beside(other);
    }
  }

  mapOf(kind) {
    return this.map.maps.find((each) => each.kind === kind);
  }

  fields() {
    const fill = (id, options, chosen) => {
      const field = document.getElementById(`neurons-${id}`);
      field.replaceChildren(
        ...options.map(([value, words]) => new Option(words, value, value === chosen, value === chosen)),
      );
      field.disabled = options.length < 2;
    };
    const { layers } = this.mapOf(this.kind);
    const each = layers.map((layer) => [String(layer), naming.layerName(layer)]);
    /* All neurons at once would be more spikes than a browser holds; all of a kind or all of a layer are not. */
    fill(
      "layer",
      layers.length > 1 && this.kind !== "all" ? [["all", text("neurons.live.all_layers")], ...each] : each,
      this.layer,
    );
    fill(
      "kind",
      this.map.maps
        .filter(({ kind }) => kind !== "all" || this.map.maps.length > 2)
        .map(({ kind }) => [kind, naming.kindName(kind)]),
      this.kind,
    );
  }

  get populations() {
    const kinds =
      this.kind === "all" ? this.map.maps.map((each) => each.kind).filter((kind) => kind !== "all") : [this.kind];
    const layers = this.layer === "all" ? this.mapOf(this.kind).layers : [Number(this.layer)];
    return layers.flatMap((layer) =>
      kinds
        .filter((kind) => this.mapOf(kind).layers.includes(layer))
        .map((kind) => ({
          name: naming.nameOf(layer, kind),
          label: this.layer === "all" ? naming.layerName(layer) : naming.kindName(kind),
        })),
    );
  }

  /* Another layer or kind. What is of the one before goes first, and does not come back when this one fails. */
  async select() {
    const turn = ++this.turn;
    const isLatest = () => this.isHere && turn === this.turn;
    this.address();
    Object.assign(this, { height: null, summary: null, rows: null, traced: null });
    OF_CHOSEN.forEach(plots.wait);
    const rows = document.getElementById("neurons-table");
    const field = document.getElementById("neurons-neuron");
    [rows, field].forEach((place) => place.replaceChildren());
    field.disabled = true;
    try {
      await this.fetch(isLatest);
    } catch (error) {
      if (isLatest()) {
        for (const id of OF_CHOSEN) {
          if (document.getElementById(`neurons-${id}`).hasAttribute("aria-busy")) {
            await plots.nothing(id, text("neurons.live.failed"));
          }
        }
        throw error;
      }
    }
  }

  /* Its numbers first, its spikes as they come, then its membrane. */
  async fetch(isLatest) {
    const wanted = this.populations;
    axes.makeRoom(wanted.length > 1 && this.kind === "all");
    const [summary] = await Promise.all([this.recording.summary(this.layer, this.kind), drawing.drawHeat(this)]);
    if (!isLatest()) {
      return;
    }
    this.summary = summary;
    tables.populations(document.getElementById("neurons-table"), summary.table);
    await drawing.drawRates(this);
    const parts = [];
    for (const { name, label } of wanted) {
      if (wanted.length > 1) {
        plots.say("raster", text("neurons.live.fetching", { done: parts.length, total: wanted.length }));
      }
      parts.push({ name, label, spikes: await this.recording.spikes(name) });
      if (!isLatest()) {
        return;
      }
    }
    this.rows = new rasters.Rows(
      parts,
      recordings.greatest(
        wanted.map(({ name }) => this.recording.factors.get(name) || 1),
        1,
      ),
    );
    await drawing.drawRaster(this);
    await this.openMembrane(isLatest);
    if (isLatest()) {
      this.choose(this.token);
    }
  }

  async openMembrane(isLatest) {
    const [part] = this.rows.parts;
    const told = await this.recording.membrane(part.name);
    if (!isLatest()) {
      return;
    }
    const field = document.getElementById("neurons-neuron");
    field.disabled = told.idx.length < 2;
    if (!told.idx.length) {
      await plots.nothing("membrane", text("neurons.live.no_membrane"));
      return;
    }
    const most = membranes.mostFiring(told, part.spikes);
    field.replaceChildren(
      ...told.idx.map(
        (neuron, at) =>
          new Option(text("neurons.live.neuron", { number: String(neuron) }), String(at), at === most, at === most),
      ),
    );
    this.traced = { told, part };
  }

  /* ---- choosing */
  choose(token) {
    const before = performance.now();
    this.token = token;
    this.tokens.show(token);
    if (this.range && (token < this.range[0] || token + 1 > this.range[1])) {
      const width = this.range[1] - this.range[0];
      const from = Math.max(0, Math.min(this.tokens.count - width, token + 0.5 - width / 2));
      this.zoom([from, from + width], this.height);
    }
    this.mark();
    this.followed = null;
    window.clearTimeout(this.writing);
    this.writing = window.setTimeout(() => this.isHere && this.address(), 250);
    this.timings.mark = performance.now() - before;
    this.waiting ||= this.follow().finally(() => {
      this.waiting = null;
    });
    return this.waiting;
  }

  /* What takes longer than a frame follows the token that is chosen by then; those passed meanwhile are left out. */
  async follow() {
    while (this.followed !== this.token && this.isHere) {
      const before = performance.now();
      this.followed = this.token;
      await drawing.drawShares(this);
      await drawing.drawMembrane(this);
      this.timings.token = performance.now() - before;
    }
  }

  /* The band over the chosen token, in every plot over time. */
  mark() {
    for (const id of IN_TIME) {
      const place = document.getElementById(`neurons-${id}`);
      if (place?.layout) {
        plots.band(place, this.token, this.span);
      }
    }
  }

  /* A part of the time, the same in every plot; null for all of it. */
  zoom(range, height) {
    const before = performance.now();
    const whole = this.tokens.count;
    const wide = range && [Math.max(0, range[0]), Math.min(whole, range[1])];
    this.range = wide && wide[1] - wide[0] < whole - 0.01 ? wide : null;
    this.height = height;
    window.cancelAnimationFrame(this.frame);
    this.frame = window.requestAnimationFrame(async () => {
      await drawing.drawRaster(this);
      for (const id of ["steps", "rates", "heat"]) {
        await plots.slide(id, this.span, this.tokens.count);
      }
      this.mark();
      this.timings.zoom = performance.now() - before;
    });
  }

  listen(id) {
    const place = document.getElementById(`neurons-${id}`);
    if (!place?.on || heard.get(place) === this) {
      return;
    }
    const isNew = !heard.has(place);
    heard.set(place, this);
    place.on("plotly_relayout", (change) => {
      const { xaxis, yaxis } = place.layout;
      /* What the other plots followed is told as well; it is nothing new. */
      const isNews = Math.abs(xaxis.range[0] - this.span[0]) + Math.abs(xaxis.range[1] - this.span[1]) > 1e-6;
      if ((isNews || id === "raster") && Object.keys(change).some((name) => /^[xy]axis.range/.test(name))) {
        this.zoom([...xaxis.range], id === "raster" ? [...yaxis.range] : this.height);
      }
    });
    place.on("plotly_doubleclick", () => this.zoom(null, null));
    if (isNew) {
      place.addEventListener(
        "pointerdown",
        (down) => {
          /* Plotly covers the window while a button is down, so the release is not heard here. */
          const release = (up) => {
            if (Math.hypot(up.clientX - down.clientX, up.clientY - down.clientY) < CLICK_PX) {
              heard.get(place).press(id, place, up);
            }
          };
          window.addEventListener("pointerup", release, { once: true, capture: true });
        },
        true,
      );
    }
  }

  press(id, place, event) {
    const { yaxis } = place.layout;
    const area = plots.areaOf(place);
    const box = place.getBoundingClientRect();
    const [from, end] = this.span;
    const across = (event.clientX - box.left - area.l) / area.w;
    const down = (event.clientY - box.top - area.t) / area.h;
    if (across < 0 || across > 1 || down < 0 || down > 1) {
      return;
    }
    this.choose(Math.max(0, Math.min(this.tokens.count - 1, Math.floor(from + across * (end - from)))));
    if (id === "heat") {
      const layer = this.mapOf(this.kind).layers[Math.round(yaxis.range[1] + down * (yaxis.range[0] - yaxis.range[1]))];
      if (layer !== undefined && String(layer) !== this.layer) {
        this.layer = String(layer);
        this.fields();
        this.attempt(() => this.select());
      }
    }
  }

  async beside(id) {
    const place = document.getElementById("neurons-comparison");
    const turn = ++this.turnBeside;
    const isLatest = () => this.isHere && turn === this.turnBeside;
    this.address();
    place.hidden = !id || id !== this.other;
    this.other = id;
    if (!id) {
      return;
    }
    this.second = this.second?.id === id ? this.second : new recordings.Recording(id);
    const names = ["recording", "with"].map(
      (name) => document.getElementById(`neurons-${name}`).selectedOptions[0]?.textContent || "",
    );
    try {
      await tables.comparison(this.recording, this.second, this.kind, names, isLatest);
    } catch (error) {
      if (isLatest()) {
        place.hidden = true;
        throw error;
      }
    }
  }

  address() {
    const now = new URLSearchParams({
      recording: this.recording.id,
      layer: this.layer,
      kind: this.kind,
      token: this.token + 1,
    });
    const other = document.getElementById("neurons-with")?.value;
    if (other) {
      now.set("with", other);
    }
    window.history.replaceState(window.history.state, "", `/neurons?${now}`);
  }

  async attempt(work) {
    const place = document.getElementById("neurons-error");
    place?.replaceChildren();
    try {
      await work();
    } catch (error) {
      if (this.isHere && place) {
        fail(place, error, () => this.attempt(work));
      }
    }
  }
}
