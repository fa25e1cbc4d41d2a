/* An answer on its way: passages as soon as they are found, then what a generator writes, then the checked answer.
   Everything that comes is set as text, never as HTML. What is being written is called so until it has been checked. */
import { icon, make, text } from "../shared/texts.js";

const EXCERPT_CHARS = 160;
const ICONS = {
  working: "arrow-repeat",
  ok: "check-circle-fill",
  warning: "exclamation-triangle-fill",
  error: "x-circle-fill",
};
let current = null;

const badge = (meaning, words) =>
  make("span", `meaning meaning-${meaning}`, [icon(ICONS[meaning]), make("span", "", words)]);

/* One live region for the whole visit: a region that comes with the text that it announces is not read out. */
let region = null;
const announce = (words) => {
  if (!region) {
    region = make("div", "visually-hidden");
    region.setAttribute("role", "status");
    document.body.append(region);
  }
  region.textContent = words;
};

const errorLine = (error) => {
  const sentences = [error.title, error.detail, error.remedy].filter(Boolean);
  const words = make("span", "", [make("strong", "", sentences[0] ?? ""), ` ${sentences.slice(1).join(" ")} `]);
  const line = make("div", "error-line", [icon(ICONS.error), words, make("code", "", error.code ?? "")]);
  line.setAttribute("role", "alert");
  return line;
};

const passageItem = (hit) => {
  const { doc_key: key, version, name, chunk } = hit.placed;
  const link = make("a", "passage-name", name);
  link.href = `/documents/${encodeURIComponent(key)}?version=${version}&chunk=${chunk.position}`;
  const flat = chunk.text.replace(/\s+/g, " ").trim();
  const excerpt = flat.length > EXCERPT_CHARS ? `${flat.slice(0, EXCERPT_CHARS - 1)}…` : flat;
  const head = make("div", "evidence-head", [
    make("span", "rank", String(hit.rank)),
    make("div", "", [link, make("small", "", `v${version}`)]),
  ]);
  return make("li", "", [head, make("p", "live-excerpt", excerpt)]);
};

/* Events of a stream: blocks of lines that an empty line ends. */
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) {
      return;
    }
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const lines = block.split("\n");
      const field = (name) =>
        lines.filter((line) => line.startsWith(`${name}: `)).map((line) => line.slice(name.length + 2));
      if (field("event").length > 0) {
        yield [field("event")[0], JSON.parse(field("data").join("\n"))];
      }
    }
  }
}

class LiveAnswer {
  constructor(question, go) {
    this.question = question;
    this.go = go;
    this.address = window.location.href;
    this.aborting = new AbortController();
    this.hasEnded = false;
    this.box = document.getElementById("ask-live");
    this.draw();
  }

  draw() {
    this.state = make("span", "live-state");
    this.clock = make("span", "live-clock");
    this.clock.setAttribute("aria-hidden", "true");
    this.stopButton = make("button", "btn btn-secondary btn-sm live-stop", [
      icon("stop-circle"),
      text("ask.live.stop"),
    ]);
    this.stopButton.type = "button";
    this.stopButton.title = text("ask.live.stop_explain");
    this.stopButton.addEventListener("click", () => this.stop());
    this.note = make("p", "live-note");
    this.written = make("p", "answer-text live-text");
    this.asking = make("p", "live-question", this.question.body.question ?? "");
    /* Options that were chosen fold away: their chips say them, and the answer comes below the box. */
    document.querySelector("details.filters")?.removeAttribute("open");
    this.card = make("section", "answer-card live-card", [
      this.asking,
      make("header", "", [this.state, this.clock, this.stopButton]),
      this.note,
      this.written,
    ]);
    this.card.setAttribute("aria-label", text("ask.live.title"));
    this.passages = make("section", "live-passages");
    this.box.replaceChildren(this.card);
    this.side = document.getElementById("ask-live-evidence") ?? this.box;
    this.side.replaceChildren();
    this.side.append(this.passages);
    this.box.dataset.state = "working";
    this.say("working", text("ask.live.searching"));
    announce(text("ask.live.searching"));
    const began = Date.now();
    this.ticking = window.setInterval(() => {
      const seconds = Math.round((Date.now() - began) / 1000);
      this.clock.textContent = seconds > 1 ? text("ask.live.seconds", { seconds }) : "";
    }, 500);
    this.card.scrollIntoView({ block: "nearest" });
  }

  say(meaning, words) {
    this.state.replaceChildren(badge(meaning, words));
  }

  async run() {
    try {
      const response = await fetch("/api/v1/ask", {
        method: "POST",
        headers: { "Content-Type": "application/json", Accept: "text/event-stream" },
        body: JSON.stringify(this.question.body),
        signal: this.aborting.signal,
      });
      if (!response.ok) {
        this.fail(await response.json());
        return;
      }
      for await (const [name, data] of eventsOf(response)) {
        this.take(name, data);
        if (this.hasEnded) {
          return;
        }
      }
      this.fail({ title: text("ask.live.lost"), remedy: text("ask.live.lost_remedy"), code: "connection" });
    } catch {
      this.fail({ title: text("ask.live.lost"), remedy: text("ask.live.lost_remedy"), code: "connection" });
    }
  }

  take(name, data) {
    const steps = {
      analysis: () => this.understood(data),
      passages: () => this.found(data),
      writing: () => this.write(data.text, "writing"),
      answer: () => this.write(data.text, "answer"),
      error: () => this.fail(data),
      done: () => this.done(data),
    };
    if (!this.hasEnded) {
      steps[name]?.();
    }
  }

  understood(analysis) {
    if (analysis.standalone && analysis.standalone !== this.question.body.question) {
      this.note.textContent = text("ask.live.understood", { question: analysis.standalone });
    }
  }

  found(hits) {
    this.say("working", text("ask.live.reading"));
    if (hits.length > 0) {
      const title = make("h2", "section-title", text("ask.live.found", { count: hits.length }));
      this.passages.replaceChildren(title, make("ol", "evidence", hits.map(passageItem)));
    }
  }

  /* What a generator writes is followed by the checked answer, which takes its place. */
  write(piece, stage) {
    if (this.stage !== stage) {
      this.stage = stage;
      this.written.replaceChildren();
      this.card.dataset.stage = stage;
      const words = text(stage === "writing" ? "ask.live.writing" : "ask.live.checked");
      this.say(stage === "writing" ? "working" : "ok", words);
      if (stage === "writing") {
        announce(words);
      }
    }
    this.written.append(piece);
    if (stage === "writing" && this.question.body.record) {
      this.pieces = (this.pieces ?? 0) + 1;
      this.say("working", text("ask.live.recording", { count: this.pieces }));
    }
  }

  done(trace) {
    const hasPassages = trace.hits.length > 0;
    this.end();
    announce(text(hasPassages ? "ask.live.done" : "ask.live.done_without", { count: trace.hits.length }));
    this.go({
      search: `${this.question.search}&trace=${encodeURIComponent(trace.id)}`,
      replace: this.question.replace,
    });
  }

  fail(error) {
    if (this.hasEnded) {
      return;
    }
    this.end();
    this.box.dataset.state = "failed";
    this.say("error", text("ask.live.failed"));
    this.card.append(errorLine(error));
  }

  stop() {
    this.end();
    this.box.dataset.state = "stopped";
    this.card.dataset.stage = "stopped";
    this.say("warning", text(this.stage ? "ask.live.stopped" : "ask.live.stopped_early"));
    announce(text("ask.live.stopped_early"));
    document.getElementById("ask-question")?.focus();
  }

  /* No more of it is waited for, shown or kept; aborting the request stops the generator. */
  end() {
    this.hasEnded = true;
    window.clearInterval(this.ticking);
    this.clock.textContent = "";
    this.stopButton.remove();
    this.aborting.abort();
    if (current === this) {
      current = null;
    }
  }
}

export const liveAnswer = (question, go) => {
  current?.end();
  current = new LiveAnswer(question, go);
  current.run();
};
export const endLiveAnswer = () => {
  current?.end();
  document.getElementById("ask-live-evidence")?.replaceChildren();
  const box = document.getElementById("ask-live");
  if (box?.dataset.state) {
    delete box.dataset.state;
    box.replaceChildren();
  }
};
const leftPage = () => {
  if (current && window.location.href !== current.address) {
    current.end();
  }
};
window.addEventListener("popstate", leftPage);
window.addEventListener("_dashprivate_pushstate", leftPage);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && current && !event.isComposing && !document.querySelector("dialog[open], .modal.show")) {
    event.preventDefault();
    current.stop();
  }
});

/* An answer that comes in one piece is waited for in the same card, and the waiting can be stopped; the server ends it. */
const SOON_MS = 800;
const IDLE_MS = 1500;
let piece = null;
let isRefused = false;
const stopWaiting = () => {
  isRefused = true;
  piece.say("warning", text("ask.live.stopped_waiting"));
  announce(text("ask.live.stopped_waiting"));
  piece.end();
  piece = null;
  document.getElementById("ask-question")?.focus();
};
const begunPiece = () => {
  const card = Object.create(LiveAnswer.prototype);
  Object.assign(card, {
    question: { body: {} },
    aborting: new AbortController(),
    box: document.getElementById("ask-live"),
  });
  card.draw();
  card.stop = stopWaiting;
  current = card;
  return card;
};
let since = 0;
let idle = 0;
window.setInterval(() => {
  const isWorking = document.getElementById("ask-send")?.classList.contains("is-working") ?? false;
  if (!isWorking) {
    since = 0;
    if (piece) {
      piece.end();
      piece.box.replaceChildren();
      piece.passages.remove();
      delete piece.box.dataset.state;
    }
    piece = null;
    /* What failed instead of arriving refuses nothing that comes later. */
    idle ||= Date.now();
    isRefused = isRefused && Date.now() - idle < IDLE_MS;
    return;
  }
  idle = 0;
  since ||= Date.now();
  if (!piece && !current && !isRefused && Date.now() - since > SOON_MS) {
    piece = begunPiece();
  }
}, 200);
/* Said once of the answer that was stopped, when it arrives. */
export const wasRefused = () => {
  const was = isRefused;
  isRefused = false;
  since = 0;
  return was;
};

/* ---- the box of the question: Enter sends it, Escape leaves it where no answer is under way ------------------------------ */
const SEND_KEY = "Enter";

document.addEventListener("keydown", (event) => {
  const inBox = event.target.id === "ask-question";
  if (inBox && event.key === SEND_KEY && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
    event.preventDefault();
    document.getElementById("ask-send")?.click();
  } else if (inBox && event.key === "Escape" && !event.defaultPrevented) {
    event.target.blur();
  }
});
