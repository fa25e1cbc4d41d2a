/* Rows of background work, drawn in the browser so that hundreds of them stay smooth.
   A row is made once and then only changed where it differs. Names and errors are set as text, never as HTML. */
(() => {
  const STAGES = ["stored", "parsing", "chunking", "embedding", "indexing", "published"];
  const RETRY = "arrow-clockwise";
  const FINISHED = new Set(["done", "failed", "cancelled"]);
  const { text, size } = window.evorag;

  const make = (tag, className, content) => {
    const element = document.createElement(tag);
    if (className) {
      element.className = className;
    }
    if (content !== undefined) {
      element.textContent = content;
    }
    return element;
  };
  const icon = (name) => {
    const element = make("span", `icon icon-${name}`);
    element.setAttribute("aria-hidden", "true");
    return element;
  };
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
  const meaning = (job) => {
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
    const stage = text(`job.stage.${job.stage}`);
    return ["working", job.total > 1 ? text("job.of", { stage, done: job.done, total: job.total }) : stage];
  };

  /* The share of each stage that is done, 0 to 1; -1 where a stage runs and cannot say how far it is. The last stage
     of a failed job is the one that broke. */
  const shares = (job) => {
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

  const FILE_ICONS = {
    pdf: "file-earmark-pdf", doc: "file-earmark-word", docx: "file-earmark-word", xls: "file-earmark-excel",
    xlsx: "file-earmark-excel", csv: "filetype-csv", ppt: "file-earmark-slides", pptx: "file-earmark-slides",
    html: "file-earmark-code", htm: "file-earmark-code", md: "filetype-md", markdown: "filetype-md", txt: "filetype-txt",
  };
  const fileIcon = (name) => FILE_ICONS[name.slice(name.lastIndexOf(".") + 1).toLowerCase()] || "file-earmark-text";

  /* ---- one row ------------------------------------------------------------------------------------------------------ */
  class Row {
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
      this.element.append(this.icon, words, this.bars, this.state, this.actions, this.error);
      this.shown = "";
    }

    /* view: {meaning, word, shares, href, detail, error, actions: [[icon, label, function]]} */
    show(view) {
      const signature = JSON.stringify([view.meaning, view.word, view.shares, view.href, view.detail, view.error,
        view.actions.map((action) => action[1])]);
      if (signature === this.shown) {
        return;
      }
      this.shown = signature;
      const focused = this.element.contains(document.activeElement) && document.activeElement !== this.link;
      this.element.dataset.meaning = view.meaning;
      this.state.className = `meaning meaning-${view.meaning}`;
      this.state.replaceChildren(icon(MEANINGS[view.meaning]), make("span", "", view.word));
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
      this.error.replaceChildren();
      if (view.error) {
        this.error.append(
          make("strong", "", view.error.title),
          make("span", "", ` ${view.error.detail || ""} ${view.error.remedy || ""} `),
          make("code", "", view.error.code),
        );
      }
      const isRemedy = ([name]) => Boolean(view.error) && name === RETRY;
      this.error.append(...view.actions.filter(isRemedy).map((action) => button(...action, true)));
      this.actions.replaceChildren(...view.actions.filter((action) => !isRemedy(action)).map((action) => button(...action)));
      if (focused) {
        (this.element.querySelector("button") || this.link).focus();
      }
    }
  }

  /* ---- talking to the server ------------------------------------------------------------------------------------------ */
  const request = async (path, method = "GET") => {
    const response = await fetch(path, { method, headers: { Accept: "application/json" } });
    const body = await response.json();
    if (!response.ok) {
      throw Object.assign(new Error(body.title), { problem: body });
    }
    return body;
  };
  const documentHref = (key, version) =>
    `/documents/${encodeURIComponent(key)}${version ? `?version=${version}` : ""}`;

  const jobActions = (job, act) => {
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

  /* ---- lists of jobs: <div data-job-list="active|all" data-job-limit="n"> ---------------------------------------------- */
  const heading = (columns) => {
    const row = make("div", "job job-heading");
    row.setAttribute("aria-hidden", "true");
    const bars = make("div", "job-bars");
    bars.append(...columns.map((column) => make("span", "", text(`job.stage.${column}`))));
    row.append(make("span", ""), make("span", "", text("job.name")), bars, make("span", "", text("job.state")), make("span", ""));
    return row;
  };

  class JobList {
    constructor(element) {
      this.element = element;
      this.onlyActive = element.dataset.jobList === "active";
      this.limit = Number(element.dataset.jobLimit || 200);
      this.filter = new URLSearchParams(window.location.search).get("state") || "all";
      this.rows = new Map();
      this.seen = new Map();
      this.list = make("ul", "job-list");
      this.summary = make("p", "job-summary");
      this.summary.setAttribute("role", "status");
      this.empty = element.querySelector("[data-job-empty]");
      this.body = make("div", "job-table");
      this.body.append(heading(STAGES), this.list);
      element.querySelector("[data-job-loading]")?.remove();
      element.append(this.summary, this.body);
      this.body.hidden = true;
    }

    async refresh() {
      let jobs;
      try {
        const path = this.onlyActive ? "/api/v1/jobs?active=1&limit=500" : `/api/v1/jobs?limit=${this.limit}`;
        jobs = (await request(path)).jobs;
      } catch (error) {
        this.summary.textContent = error.problem?.title || text("job.offline");
        return 4000;
      }
      this.draw(jobs);
      return jobs.some((job) => !FINISHED.has(job.state)) ? 700 : 1500;
    }

    draw(jobs) {
      for (const job of jobs) {
        this.seen.set(job.id, job.state);
      }
      const ids = new Set(jobs.map((job) => job.id));
      if (this.onlyActive) {
        const done = [...this.seen.keys()].filter((id) => !ids.has(id)).length;
        this.summary.textContent = jobs.length ? text("job.progress", { done, total: this.seen.size, count: this.seen.size }) : "";
        if (!jobs.length) {
          this.seen.clear();
        }
      } else {
        const count = (state) => jobs.filter((job) => (state === "active" ? !FINISHED.has(job.state) : job.state === state)).length;
        const summary = text("job.summary", { active: count("active"), done: count("done"), failed: count("failed") });
        if (this.summary.textContent !== summary) {
          this.summary.textContent = summary;
        }
      }
      const wanted = this.onlyActive ? jobs.slice(-this.limit).reverse() : jobs.filter((job) => this.fits(job));
      this.element.dataset.count = String(jobs.length);
      this.body.hidden = wanted.length === 0;
      if (this.empty) {
        this.empty.hidden = jobs.length > 0;
      }
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

    fits(job) {
      return this.filter === "all" || (this.filter === "active" ? !FINISHED.has(job.state) : job.state === this.filter);
    }

    show(row, job) {
      const [sign, word] = meaning(job);
      const time = make("time", "when", window.evorag.relative(new Date(job.created_at)));
      time.dateTime = job.created_at;
      row.show({
        meaning: sign,
        word,
        shares: shares(job),
        href: documentHref(job.doc_key, job.version),
        detail: [make("span", "", text("job.version", { version: job.version })), time],
        error: job.error,
        actions: jobActions(job, (changed) => this.show(row, changed)),
      });
    }
  }

  /* Lists come and go with the pages; each is asked again at its own pace while the window is visible. */
  const lists = new Map();
  const look = () => {
    for (const element of document.querySelectorAll("[data-job-list]")) {
      if (!lists.has(element)) {
        lists.set(element, { list: new JobList(element), due: 0, busy: false });
      }
    }
    for (const [element, entry] of lists) {
      if (!element.isConnected) {
        lists.delete(element);
      } else if (!entry.busy && !document.hidden && Date.now() >= entry.due) {
        entry.busy = true;
        entry.list.refresh().then((pause) => {
          entry.due = Date.now() + pause;
          entry.busy = false;
        });
      }
    }
  };
  window.setInterval(look, 200);
  document.addEventListener("click", (event) => {
    const choice = event.target.closest?.("[data-job-filter]");
    if (!choice) {
      return;
    }
    const state = choice.dataset.jobFilter;
    window.history.replaceState({}, "", state === "all" ? "/jobs" : `/jobs?state=${state}`);
    markFilter(state);
    for (const entry of lists.values()) {
      entry.list.filter = state;
      entry.due = 0;
    }
  });
  const markFilter = (state) => {
    for (const choice of document.querySelectorAll("[data-job-filter]")) {
      choice.setAttribute("aria-pressed", String(choice.dataset.jobFilter === state));
    }
  };

  Object.assign(window.evorag, {
    work: { Row, RETRY, STAGES, FINISHED, make, icon, heading, meaning, shares, request, documentHref, jobActions, size,
      soon: () => lists.forEach((entry) => { entry.due = 0; }) },
  });
})();
