/* Rows of background work, drawn in the browser so that hundreds of them stay smooth.
   A row is made once and then only changed where it differs. Names and errors are set as text, never as HTML. */
import { icon, make, text } from "../shared/texts.js";

export const STAGES = ["stored", "parsing", "chunking", "keywords", "embedding", "indexing", "published"];
export const RETRY = "arrow-clockwise";
export const FINISHED = new Set(["done", "failed", "cancelled"]);

const button = (name, label, action, inWords) => {
  const element = make("button", inWords ? "btn btn-quiet btn-sm" : "job-action");
  element.type = "button";
  element.title = label;
  element.append(icon(name), make("span", inWords ? "" : "visually-hidden", label));
  element.addEventListener("click", action);
  return element;
};

/* ---- what a job means in words ---------------------------------------------------------------------------------- */
const MEANINGS = {
  working: "arrow-repeat",
  ok: "check-circle-fill",
  error: "x-circle-fill",
  warning: "exclamation-triangle-fill",
  neutral: "dash-circle",
};
/* About how long something takes, in words; nothing where nobody knows. */
export const remaining = (seconds) => {
  if (seconds === null || seconds === undefined) {
    return "";
  }
  if (seconds < 60) {
    return text("job.left.seconds", { count: Math.max(1, Math.round(seconds)) });
  }
  const [unit, count] = seconds < 5400 ? ["minutes", Math.round(seconds / 60)] : ["hours", Math.round(seconds / 3600)];
  return text(`job.left.${unit}`, { count });
};
/* What is counted says how far a stage is; the share of the whole beside it would be another number for the same. */
export const meaning = (job) => {
  const [sign, word] = stageOf(job);
  const isActive = job.state === "queued" || job.state === "running";
  const part = Math.floor(100 * (job.share || 0));
  const share = isActive && part > 0 && !(job.total > 1) ? text("job.share", { percent: part }) : "";
  return [sign, [word, share, isActive ? remaining(job.seconds_left) : ""].filter(Boolean).join(" · ")];
};
/* Pages that are pictures are counted while their text is recognised, within the stage of reading. */
const isRecognising = (job) => job.stage === "parsing" && job.total > 0 && job.resources?.peak_pictures === job.total;
const stageOf = (job) => {
  if (job.state === "done") {
    return ["ok", text("job.state.done")];
  }
  if (job.state === "failed") {
    return ["error", text("job.state.failed")];
  }
  if (job.state === "cancelled") {
    return ["neutral", text("job.state.cancelled")];
  }
  if (job.state === "queued" && job.stage === "stored") {
    return ["neutral", text("job.state.queued")];
  }
  const stage = text(`job.stage.${isRecognising(job) ? "recognising" : job.stage}`);
  if (job.total > 1) {
    return ["working", text("job.of", { stage, done: job.done, total: job.total })];
  }
  /* How many pieces a text will have is not known before its end. */
  return ["working", job.done > 1 ? text("job.so_far", { stage, done: job.done }) : stage];
};

/* The share of each stage that is done, 0 to 1; -1 where a stage runs and cannot say how far it is. The last stage
   of a failed job is the one that broke. */
export const shares = (job) => {
  const at = STAGES.indexOf(job.stage);
  return STAGES.map((_, index) => {
    if (job.state === "done" || index < at || index === 0) {
      return 1;
    }
    if (index > at || job.state === "queued") {
      return 0;
    }
    if (job.state === "failed") {
      return 1;
    }
    if (job.total > 1) {
      return job.done / job.total;
    }
    return FINISHED.has(job.state) ? 0 : -1;
  });
};

let fileIcons;
const fileIcon = (name) => {
  fileIcons ||= JSON.parse(document.getElementById("script-texts").dataset.fileIcons);
  return fileIcons[name.slice(name.lastIndexOf(".") + 1).toLowerCase()] || "file-earmark-text";
};

/* What a row says, in parts that stay whole at the end of a line. */
const inParts = (words) => {
  const said = make("span", "");
  const parts = words.split(" · ");
  parts.forEach((part, index) => {
    said.append(index ? " " : "", make("span", "job-part", index < parts.length - 1 ? `${part} ·` : part));
  });
  return said;
};

/* ---- one row ------------------------------------------------------------------------------------------------------ */
export class Row {
  /* columns: the stages that have a bar, e.g. ["sending", ...STAGES] */
  constructor(name, columns) {
    this.element = make("li", "job");
    this.icon = icon(fileIcon(name));
    this.icon.classList.add("file-icon");
    this.link = make("a", "job-name", name);
    this.link.title = name;
    this.detail = make("span", "job-detail muted");
    const words = make("div", "job-words");
    words.append(this.link, this.detail);
    this.bars = make("div", "job-bars");
    this.bars.setAttribute("role", "progressbar");
    this.bars.setAttribute("aria-label", name);
    this.bars.setAttribute("aria-valuemin", "0");
    this.bars.setAttribute("aria-valuemax", "100");
    this.fills = columns.map((column) => {
      const bar = make("span", "job-bar");
      bar.title = text(`job.stage.${column}`);
      const fill = make("span", "job-fill");
      bar.append(fill);
      this.bars.append(bar);
      return fill;
    });
    this.state = make("span", "meaning");
    this.actions = make("div", "job-actions");
    this.error = make("div", "job-error");
    this.error.hidden = true;
    this.said = make("span");
    this.remedies = make("span");
    this.error.append(this.said, this.remedies);
    this.element.append(this.icon, words, this.bars, this.state, this.actions, this.error);
    this.shown = "";
  }

  /* view: {meaning, word, shares, href, detail, error, actions: [[icon, label, function]]} */
  show(view) {
    const signature = JSON.stringify([
      view.meaning,
      view.word,
      view.shares,
      view.href,
      view.detail,
      view.error,
      view.actions.map((action) => action[1]),
    ]);
    if (signature === this.shown) {
      return;
    }
    this.shown = signature;
    const focused = this.element.contains(document.activeElement) && document.activeElement !== this.link;
    this.element.dataset.meaning = view.meaning;
    this.state.className = `meaning meaning-${view.meaning}`;
    this.state.replaceChildren(icon(MEANINGS[view.meaning]), inParts(view.word));
    if (view.href) {
      this.link.href = view.href;
    } else {
      this.link.removeAttribute("href");
    }
    this.detail.replaceChildren(...[view.detail].flat().filter(Boolean));
    let sum = 0;
    const broken = view.meaning === "error" ? view.shares.findLastIndex((share) => share > 0) : -1;
    view.shares.forEach((share, index) => {
      const fill = this.fills[index];
      fill.classList.toggle("job-fill-open", share < 0);
      fill.classList.toggle("job-fill-broken", index === broken);
      fill.style.transform = `scaleX(${share < 0 ? 1 : share})`;
      sum += Math.max(0, share);
    });
    this.bars.setAttribute("aria-valuenow", String(Math.round((100 * sum) / view.shares.length)));
    this.bars.setAttribute("aria-valuetext", view.word);
    this.error.hidden = !view.error;
    this.said.replaceChildren();
    if (view.error) {
      this.said.append(
        make("strong", "", view.error.title),
        make("span", "", ` ${view.error.detail || ""} ${view.error.remedy || ""} `),
        make("code", "", view.error.code),
      );
    }
    this.act(view.actions, Boolean(view.error));
    if (focused && !this.element.contains(document.activeElement)) {
      (this.element.querySelector("button") || this.link).focus();
    }
  }

  /* A button stays the same one while its place and words do, so that it can be pressed while the row moves. */
  act(actions, hasError) {
    this.wanted = actions;
    const offered = JSON.stringify([hasError, actions.map(([name, label]) => [name, label])]);
    if (offered === this.offered) {
      return;
    }
    this.offered = offered;
    const buttons = actions.map(([name, label], index) =>
      button(name, label, (event) => this.wanted[index][2](event), hasError && name === RETRY),
    );
    const isRemedy = (_, index) => hasError && actions[index][0] === RETRY;
    this.remedies.replaceChildren(...buttons.filter(isRemedy));
    this.actions.replaceChildren(...buttons.filter((each, index) => !isRemedy(each, index)));
  }
}

/* ---- talking to the server ------------------------------------------------------------------------------------------ */
export const request = async (path, method = "GET") => {
  const response = await fetch(path, { method, headers: { Accept: "application/json" } });
  const body = await response.json();
  if (!response.ok) {
    throw Object.assign(new Error(body.title), { problem: body });
  }
  return body;
};
export const documentHref = (key, version) =>
  `/documents/${encodeURIComponent(key)}${version ? `?version=${version}` : ""}`;

export const jobActions = (job, act) => {
  if (document.querySelector(".shell")?.dataset.role === "reader") {
    return [];
  }
  const call = (verb) => async () => {
    try {
      act(await request(`/api/v1/jobs/${encodeURIComponent(job.id)}/${verb}`, "POST"));
    } catch (error) {
      act({ ...job, error: error.problem || { title: text("job.offline"), code: "offline" } });
    }
  };
  if (job.state === "failed" || job.state === "cancelled") {
    return [[RETRY, text("job.retry"), call("retry")]];
  }
  return FINISHED.has(job.state) ? [] : [["x-lg", text("job.cancel"), call("cancel")]];
};

/* ---- the head of a table of jobs ------------------------------------------------------------------------------------ */
export const heading = (columns) => {
  const row = make("div", "job job-heading");
  row.setAttribute("aria-hidden", "true");
  const bars = make("div", "job-bars");
  bars.append(...columns.map((column) => make("span", "", text(`job.stage.${column}`))));
  row.append(
    make("span", ""),
    make("span", "", text("job.name")),
    bars,
    make("span", "", text("job.state")),
    make("span", ""),
  );
  return row;
};
