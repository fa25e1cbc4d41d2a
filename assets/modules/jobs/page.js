/* Lists of jobs: <div data-job-list="active|all" data-job-limit="n">. A list is read once and then follows the server's
   events, so that thousands of jobs cost nothing while they rest. What is chosen stands in the address. */
import { drawLog } from "./log.js";
import {
  documentHref,
  FINISHED,
  heading,
  jobActions,
  meaning,
  remaining,
  request,
  RETRY,
  Row,
  shares,
  STAGES,
} from "./rows.js";
import { icon, make, relative, text } from "../shared/texts.js";

const STATES = { all: [], active: ["queued", "running"], failed: ["failed"], done: ["done"], cancelled: ["cancelled"] };
const CHOICES = ["state", "kind", "who", "search"];
const MOST_ACTIVE = 500;

/* ---- what is chosen --------------------------------------------------------------------------------------------- */
const chosen = () => {
  const given = new URLSearchParams(window.location.search);
  const found = Object.fromEntries(CHOICES.map((name) => [name, given.get(name) || ""]));
  found.state = found.state in STATES ? found.state : "all";
  return found;
};
const choose = (changes) => {
  const now = { ...chosen(), ...changes };
  const said = CHOICES.filter((name) => now[name] && now[name] !== "all");
  const query = new URLSearchParams(said.map((name) => [name, now[name]])).toString();
  window.history.replaceState({}, "", window.location.pathname + (query ? `?${query}` : ""));
  mark();
  lists.forEach((list) => list.load());
};
const mark = () => {
  const now = chosen();
  for (const button of document.querySelectorAll("[data-job-filter]")) {
    button.setAttribute("aria-pressed", String(button.dataset.jobFilter === now.state));
  }
  for (const field of document.querySelectorAll("[data-job-choice]")) {
    if (field !== document.activeElement) {
      field.value = now[field.dataset.jobChoice];
    }
  }
};
const select = (name, options) => {
  const field = make("select", "form-select form-select-sm");
  field.dataset.jobChoice = name;
  field.setAttribute("aria-label", text(`job.choice.${name}`));
  for (const [value, words] of options) {
    field.append(Object.assign(make("option", "", words), { value }));
  }
  return field;
};
const drawChoices = (place) => {
  const search = make("input", "form-control form-control-sm");
  search.type = "search";
  search.placeholder = text("job.choice.search");
  search.setAttribute("aria-label", text("job.choice.search"));
  search.dataset.jobChoice = "search";
  const kinds = place.dataset.jobChoices.split(",").map((kind) => [kind, text(`job.kind.${kind}`)]);
  const again = make("button", "btn btn-secondary btn-sm");
  again.type = "button";
  again.dataset.jobRetryAll = "";
  again.hidden = true;
  again.append(icon(RETRY), make("span", "", text("job.retry_all")));
  place.append(search, select("kind", [["", text("job.kind.any")], ...kinds]));
  if (place.dataset.jobMe) {
    place.append(
      select("who", [
        ["", text("job.who.any")],
        [place.dataset.jobMe, text("job.who.me")],
      ]),
    );
  }
  place.append(again);
};
const rest = (now) => ({ kind: now.kind, actor: now.who, search: now.search });

/* ---- one list ------------------------------------------------------------------------------------------------------ */
class JobList {
  constructor(element) {
    this.element = element;
    this.onlyActive = element.dataset.jobList === "active";
    this.limit = Number(element.dataset.jobLimit || 100);
    this.jobs = new Map();
    this.rows = new Map();
    this.open = new Set();
    this.seen = new Set();
    this.turn = 0;
    this.list = make("ul", "job-list");
    this.summary = make("p", "job-summary");
    this.summary.setAttribute("role", "status");
    this.empty = element.querySelector("[data-job-empty]");
    this.none = make("p", "job-none muted", text("job.none_chosen"));
    this.none.hidden = true;
    this.body = make("div", "job-table");
    this.body.append(heading(STAGES), this.list);
    this.more = make("button", "btn btn-secondary btn-sm job-more", text("job.more"));
    this.more.type = "button";
    this.more.hidden = true;
    this.more.addEventListener("click", () => this.load([...this.jobs.values()].at(-1)?.id));
    element.append(this.summary, this.none, this.body, this.more);
    this.body.hidden = true;
    this.load();
  }

  get wanted() {
    return this.onlyActive ? { state: "active", kind: "", who: "", search: "" } : chosen();
  }

  /* Read the list as it is now, or the rows after the last one that is shown. */
  async load(before = "") {
    const turn = ++this.turn;
    const now = this.wanted;
    const query = new URLSearchParams({ limit: this.onlyActive ? MOST_ACTIVE : this.limit, before, ...rest(now) });
    STATES[now.state].forEach((state) => query.append("state", state));
    for (const name of ["before", "kind", "actor", "search"]) {
      if (!query.get(name)) {
        query.delete(name);
      }
    }
    let answer;
    try {
      answer = await request(`/api/v1/jobs?${query}`);
    } catch (error) {
      this.say(error.problem?.title || text("job.offline"));
      window.setTimeout(() => turn === this.turn && this.load(before), 4000);
      return;
    }
    if (turn !== this.turn) {
      return;
    }
    this.element.querySelector("[data-job-loading]")?.remove();
    this.jobs = new Map([...(before ? this.jobs : []), ...answer.jobs.map((job) => [job.id, job])]);
    this.counts = answer.counts;
    this.more.hidden = this.onlyActive || answer.jobs.length < this.limit;
    this.draw();
  }

  fits(job) {
    const now = this.wanted;
    return (
      (!STATES[now.state].length || STATES[now.state].includes(job.state)) &&
      (!now.kind || job.kind === now.kind) &&
      (!now.who || job.actor === now.who) &&
      (!now.search || job.name.toLowerCase().includes(now.search.toLowerCase()))
    );
  }

  /* A job has changed: its row is changed, added on top, or taken away. */
  take(job) {
    const former = this.jobs.get(job.id);
    if (former && former.change > job.change) {
      return;
    }
    if (this.counts && former?.state !== job.state && (former || job.attempts === 0)) {
      if (former) {
        this.counts[former.state] = Math.max(0, (this.counts[former.state] || 0) - 1);
      }
      this.counts[job.state] = (this.counts[job.state] || 0) + 1;
    }
    if (!this.fits(job)) {
      this.jobs.delete(job.id);
    } else if (former) {
      this.jobs.set(job.id, job);
    } else {
      this.jobs = new Map([[job.id, job], ...this.jobs]);
    }
    this.drawSoon();
  }

  drawSoon() {
    this.frame ||= window.requestAnimationFrame(() => {
      this.frame = 0;
      this.draw();
    });
  }

  say(words) {
    if (this.summary.textContent !== words) {
      this.summary.textContent = words;
    }
  }

  draw() {
    const jobs = [...this.jobs.values()];
    if (this.onlyActive) {
      jobs.forEach((job) => this.seen.add(job.id));
      const done = this.seen.size - jobs.length;
      const left = jobs.every((job) => typeof job.seconds_left === "number")
        ? remaining(Math.max(...jobs.map((job) => job.seconds_left)))
        : "";
      const told = text("job.progress", { done, total: this.seen.size, count: this.seen.size });
      this.say(jobs.length ? [told, left].filter(Boolean).join(" · ") : "");
      if (!jobs.length) {
        this.seen.clear();
      }
    } else {
      const count = (...states) => states.reduce((sum, state) => sum + (this.counts?.[state] || 0), 0);
      this.say(
        text("job.summary", { active: count("queued", "running"), done: count("done"), failed: count("failed") }),
      );
      const all = document.querySelector("[data-job-retry-all]");
      if (all) {
        all.hidden = count("failed") === 0;
      }
      const nothing =
        count(...Object.keys(this.counts || {})) === 0 && Object.values(rest(this.wanted)).every((word) => !word);
      if (this.empty) {
        this.empty.hidden = !nothing;
      }
      this.none.hidden = nothing || jobs.length > 0;
    }
    const wanted = this.onlyActive ? jobs.slice(-this.limit).reverse() : jobs;
    this.element.dataset.count = String(jobs.length);
    this.body.hidden = wanted.length === 0;
    const keep = new Set(wanted.map((job) => job.id));
    for (const [id, row] of this.rows) {
      if (!keep.has(id)) {
        row.element.remove();
        this.rows.delete(id);
      }
    }
    wanted.forEach((job, index) => {
      let row = this.rows.get(job.id);
      if (!row) {
        row = new Row(job.name, STAGES);
        this.rows.set(job.id, row);
      }
      if (this.list.children[index] !== row.element) {
        this.list.insertBefore(row.element, this.list.children[index] || null);
      }
      this.show(row, job);
    });
  }

  show(row, job) {
    const [sign, word] = meaning(job);
    const time = make("time", "when", relative(new Date(job.created_at)));
    time.dateTime = job.created_at;
    const kinds = { unpack: "job.archive", reindex: "job.words", repair: "job.kind.repair" };
    const about = text(kinds[job.kind] || "job.version", { version: job.version });
    const detail = [make("span", "", about), time];
    if (job.actor) {
      detail.splice(1, 0, make("span", "", job.actor));
    }
    if (job.keyword_ready && !FINISHED.has(job.state)) {
      detail.push(make("span", "job-ready", text("job.keyword_ready")));
    }
    if (job.resources?.peak_aside_s && job.stage === "parsing" && job.state === "running") {
      detail.push(make("span", "job-aside", text("job.aside")));
    }
    const isOpen = this.open.has(job.id);
    const log = ["journal-text", text(isOpen ? "job.log.close" : "job.log.open"), () => this.toggle(row, job.id)];
    row.show({
      meaning: sign,
      word,
      shares: shares(job),
      href: kinds[job.kind] ? null : documentHref(job.doc_key, job.version),
      detail,
      error: job.error,
      actions: [...jobActions(job, (changed) => this.take(changed)), ...(this.onlyActive ? [] : [log])],
    });
    if (isOpen && row.logged !== job.change) {
      row.logged = job.change;
      drawLog(row.log, job);
    }
  }

  toggle(row, id) {
    if (this.open.delete(id)) {
      row.log.remove();
      row.logged = null;
    } else {
      this.open.add(id);
      row.log = make("div", "job-log");
      row.log.setAttribute("aria-label", text("job.log"));
      row.log.setAttribute("role", "region");
      row.element.append(row.log);
    }
    this.show(row, this.jobs.get(id));
  }
}

/* ---- what happens at the server -------------------------------------------------------------------------------------- */
const lists = new Map();
let events = null;
const listen = () => {
  const isWanted = lists.size > 0 && !document.hidden;
  if (!isWanted && events) {
    events.close();
    events = null;
  } else if (isWanted && !events) {
    events = new EventSource("/api/v1/jobs/events");
    events.addEventListener("job", (event) => {
      const job = JSON.parse(event.data);
      lists.forEach((list) => list.take(job));
    });
    events.addEventListener("reload", () => lists.forEach((list) => list.load()));
    /* What was missed before the line stood, or while it was cut, is read anew. */
    events.addEventListener("open", () => lists.forEach((list) => list.load()));
    events.addEventListener("error", () => {
      lists.forEach((list) => list.say(text("job.offline")));
      if (events?.readyState === EventSource.CLOSED) {
        events = null;
      }
    });
  }
};
const look = () => {
  for (const element of document.querySelectorAll("[data-job-list]")) {
    if (!lists.has(element)) {
      const place = document.querySelector("[data-job-choices]:empty");
      if (place) {
        drawChoices(place);
      }
      lists.set(element, new JobList(element));
      mark();
    }
  }
  for (const element of lists.keys()) {
    if (!element.isConnected) {
      lists.delete(element);
    }
  }
};
window.setInterval(look, 200);
window.setInterval(listen, 1000);
document.addEventListener("visibilitychange", listen);

const retryAll = async (button) => {
  button.disabled = true;
  try {
    const now = chosen();
    const body = Object.fromEntries(Object.entries(rest(now)).filter(([, word]) => word));
    const response = await fetch("/api/v1/jobs/retry-failed", {
      method: "POST",
      headers: { Accept: "application/json", "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    const answer = await response.json();
    const words = response.ok ? text("job.retried", { count: answer.jobs.length }) : answer.title;
    lists.forEach((list) => list.load().then(() => list.say(words)));
  } catch {
    lists.forEach((list) => list.say(text("job.offline")));
  }
  button.disabled = false;
};
document.addEventListener("click", (event) => {
  const choice = event.target.closest?.("[data-job-filter]");
  if (choice) {
    choose({ state: choice.dataset.jobFilter });
  }
  const all = event.target.closest?.("[data-job-retry-all]");
  if (all) {
    retryAll(all);
  }
});
let typed = 0;
document.addEventListener("input", (event) => {
  const name = event.target.dataset?.jobChoice;
  if (name) {
    window.clearTimeout(typed);
    typed = window.setTimeout(() => choose({ [name]: event.target.value.trim() }), name === "search" ? 250 : 0);
  }
});
