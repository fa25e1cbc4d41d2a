/* What a row of the upload list says of its file: how far it is, how fast, what stands in its way and what can be done. */
import { documentHref, FINISHED, jobActions, meaning, remaining, RETRY, shares, STAGES } from "../jobs/rows.js";
import { make, moment, size, text } from "../shared/texts.js";
import { go } from "../shared/dash.js";

/* To be stored is what sending ends with. */
const LATER = STAGES.filter((stage) => stage !== "stored");
export const COLUMNS = ["sending", ...LATER];
const NONE = LATER.map(() => 0);
const ALL = LATER.map(() => 1);
const sharesOf = (job) => shares(job).filter((_, index) => STAGES[index] !== "stored");
const REFUSED_SHOWN = 50;

const percent = (share) => Math.floor(100 * Math.min(1, share));
const duration = (seconds) => {
  if (seconds < 60) {
    return text("upload.time.seconds", { n: Math.max(1, Math.round(seconds)) });
  }
  const minutes = Math.round(seconds / 60);
  return minutes < 60
    ? text("upload.time.minutes", { n: minutes })
    : text("upload.time.hours", { h: Math.floor(minutes / 60), m: minutes % 60 });
};
export const pace = (rate, missing) => [
  text("upload.speed", { size: size(rate) }),
  ...(rate > 0 ? [text("upload.left", { time: duration(missing / rate) })] : []),
];
const words = (texts) => texts.filter(Boolean).map((each) => make("span", "", each));
const sent = (entry) => text("upload.sent", { sent: size(entry.sent * entry.bytes), total: size(entry.bytes) });

/* ---- an archive: its own job, then those of its documents ----------------------------------------------------------- */
export const isFinished = (job) => FINISHED.has(job.state);
const childrenOf = (entry) => [...(entry.children?.values() || [])];
const reason = (code) =>
  [`upload.reason.${code}`, `error.${code}`]
    .map((key) => [key, text(key)])
    .find(([key, words]) => key !== words)?.[1] || code;
/* What does not become a document, by name and reason: refused by the archive's job, or failed in its own. */
const refusedOf = (entry) => [
  ...(entry.members || []).map((member) => ({ name: member.name, why: reason(member.reason) })),
  ...childrenOf(entry)
    .filter((child) => child.state === "failed")
    .map(({ name, error }) => ({ name, why: error?.title || "" })),
];
const archiveView = (entry, job, common, acts) => {
  const children = childrenOf(entry);
  const counts = job.stage_counts || {};
  const known = counts.unchanged || 0;
  const total = Math.max(counts.filed || 0, children.length) + known;
  /* The log names what was left out whatever the reason; the counts know of it before the log is read. */
  const failed = children.filter((child) => child.state === "failed").length;
  const refused = Math.max(refusedOf(entry).length, (counts.refused || 0) + failed);
  const said = [refused ? text("upload.archive.refused", { count: refused }) : ""];
  const detail = [...common.detail, ...words(said)];
  if (job.state !== "done" || !total) {
    const [sign, usual] = meaning(job);
    const isOpen = job.stage === "unpacking" && !isFinished(job);
    const word = isOpen ? text(job.total > 1 ? "upload.unpacking_of" : "upload.unpacking", job) : usual;
    const bars =
      job.state === "done" ? ALL : isOpen ? [job.total > 1 ? job.done / job.total : -1, ...NONE.slice(1)] : NONE;
    const isDone = job.state === "done";
    return {
      ...common,
      detail,
      meaning: isDone && refused ? "warning" : sign,
      isDone,
      word,
      shares: [1, ...bars],
      error: job.error,
      actions: isDone ? [acts.drop] : jobActions(job, acts.changed),
    };
  }
  const done = children.filter((child) => child.state === "done").length + known;
  const isDone = children.length + known >= total && children.every(isFinished);
  const each = children.map(sharesOf);
  const bars = LATER.map((_, at) => (known + each.reduce((sum, stages) => sum + Math.max(0, stages[at]), 0)) / total);
  const active = children.filter((child) => !isFinished(child));
  const isTimed = active.length > 0 && active.every((child) => typeof child.seconds_left === "number");
  const left = isTimed ? Math.max(...active.map((child) => child.seconds_left)) : null;
  const counted = text("upload.archive.indexed", { done, total, count: total });
  const word = [counted, remaining(left)].filter(Boolean).join(" · ");
  const whole = (known + children.reduce((sum, child) => sum + (isFinished(child) ? 1 : child.share || 0), 0)) / total;
  const sign = isDone ? (refused ? "warning" : "ok") : "working";
  return {
    ...common,
    detail,
    meaning: sign,
    isDone,
    word,
    whole,
    left,
    shares: [1, ...bars],
    actions: isDone ? [acts.drop] : [],
  };
};
export const showRefused = (entry) => {
  const refused = entry.isArchive && entry.row ? refusedOf(entry) : [];
  if (refused.length === (entry.refusedShown || 0)) {
    return;
  }
  entry.refusedShown = refused.length;
  let box = entry.row.element.querySelector("details");
  if (!box) {
    box = make("details", "job-children");
    entry.row.element.append(box);
  }
  const list = make("ul", "plain-list");
  for (const { name, why } of refused.slice(0, REFUSED_SHOWN)) {
    const line = make("li");
    line.append(make("span", "", name), make("span", "muted", why));
    list.append(line);
  }
  const more = refused.length - REFUSED_SHOWN;
  box.replaceChildren(
    make("summary", "", text("upload.archive.which", { count: refused.length })),
    list,
    ...(more > 0 ? [make("p", "muted", text("upload.archive.more", { count: more }))] : []),
  );
};

/* ---- a file whose job runs -------------------------------------------------------------------------------------------- */
/* A draft is indexed like any other file, and no question sees it. */
const finished = ({ filing }) => {
  if (filing?.publish_at) {
    return text("upload.done_at", { time: moment(filing.publish_at) });
  }
  return text(filing?.draft ? "upload.done_draft" : "job.state.done");
};
const leading = (words, address) => {
  const link = make("a", "upload-ask", words);
  link.href = address;
  link.addEventListener("click", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      go(link.getAttribute("href"));
    }
  });
  return link;
};
/* What is shown can be asked about, and a later version compared; a draft cannot yet. */
const nextSteps = ({ receipt: { doc_key, version } }) => {
  const doc = encodeURIComponent(doc_key);
  const asks = leading(text("upload.ask"), `/ask?doc=${doc}`);
  const compares = `/compare?doc=${doc}&old=${version - 1}&new=${version}`;
  return version > 1 ? [asks, leading(text("upload.compare"), compares)] : [asks];
};
const jobView = (entry, common, acts) => {
  const job = entry.job || { id: entry.receipt.job_id, state: "queued", stage: "stored", done: 0, total: 0 };
  if (entry.isArchive || job.kind === "unpack") {
    return archiveView(entry, job, { ...common, href: null }, acts);
  }
  const [sign, usual] = meaning(job);
  const isDone = sign === "ok";
  const isEmbedding = job.state === "running" && job.stage === "embedding" && job.total > 1;
  const left = remaining(job.seconds_left);
  const embedding = isEmbedding ? text("upload.embedding", { percent: percent(job.done / job.total) }) : "";
  const usually = isEmbedding ? [embedding, left].filter(Boolean).join(" · ") : usual;
  /* A draft is finished and not published: its last bar stays empty. */
  const isDraft = isDone && Boolean(entry.filing?.draft || entry.filing?.publish_at);
  const bars = [1, ...sharesOf(job)];
  if (isDraft) {
    bars[bars.length - 1] = 0;
  }
  const opens = ["box-arrow-up-right", text("upload.open"), () => go(common.href)];
  const ready = job.keyword_ready && !isFinished(job) ? text("upload.keyword_ready") : "";
  return {
    ...common,
    detail: [
      ...common.detail,
      ...words([text("job.version", { version: entry.receipt.version }), ready]),
      ...(isDone && !isDraft ? nextSteps(entry) : []),
    ],
    meaning: isDraft ? "neutral" : sign,
    isDone,
    word: isDone ? finished(entry) : usually,
    shares: bars,
    error: job.error,
    whole: job.share || 0,
    left: isFinished(job) ? null : job.seconds_left,
    actions: isDone ? [opens] : jobActions(job, acts.changed),
  };
};

/* ---- any row ------------------------------------------------------------------------------------------------------------ */
/* What passes at the second attempt needs no words. */
const stalledView = (entry, common, acts) => {
  const lasts = entry.stalls > 1;
  return {
    ...common,
    detail: words([sent(entry)]),
    meaning: "warning",
    word: text(`upload.stalled.${entry.reason}`),
    error: lasts ? { title: "", remedy: text("upload.stalled.note"), code: "" } : null,
    shares: [entry.sent, ...NONE],
    actions: [...(lasts ? [[RETRY, text("upload.now"), acts.now]] : []), acts.pause, acts.cancel],
  };
};
const foundView = (entry, common, acts) => ({
  ...common,
  meaning: "warning",
  word: text("upload.found"),
  shares: [entry.sent, ...NONE],
  error: entry.error || {
    title: text("upload.found.share", { percent: percent(entry.sent) }),
    remedy: text("upload.found.remedy"),
    code: "",
  },
  actions: [[RETRY, text("upload.found.choose"), acts.choose], acts.cancel],
});

export const uploadView = (entry, act) => {
  const acts = {
    now: () => act.now(entry),
    choose: () => act.choose(entry),
    changed: (job) => act.changed(entry, job),
    drop: ["x-lg", text("upload.remove"), () => act.remove(entry)],
    cancel: ["x-lg", text("job.cancel"), () => act.remove(entry)],
    pause: ["pause-fill", text("upload.pause"), () => act.pause(entry)],
    resume: ["play-fill", text("upload.resume"), () => act.resume(entry)],
  };
  const href = entry.receipt?.doc_key && documentHref(entry.receipt.doc_key, entry.receipt.version);
  const about = [entry.bytes === null ? "" : size(entry.bytes), entry.isArchive ? text("upload.archive") : ""];
  const common = { href, detail: words(about), error: entry.error };
  switch (entry.state) {
    case "waiting":
      return {
        ...common,
        meaning: "neutral",
        word: text("upload.waiting"),
        shares: [entry.sent, ...NONE],
        actions: [acts.pause, acts.drop],
      };
    case "sending": {
      const detail = entry.speed
        ? words([sent(entry), ...pace(entry.speed, (1 - entry.sent) * entry.bytes)])
        : common.detail;
      const word =
        entry.hashing === null
          ? text("upload.sending", { percent: percent(entry.sent) })
          : text("upload.hashing", { percent: percent(entry.hashing) });
      return {
        ...common,
        detail,
        meaning: "working",
        word,
        shares: [entry.sent, ...NONE],
        actions: [acts.pause, acts.cancel],
      };
    }
    case "stalled":
      return stalledView(entry, common, acts);
    case "paused":
      return {
        ...common,
        detail: entry.sent ? words([sent(entry)]) : common.detail,
        meaning: "neutral",
        word: text("upload.paused", { percent: percent(entry.sent) }),
        shares: [entry.sent, ...NONE],
        actions: [acts.resume, acts.cancel],
      };
    case "found":
      return foundView(entry, common, acts);
    case "checking":
      /* What has arrived and finds no room is tried again by the server. */
      return entry.error
        ? { ...common, meaning: "warning", word: text("upload.waits"), shares: [1, ...NONE], actions: [] }
        : {
            ...common,
            meaning: "working",
            word: text("upload.checking", { percent: percent(entry.checked) }),
            shares: [-1, ...NONE],
            actions: [],
          };
    case "refused": {
      const actions = entry.again ? [[RETRY, text("job.retry"), () => act.resume(entry)], acts.drop] : [acts.drop];
      return { ...common, meaning: "error", word: text("upload.refused"), shares: [1, ...NONE], actions };
    }
    case "received": {
      const { outcome, version } = entry.receipt;
      const word =
        outcome === "unchanged"
          ? text("upload.unchanged", { version })
          : text(outcome === "restored" ? "upload.restored" : "upload.received");
      return {
        ...common,
        detail: [...common.detail, ...nextSteps(entry)],
        meaning: "ok",
        isDone: true,
        word,
        shares: [1, ...ALL],
        actions: [],
      };
    }
    default:
      return jobView(entry, common, acts);
  }
};
