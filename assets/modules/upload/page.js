/* The Upload page: takes files, and draws a row for each of the list with what is said about all of them. */
import { COLUMNS, pace, showRefused, uploadView } from "./rows.js";
import { entries, setup, shown } from "./entries.js";
import { acts, continueWith, restore, take } from "./steps.js";
import { heading, remaining, Row } from "../jobs/rows.js";
import { documentsIn, filesOf } from "../shared/files.js";
import { icon, instant, make, text } from "../shared/texts.js";

const ROWS_A_FRAME = 50;
const DRAW_MS = 200;
const RUNNING = new Set(["waiting", "sending", "stalled"]);
const UNSENT = new Set([...RUNNING, "paused"]);
let page = null;

const view = (entry) => uploadView(entry, acts);

/* ---- drawing ---------------------------------------------------------------------------------------------------------------- */
const draw = (entry) => {
  entry.drawn = Date.now();
  if (!page || !entries.includes(entry)) {
    return;
  }
  if (!entry.row) {
    entry.row = new Row(entry.name, COLUMNS);
    page.list.append(entry.row.element);
  }
  entry.row.element.dataset.state = entry.state;
  entry.row.show(view(entry));
  showRefused(entry);
};
const drawSoon = (entry) => {
  if (Date.now() - (entry.drawn || 0) > DRAW_MS) {
    draw(entry);
    summarise();
  }
};
/* Hundreds of new rows are made over several frames, so that the page answers in between. */
const drawAll = (from = 0) => {
  entries.slice(from, from + ROWS_A_FRAME).forEach(draw);
  if (from + ROWS_A_FRAME < entries.length) {
    window.requestAnimationFrame(() => drawAll(from + ROWS_A_FRAME));
  } else {
    summarise();
  }
};

let spoken = 0;
let later = 0;
let summing = 0;
const summarise = () => {
  if (summing) {
    return;
  }
  summing = window.setTimeout(() => {
    summing = 0;
    sumUp();
  }, DRAW_MS / 2);
};
const sumUp = () => {
  if (!page) {
    return;
  }
  const now = entries.map((entry) => view(entry));
  const failed = now.filter((item) => item.meaning === "error").length;
  const done = now.filter((item) => item.isDone).length;
  const total = now.length;
  /* Sending is a tenth of a file's way; what follows counts by its cost. */
  const shareOf = (item) => (item.isDone ? 1 : 0.1 * Math.max(0, item.shares[0]) + 0.9 * (item.whole || 0));
  const sum = now.reduce((whole, item) => whole + shareOf(item), 0);
  const lefts = now.filter((item) => !item.isDone && item.meaning !== "error").map((item) => item.left);
  const left = lefts.length && lefts.every((each) => typeof each === "number") ? remaining(Math.max(...lefts)) : "";
  page.body.hidden = total === 0;
  page.element.classList.toggle("upload-busy", total > 0);
  page.overall.value = total ? sum / total : 0;
  const isCut = entries.some((entry) => entry.state === "stalled" && entry.reason === "offline");
  page.count.textContent =
    text("upload.summary", { done, total, count: total }) +
    (left ? ` · ${left}` : "") +
    (failed ? ` · ${text("upload.failed", { count: failed })}` : "") +
    (isCut ? ` · ${text("upload.stalled.offline")}` : "");
  const unsent = entries.filter((entry) => UNSENT.has(entry.state));
  const speed = unsent.reduce(
    (whole, entry) => whole + (entry.state === "sending" && entry.speed ? entry.speed : 0),
    0,
  );
  const missing = unsent.reduce(
    (whole, entry) => whole + (entry.state === "paused" ? 0 : (1 - entry.sent) * entry.bytes),
    0,
  );
  page.rate.textContent = speed && unsent.length > 1 ? pace(speed, missing).join(" · ") : "";
  const running = unsent.some((entry) => entry.state !== "paused");
  page.pauseAll.hidden = unsent.length < 2;
  page.pauseAll.textContent = text(running ? "upload.pause_all" : "upload.resume_all");
  page.clear.hidden = done === 0;
  page.onlyFailed.hidden = failed === 0;
  if (failed === 0 && page.onlyFailed.getAttribute("aria-pressed") === "true") {
    page.onlyFailed.click();
  }
  /* Screen readers hear the state every three seconds at most, and always the last one. */
  window.clearTimeout(later);
  later = window.setTimeout(
    () => {
      spoken = Date.now();
      page.live.textContent = total ? page.count.textContent : "";
    },
    Math.max(0, spoken + 3000 - Date.now()),
  );
};
const offline = (is) => {
  if (page) {
    page.offline.hidden = !is;
  }
};
const erase = (entry) => {
  entry.row?.element.remove();
  entry.row = null;
};

/* ---- the page comes and goes --------------------------------------------------------------------------------------------------- */
const attach = (element) => {
  const list = make("ul", "job-list");
  const body = make("section", "upload-work");
  const head = make("div", "upload-head");
  const count = make("p", "upload-count");
  const rate = make("p", "upload-rate muted");
  const overall = make("progress", "upload-overall");
  overall.max = 1;
  overall.setAttribute("aria-label", text("upload.overall"));
  const live = make("p", "visually-hidden");
  live.setAttribute("role", "status");
  const warning = make("p", "error-line");
  warning.append(icon("exclamation-triangle-fill"), make("span", "", text("job.offline")));
  warning.hidden = true;
  const clear = make("button", "btn btn-secondary btn-sm", text("upload.clear"));
  clear.type = "button";
  clear.addEventListener("click", () => {
    entries.filter((entry) => view(entry).isDone).forEach(acts.remove);
  });
  const onlyFailed = make("button", "btn btn-secondary btn-sm", text("upload.only_failed"));
  onlyFailed.type = "button";
  onlyFailed.setAttribute("aria-pressed", "false");
  onlyFailed.addEventListener("click", () => {
    const on = onlyFailed.getAttribute("aria-pressed") !== "true";
    onlyFailed.setAttribute("aria-pressed", String(on));
    list.classList.toggle("job-list-failed", on);
  });
  const pauseAll = make("button", "btn btn-secondary btn-sm");
  pauseAll.type = "button";
  pauseAll.addEventListener("click", () => {
    const running = entries.filter((entry) => RUNNING.has(entry.state));
    if (running.length) {
      running.reverse().forEach(acts.pause);
    } else {
      entries.filter((entry) => entry.state === "paused").forEach(acts.resume);
    }
  });
  const buttons = make("div", "page-action");
  buttons.append(pauseAll, onlyFailed, clear);
  head.append(count, rate, buttons);
  const table = make("div", "job-table job-table-upload");
  table.append(heading(COLUMNS), list);
  body.append(head, overall, warning, table);
  body.hidden = true;
  element.querySelector("[data-upload-rows]").append(body, live);

  const zone = element.querySelector("[data-upload-zone]");
  const picker = make("input");
  picker.type = "file";
  picker.multiple = true;
  picker.hidden = true;
  picker.dataset.uploadPicker = "files";
  picker.accept = element.dataset.picked;
  const folders = make("input");
  folders.type = "file";
  folders.webkitdirectory = true;
  folders.hidden = true;
  for (const input of [picker, folders]) {
    input.addEventListener("change", () => {
      takeAll(documentsIn([...input.files]));
      input.value = "";
    });
  }
  const again = make("input");
  again.type = "file";
  again.hidden = true;
  again.dataset.uploadPicker = "again";
  let wanted = null;
  again.addEventListener("change", () => {
    if (wanted && again.files.length) {
      continueWith(wanted, again.files[0]);
    }
    again.value = "";
  });
  zone.append(picker, folders, again);
  element.querySelector('[data-upload-pick="files"]').addEventListener("click", () => picker.click());
  element.querySelector('[data-upload-pick="folder"]').addEventListener("click", () => folders.click());
  const over = (is) => zone.classList.toggle("upload-over", is);
  element.addEventListener("dragover", (event) => {
    event.preventDefault();
    over(true);
  });
  element.addEventListener("dragleave", (event) => {
    if (!element.contains(event.relatedTarget)) {
      over(false);
    }
  });
  element.addEventListener("drop", (event) => {
    event.preventDefault();
    over(false);
    filesOf(event.dataTransfer).then(takeAll);
  });

  const field = (name) => element.querySelector(`[data-upload-${name}] input`);
  const tagBox = field("tags");
  /* What is said about the versions; nothing where a time is wanted and not given yet. */
  const filing = () => {
    const said = { note: field("note").value.trim(), label: field("label").value.trim() };
    const choice = element.querySelector("[data-upload-publish] input[type=radio]:checked")?.value;
    if (choice === "draft" || choice === "early") {
      said[choice] = "true";
    } else if (choice === "whole") {
      said.early = "false";
    } else if (choice === "at") {
      const box = element.querySelector("[data-upload-publish] input[type=datetime-local]");
      said.publish_at = instant(box.value);
      box.setCustomValidity(said.publish_at ? "" : text("upload.no_time"));
      if (!box.reportValidity()) {
        return null;
      }
    }
    if (element.querySelector("[data-upload-private] input")?.checked) {
      said.private = "true";
    }
    return Object.fromEntries(Object.entries(said).filter(([, value]) => value));
  };
  page = {
    element,
    list,
    body,
    count,
    overall,
    clear,
    onlyFailed,
    live,
    offline: warning,
    filing,
    rate,
    pauseAll,
    tags: () =>
      tagBox.value
        .split(/[,、，]/)
        .map((tag) => tag.trim())
        .filter(Boolean),
  };
  Object.assign(setup, {
    accepted: element.dataset.accept.split(","),
    archives: element.dataset.archives.split(","),
    maxBytes: Number(element.dataset.maxBytes),
    partBytes: Number(element.dataset.partBytes),
    tus: element.dataset.tus,
  });
  shown.chooseFor = (entry) => {
    wanted = entry;
    again.click();
  };
  drawAll();
  restore();
};
const takeAll = (found) => {
  const filing = page.filing();
  if (filing) {
    const first = entries.length;
    take(found, page.tags(), filing);
    /* Others may stand before it: what was just chosen is in sight. */
    entries[first]?.row?.element.scrollIntoView({ block: "nearest" });
  }
};
const detach = () => {
  window.clearTimeout(later);
  for (const entry of entries) {
    entry.row = null;
    entry.refusedShown = 0;
  }
  page = null;
};
window.setInterval(() => {
  const element = document.querySelector("[data-upload]");
  if (page && page.element !== element) {
    detach();
  }
  if (element && !page) {
    attach(element);
  }
}, 150);

window.addEventListener("beforeunload", (event) => {
  if (entries.some((entry) => UNSENT.has(entry.state))) {
    event.preventDefault();
  }
});
Object.assign(shown, { draw, drawSoon, drawAll, erase, summarise, offline });
