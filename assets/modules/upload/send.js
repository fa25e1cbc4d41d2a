/* One file on its way to the server by tus 1.0, in parts that each carry their SHA-256; the last one carries the whole
   file's. What fails for a while is tried again for as long as it takes, from the byte that the server has. */
import { text } from "../shared/texts.js";

export const ENDPOINT = "/api/v1/uploads";
const LEAST_PART_BYTES = 256 * 1024;
const PART_S = 10;
const PAUSES_MS = [500, 1000, 2000, 4000, 8000, 10_000];
const STALL_MS = 60_000;
const SERVER_FAULTS = 5;
const RATE_WINDOW_MS = 4000;
/* What passes by itself: 409 and 460 after asking where the server is, the others with time. */
const PASSING = new Set([0, 408, 409, 423, 425, 429, 460, 500, 502, 503, 504]);
const LIMITED = new Set([460, 500]);
/* Refusals that the same file may overcome. */
const OVERCOME = new Set(["checksum_mismatch", "disk_full", "quota_exceeded", "unauthorized", "conflict", "internal"]);
export const mayOvercome = (error) => OVERCOME.has(error?.code);

let loading = null;
const client = (address) => {
  loading ||= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = address;
    script.addEventListener("load", () => resolve(window.tus));
    script.addEventListener("error", () => {
      loading = null;
      script.remove();
      reject(new Error("offline"));
    });
    document.head.append(script);
  });
  return loading;
};

export const problem = (code, detail = "") => ({
  code,
  detail,
  title: text(`upload.error.${code}`),
  remedy: text(`upload.remedy.${code}`),
});
const bytesOf = (buffer) => [...new Uint8Array(buffer)];
const hex = (buffer) =>
  bytesOf(buffer)
    .map((byte) => byte.toString(16).padStart(2, "0"))
    .join("");
const base64 = (buffer) => btoa(String.fromCharCode(...bytesOf(buffer)));
const digest = async (blob) => crypto.subtle.digest("SHA-256", await blob.arrayBuffer());

/* The whole file's SHA-256, by the browser where it is one part, else piece by piece in a worker. */
class Hash {
  constructor(file, partBytes) {
    this.share = 0;
    this.isBroken = false;
    this.value = window.crypto?.subtle && file.size <= partBytes ? digest(file).then(hex) : this.inWorker(file);
    this.value.catch(() => {
      this.isBroken = true;
    });
  }

  inWorker(file) {
    return new Promise((resolve, reject) => {
      this.worker = new Worker(new URL("./sha256.js", import.meta.url));
      this.worker.onmessage = ({ data }) => {
        if (data.bytes) {
          this.share = data.bytes / file.size;
        } else if (data.hex) {
          this.stop();
          resolve(data.hex);
        } else {
          this.stop();
          reject(new DOMException("", data.error));
        }
      };
      this.worker.onerror = () => {
        this.stop();
        reject(new Error("offline"));
      };
      this.worker.postMessage(file);
    });
  }

  stop() {
    this.worker?.terminate();
    this.worker = null;
  }
}

/* Bytes a second over the last seconds. */
export class Rate {
  constructor() {
    this.marks = [];
  }

  mark(bytes) {
    const now = Date.now();
    if (this.marks.length && bytes < this.marks[this.marks.length - 1][1]) {
      this.marks = [];
    }
    this.marks.push([now, bytes]);
    while (this.marks.length > 2 && this.marks[0][0] < now - RATE_WINDOW_MS) {
      this.marks.shift();
    }
    const [first, last] = [this.marks[0], this.marks[this.marks.length - 1]];
    return last[0] - first[0] < 1000 ? null : (1000 * (last[1] - first[1])) / (last[0] - first[0]);
  }
}

const under = new Set();

/* tell: {url(address), moved(bytes), hashing(share), stalled(reason), received(transfer), refused(problem, again), lost(sha256)} */
export class Transmission {
  constructor(file, name, { url, metadata, partBytes, tus }, tell) {
    Object.assign(this, { file, name, url, metadata, library: tus, tell });
    this.mostBytes = partBytes;
    this.partBytes = partBytes;
    this.failures = 0;
    this.faults = 0;
    this.turn = 0;
  }

  start() {
    under.add(this);
    this.attempt();
  }

  /* Stops sending; what the server has stays there. */
  pause() {
    this.turn += 1;
    under.delete(this);
    window.clearTimeout(this.next);
    window.clearInterval(this.watch);
    this.upload?.abort();
    this.upload = null;
    this.retry = null;
  }

  /* Stops sending and takes back what the server has. */
  cancel() {
    this.pause();
    this.hash?.stop();
    return this.url ? drop(this.url) : Promise.resolve();
  }

  async attempt() {
    const turn = (this.turn += 1);
    this.retry = null;
    try {
      const tus = await client(this.library);
      if (!this.hash || this.hash.isBroken) {
        this.hash = new Hash(this.file, this.mostBytes);
      }
      const inOne = !this.url && this.failures === 0 && this.file.size <= this.mostBytes;
      const metadata = { ...this.metadata, filename: this.name };
      if (this.file.size <= this.mostBytes) {
        metadata.sha256 = await this.hash.value;
      }
      if (!this.url && this.failures > 0) {
        this.url = await this.tell.lost(metadata.sha256);
      }
      if (turn === this.turn) {
        this.begin(tus, turn, inOne, metadata);
      }
    } catch (error) {
      this.failed(turn, null, error);
    }
  }

  begin(tus, turn, inOne, metadata) {
    this.moved = Date.now();
    this.upload = new tus.Upload(this.file, {
      endpoint: this.url ? null : new URL(ENDPOINT, window.location).href,
      uploadUrl: this.url ? new URL(this.url, window.location).href : null,
      metadata,
      chunkSize: inOne ? this.mostBytes : this.partBytes,
      uploadDataDuringCreation: inOne,
      retryDelays: null,
      storeFingerprintForResuming: false,
      onBeforeRequest: (request) => this.prepare(turn, request),
      onAfterResponse: () => {
        this.inFlight = false;
      },
      onUploadUrlAvailable: () => {
        if (turn === this.turn && !this.url) {
          this.url = new URL(this.upload.url).pathname;
          this.tell.url(this.url);
        }
      },
      onProgress: (bytes) => {
        this.moved = Date.now();
        if (turn === this.turn) {
          this.tell.moved(bytes);
        }
      },
      onChunkComplete: (bytes) => this.adapt(bytes),
      onSuccess: (answer) => this.finish(turn, answer?.lastResponse),
      onError: (error) => this.failed(turn, error.originalResponse, error.causingError || error),
    });
    window.clearInterval(this.watch);
    this.watch = window.setInterval(() => {
      if (this.inFlight && Date.now() - this.moved > STALL_MS) {
        this.upload?.abort();
        this.failed(turn, null, null);
      }
    }, 5000);
    this.upload.start();
  }

  /* What each request says of its bytes. A file that cannot be read any more is noticed here. */
  async prepare(turn, request) {
    const method = request.getMethod();
    const inPost = method === "POST" && this.upload.options.uploadDataDuringCreation;
    if (method === "PATCH" || inPost) {
      const start = inPost ? 0 : Number(request.getHeader("Upload-Offset"));
      const part = this.file.slice(start, start + this.upload.options.chunkSize);
      if (window.crypto?.subtle) {
        request.setHeader("Upload-Checksum", `sha256 ${base64(await digest(part))}`);
      }
      if (method === "PATCH" && start + part.size === this.file.size) {
        request.setHeader("Evorag-Sha256", await this.whole(turn));
      }
    }
    if (turn !== this.turn) {
      throw new Error("stopped");
    }
    this.began = this.moved = Date.now();
    this.inFlight = true;
  }

  async whole(turn) {
    const said = window.setInterval(() => turn === this.turn && this.tell.hashing(this.hash.share), 500);
    try {
      return await this.hash.value;
    } finally {
      window.clearInterval(said);
    }
  }

  /* A part takes ten seconds at most, so that a broken line costs no more than that. */
  adapt(bytes) {
    this.failures = 0;
    this.faults = 0;
    const rate = (1000 * bytes) / Math.max(1, Date.now() - this.began);
    const aimed = Math.floor((rate * PART_S) / LEAST_PART_BYTES) * LEAST_PART_BYTES;
    this.partBytes = Math.min(this.mostBytes, Math.max(LEAST_PART_BYTES, aimed));
    if (this.upload) {
      this.upload.options.chunkSize = this.partBytes;
    }
    wake(this);
  }

  finish(turn, response) {
    if (turn !== this.turn) {
      return;
    }
    this.pause();
    this.hash.stop();
    let transfer = null;
    try {
      transfer = JSON.parse(response.getBody());
    } catch {
      /* an answer without a body: the state is asked for */
    }
    this.tell.received(transfer);
  }

  async failed(turn, response, cause) {
    if (turn !== this.turn) {
      return;
    }
    this.inFlight = false;
    window.clearInterval(this.watch);
    const status = response ? response.getStatus() : 0;
    let said = null;
    try {
      said = JSON.parse(response.getBody());
    } catch {
      /* no answer, or one without words */
    }
    if (cause instanceof DOMException || (status === 0 && !(await this.readable()))) {
      this.hash?.stop();
      this.refuse(problem("unreadable"), false);
      return;
    }
    if (turn !== this.turn) {
      return;
    }
    if ((status === 404 || status === 410) && this.url && this.failures < 3) {
      /* It expired or was taken back: it begins anew. */
      this.url = null;
      this.tell.url(null);
      this.tell.moved(0);
    } else if (!PASSING.has(status)) {
      this.refuseFor(status, said);
      return;
    } else if (LIMITED.has(status) && (this.faults += 1) >= SERVER_FAULTS) {
      this.refuseFor(status, said);
      return;
    }
    this.partBytes = Math.max(LEAST_PART_BYTES, Math.floor(this.partBytes / 2));
    const asked = 1000 * Number(response?.getHeader("Retry-After") || 0);
    const pause = PAUSES_MS[Math.min(this.failures, PAUSES_MS.length - 1)] * (0.8 + 0.4 * Math.random());
    this.failures += 1;
    this.waitsFor = status === 0 || status === 502 ? "offline" : status === 423 ? "locked" : "busy";
    this.tell.stalled(this.waitsFor);
    this.retry = () => {
      window.clearTimeout(this.next);
      this.attempt();
    };
    this.next = window.setTimeout(this.retry, Math.max(asked, pause));
  }

  refuseFor(status, said) {
    if (status === 401) {
      this.refuse(problem("signed_out"), true);
    } else {
      this.refuse(said?.code ? said : problem("unexpected", String(status)), !said?.code || mayOvercome(said));
    }
  }

  refuse(error, again) {
    this.pause();
    this.tell.refused(error, again);
  }

  async readable() {
    try {
      await this.file.slice(0, 1).arrayBuffer();
      return true;
    } catch {
      return false;
    }
  }
}

/* The line is there again: whoever waits for it need not wait longer. */
const wake = (but = null) => {
  for (const transmission of under) {
    if (transmission !== but && transmission.waitsFor === "offline") {
      transmission.retry?.();
    }
  }
};
window.addEventListener("online", () => wake());

export const drop = async (url) => {
  try {
    await fetch(url, { method: "DELETE", headers: { "Tus-Resumable": "1.0.0" } });
  } catch {
    /* it expires by itself */
  }
};
