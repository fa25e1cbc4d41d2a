/* Neurons: what the server tells of a recording, and the spikes of its populations as packed bits, fetched once. */
const HELD_BYTES = 96 * 1024 * 1024;

export const request = async (path, options = {}) => {
  const response = await fetch(path, { ...options, headers: { Accept: "application/json", ...options.headers } });
  if (!response.ok) {
    const problem = await response.json().catch(() => ({}));
    throw Object.assign(new Error(problem.title || String(response.status)), { problem });
  }
  return response;
};
export const json = async (path, options) => (await request(path, options)).json();

/* The greatest of any number of values; Math.max(...values) ends at some ten thousand. */
export const greatest = (values, least = 0) => values.reduce((high, value) => Math.max(high, value), least);
export const placeOfGreatest = (values) => values.reduce((place, value, at) => (value > values[place] ? at : place), 0);

/* A layer and a kind as the server asks for them; all of them need no word. */
export const partOf = (layer, kind) =>
  new URLSearchParams(Object.entries({ layer, kind }).filter(([, value]) => value !== "all"));

/* Spikes of one population. The bits of a step of a token stand together, the first neuron in the lowest bit; the
   excitatory ones come first, then the inhibitory ones. */
class Spikes {
  constructor(bytes, steps, tokens, neurons) {
    Object.assign(this, { bytes, steps, tokens, neurons });
    this.width = Math.ceil(neurons / 8);
    this.half = steps * tokens * this.width;
  }

  /* 1, −1 or 0 */
  at(step, token, neuron) {
    const place = (step * this.tokens + token) * this.width + (neuron >> 3);
    const bit = 1 << (neuron & 7);
    return this.bytes[place] & bit ? 1 : this.bytes[this.half + place] & bit ? -1 : 0;
  }

  get size() {
    return this.bytes.length;
  }
}

export class Recording {
  constructor(id) {
    this.id = id;
    this.path = `/api/v1/recordings/${encodeURIComponent(id)}`;
    this.held = new Map();
    this.membranes = new Map();
  }

  async open() {
    const told = await json(`${this.path}/tokens`);
    this.meta = told.meta;
    this.leftOut = told.left_out;
    this.total = told.total;
    this.texts = told.tokens.map((token) => token.text);
    this.roles = told.tokens.map((token) => token.role);
    this.factors = new Map(told.populations.map(({ name, factor }) => [name, factor]));
  }

  summary(layer, kind) {
    return json(`${this.path}/summary?${partOf(layer, kind)}`);
  }

  heat() {
    this.map ||= json(`${this.path}/heat-map`);
    return this.map;
  }

  async spikes(population) {
    let found = this.held.get(population);
    if (!found) {
      const response = await request(`${this.path}/spikes?population=${encodeURIComponent(population)}`);
      const [steps, tokens, neurons] = response.headers.get("X-Shape").split(",").map(Number);
      found = new Spikes(new Uint8Array(await response.arrayBuffer()), steps, tokens, neurons);
    }
    /* The least recently used populations are forgotten first. */
    this.held.delete(population);
    this.held.set(population, found);
    let size = 0;
    for (const [name, each] of [...this.held].reverse()) {
      size += each.size;
      if (size > HELD_BYTES && name !== population) {
        this.held.delete(name);
      }
    }
    return found;
  }

  membrane(population) {
    if (!this.membranes.has(population)) {
      const asked = json(`${this.path}/membrane?population=${encodeURIComponent(population)}`);
      asked.catch(() => this.membranes.delete(population));
      this.membranes.set(population, asked);
    }
    return this.membranes.get(population);
  }

  compare(other) {
    return json(`${this.path}/compare?with=${encodeURIComponent(other)}`);
  }
}
