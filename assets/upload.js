/* Uploads: files go out three at a time, one request a file, and each is followed through the stages of indexing.
   The list lives in this script, not in the page, so sending goes on while other pages are shown. */
(() => {
  const { text, size, work, filesOf, documentsIn } = window.evorag;
  const { Row, RETRY, STAGES, FINISHED, make, icon, heading, meaning, shares, request, documentHref, jobActions } = work;
  const COLUMNS = ["sending", ...STAGES];
  const AT_ONCE = 3;
  const POLL_MS = 400;
  const POLLED_FIRST = 60;
  const POLLED_NEXT = 20;
  const ROWS_A_FRAME = 50;
  const STORE = "evorag-uploads";

  const entries = [];
  const byJob = new Map();
  let page = null;
  let rotation = 0;
  let restored = false;

  /* ---- remembered over a reload: what the server already has ------------------------------------------------------------ */
  const remember = () => {
    const kept = entries.filter((entry) => entry.receipt).slice(-500);
    const what = ({ name, bytes, receipt, filing }) => ({ name, bytes, receipt, filing });
    try {
      sessionStorage.setItem(STORE, JSON.stringify(kept.map(what)));
    } catch {
      /* full or forbidden: the jobs page still lists everything */
    }
  };
  const restore = async () => {
    if (restored) {
      return;
    }
    restored = true;
    let kept = [];
    try {
      kept = JSON.parse(sessionStorage.getItem(STORE) || "[]");
    } catch {
      /* nothing was kept */
    }
    for (const { name, bytes, receipt, filing } of kept) {
      add({ name, bytes, receipt, filing, sent: 1, state: receipt.job_id ? "job" : "received" });
    }
    try {
      const { jobs } = await request("/api/v1/jobs?active=1&limit=500");
      for (const job of jobs.reverse()) {
        if (!byJob.has(job.id)) {
          const receipt = { outcome: "new", doc_key: job.doc_key, version: job.version, job_id: job.id };
          add({ name: job.name, bytes: null, receipt, sent: 1, state: "job", job });
        }
      }
    } catch {
      /* the next poll says so */
    }
    drawAll();
  };

  const add = (entry) => {
    entries.push(entry);
    if (entry.receipt?.job_id) {
      byJob.set(entry.receipt.job_id, entry);
    }
    return entry;
  };

  /* ---- taking files ------------------------------------------------------------------------------------------------------ */
  const problem = (code, detail = "") => ({
    code, detail, title: text(`upload.error.${code}`), remedy: text(`upload.remedy.${code}`),
  });
  const refusal = (file) => {
    const extension = file.name.includes(".") ? file.name.slice(file.name.lastIndexOf(".") + 1).toLowerCase() : "";
    if (!page.accepted.has(extension)) {
      return problem("unsupported_type");
    }
    return file.size > page.maxBytes ? problem("too_large", text("upload.limit", { size: size(page.maxBytes) })) : null;
  };
  const take = (files) => {
    const tags = page.tags();
    const filing = page.filing();
    if (!filing) {
      return;
    }
    const first = entries.length;
    for (const file of files) {
      const error = refusal(file);
      add({ name: file.name, bytes: file.size, file, tags, filing, sent: 0, state: error ? "refused" : "waiting", error });
    }
    drawAll(Math.max(0, first - 1));
    sendNext();
  };
  const dropped = async (transfer) => take(await filesOf(transfer));

  /* ---- sending ------------------------------------------------------------------------------------------------------------- */
  const sendNext = () => {
    const sending = entries.filter((entry) => entry.state === "sending").length;
    entries.filter((entry) => entry.state === "waiting").slice(0, Math.max(0, AT_ONCE - sending)).forEach(send);
  };
  const send = (entry) => {
    const form = new FormData();
    for (const tag of entry.tags) {
      form.append("tags", tag);
    }
    for (const [name, value] of Object.entries(entry.filing)) {
      form.append(name, value);
    }
    form.append("file", entry.file, entry.name);
    const http = new XMLHttpRequest();
    Object.assign(entry, { state: "sending", sent: 0, error: null, http });
    http.open("POST", "/api/v1/documents");
    http.responseType = "json";
    http.setRequestHeader("Accept", "application/json");
    http.upload.addEventListener("progress", (event) => {
      entry.sent = event.lengthComputable ? event.loaded / event.total : 0;
      draw(entry);
    });
    http.addEventListener("loadend", () => {
      entry.http = null;
      if (entry.state !== "sending") {
        return;
      }
      if (http.status >= 200 && http.status < 300 && http.response) {
        entry.sent = 1;
        entry.file = null;
        entry.receipt = http.response;
        entry.state = entry.receipt.job_id ? "job" : "received";
        if (entry.receipt.job_id) {
          byJob.set(entry.receipt.job_id, entry);
        }
        remember();
      } else if (http.response?.code === "busy") {
        entry.state = "later";
        window.setTimeout(() => resend(entry), 1500 + 1500 * Math.random());
      } else {
        entry.error = http.response?.code ? http.response : problem("offline");
        entry.again = http.status === 0 || http.status === 408 || http.status === 429 || http.status >= 500;
        entry.state = "refused";
      }
      draw(entry);
      summarise();
      sendNext();
    });
    draw(entry);
    http.send(form);
  };

  /* ---- following the jobs --------------------------------------------------------------------------------------------------- */
  const unfinished = (entry) => entry.state === "job" && !(entry.job && FINISHED.has(entry.job.state));
  const poll = async () => {
    const open = entries.filter(unfinished);
    if (open.length && !document.hidden) {
      /* The oldest move first; of the rest a few at a time, so that none is forgotten. */
      const rest = open.slice(POLLED_FIRST);
      rotation = rest.length ? (rotation + POLLED_NEXT) % rest.length : 0;
      const asked = [...open.slice(0, POLLED_FIRST), ...rest.slice(rotation, rotation + POLLED_NEXT)];
      try {
        const { jobs } = await request(`/api/v1/jobs?ids=${asked.map((entry) => entry.receipt.job_id).join(",")}`);
        const found = new Set();
        for (const job of jobs) {
          found.add(job.id);
          const entry = byJob.get(job.id);
          entry.job = job;
          draw(entry);
        }
        for (const entry of asked) {
          if (!found.has(entry.receipt.job_id)) {
            entry.state = "received";
            draw(entry);
          }
        }
        offline(false);
      } catch {
        offline(true);
      }
      summarise();
    }
    window.setTimeout(poll, POLL_MS);
  };

  /* ---- drawing ---------------------------------------------------------------------------------------------------------------- */
  const remove = (entry) => {
    entry.http?.abort();
    entries.splice(entries.indexOf(entry), 1);
    byJob.delete(entry.receipt?.job_id);
    entry.row?.element.remove();
    entry.row = null;
    remember();
    summarise();
    sendNext();
  };
  const resend = (entry) => {
    if (!entries.includes(entry)) {
      return;
    }
    Object.assign(entry, { state: "waiting", error: null, sent: 0 });
    draw(entry);
    sendNext();
  };
  const view = (entry) => {
    const none = STAGES.map(() => 0);
    const href = entry.receipt && documentHref(entry.receipt.doc_key, entry.receipt.version);
    const common = { href, detail: entry.bytes === null ? [] : [make("span", "", size(entry.bytes))], error: entry.error };
    const drop = ["x-lg", text("upload.remove"), () => remove(entry)];
    switch (entry.state) {
      case "later":
      case "waiting":
        return { ...common, meaning: "neutral", word: text("upload.waiting"), shares: [0, ...none], actions: [drop] };
      case "sending": {
        const word = text("upload.sending", { percent: Math.round(100 * entry.sent) });
        const cancel = ["x-lg", text("job.cancel"), () => remove(entry)];
        return { ...common, meaning: "working", word, shares: [entry.sent, ...none], actions: [cancel] };
      }
      case "refused": {
        const actions = entry.again ? [[RETRY, text("job.retry"), () => resend(entry)], drop] : [drop];
        return { ...common, meaning: "error", word: text("upload.refused"), shares: [1, ...none], actions };
      }
      case "received": {
        const word = entry.receipt.outcome === "unchanged"
          ? text("upload.unchanged", { version: entry.receipt.version })
          : text(entry.receipt.outcome === "restored" ? "upload.restored" : "upload.received");
        return { ...common, meaning: "ok", isDone: true, word, shares: [1, ...STAGES.map(() => 1)], actions: [] };
      }
      default: {
        const job = entry.job || { id: entry.receipt.job_id, state: "queued", stage: "stored", done: 0, total: 0 };
        const [sign, usual] = meaning(job);
        const isDone = sign === "ok";
        const word = isDone ? finished(entry) : usual;
        /* A draft is finished and not published: its last bar stays empty. */
        const isDraft = isDone && Boolean(entry.filing?.draft || entry.filing?.publish_at);
        const bars = [1, ...shares(job)];
        if (isDraft) {
          bars[bars.length - 1] = 0;
        }
        const opens = ["box-arrow-up-right", text("upload.open"), () => window.evorag.go(href)];
        const changed = (now) => {
          entry.job = now;
          draw(entry);
          summarise();
        };
        const detail = [...common.detail, make("span", "", text("job.version", { version: entry.receipt.version }))];
        const actions = isDone ? [opens] : jobActions(job, changed);
        return { ...common, detail, meaning: isDraft ? "neutral" : sign, isDone, word, shares: bars, error: job.error, actions };
      }
    }
  };
  /* A draft is indexed like any other file, and no question sees it. */
  const finished = ({ filing }) => {
    if (filing?.publish_at) {
      return text("upload.done_at", { time: window.evorag.moment(filing.publish_at) });
    }
    return text(filing?.draft ? "upload.done_draft" : "job.state.done");
  };
  const draw = (entry) => {
    if (!page) {
      return;
    }
    if (!entry.row) {
      entry.row = new Row(entry.name, COLUMNS);
      page.list.append(entry.row.element);
    }
    entry.row.show(view(entry));
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
  const summarise = () => {
    if (!page) {
      return;
    }
    const now = entries.map((entry) => view(entry));
    const failed = now.filter((item) => item.meaning === "error").length;
    const done = now.filter((item) => item.isDone).length;
    const total = now.length;
    const sum = now.reduce((whole, item) => whole + (item.isDone ? COLUMNS.length : item.shares.reduce((part, share) => part + Math.max(0, share), 0)), 0);
    page.body.hidden = total === 0;
    page.element.classList.toggle("upload-busy", total > 0);
    page.overall.value = total ? sum / (total * COLUMNS.length) : 0;
    page.count.textContent = text("upload.summary", { done, total, count: total })
      + (failed ? ` · ${text("upload.failed", { count: failed })}` : "");
    page.clear.hidden = done === 0;
    page.onlyFailed.hidden = failed === 0;
    if (failed === 0 && page.onlyFailed.getAttribute("aria-pressed") === "true") {
      page.onlyFailed.click();
    }
    /* Screen readers hear the state every three seconds at most, and always the last one. */
    window.clearTimeout(later);
    later = window.setTimeout(() => {
      spoken = Date.now();
      page.live.textContent = total ? page.count.textContent : "";
    }, Math.max(0, spoken + 3000 - Date.now()));
  };
  const offline = (is) => {
    if (page) {
      page.offline.hidden = !is;
    }
  };

  /* ---- the page comes and goes --------------------------------------------------------------------------------------------------- */
  const attach = (element) => {
    const list = make("ul", "job-list");
    const body = make("section", "upload-work");
    const head = make("div", "upload-head");
    const count = make("p", "upload-count");
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
      entries.filter((entry) => view(entry).isDone).forEach(remove);
    });
    const onlyFailed = make("button", "btn btn-secondary btn-sm", text("upload.only_failed"));
    onlyFailed.type = "button";
    onlyFailed.setAttribute("aria-pressed", "false");
    onlyFailed.addEventListener("click", () => {
      const on = onlyFailed.getAttribute("aria-pressed") !== "true";
      onlyFailed.setAttribute("aria-pressed", String(on));
      list.classList.toggle("job-list-failed", on);
    });
    const buttons = make("div", "page-action");
    buttons.append(onlyFailed, clear);
    head.append(count, buttons);
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
    picker.accept = element.dataset.accept;
    const folders = make("input");
    folders.type = "file";
    folders.webkitdirectory = true;
    folders.hidden = true;
    zone.append(picker, folders);
    for (const input of [picker, folders]) {
      input.addEventListener("change", () => {
        take(documentsIn([...input.files]));
        input.value = "";
      });
    }
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
      dropped(event.dataTransfer);
    });

    const field = (name) => element.querySelector(`[data-upload-${name}] input`);
    const tagBox = field("tags");
    /* What is said about the versions; nothing where a time is wanted and not given yet. */
    const filing = () => {
      const said = { note: field("note").value.trim(), label: field("label").value.trim() };
      const choice = element.querySelector("[data-upload-publish] input[type=radio]:checked")?.value;
      if (choice === "draft") {
        said.draft = "true";
      } else if (choice === "at") {
        const box = element.querySelector("[data-upload-publish] input[type=datetime-local]");
        said.publish_at = window.evorag.instant(box.value);
        box.setCustomValidity(said.publish_at ? "" : text("upload.no_time"));
        if (!box.reportValidity()) {
          return null;
        }
      }
      return Object.fromEntries(Object.entries(said).filter(([, value]) => value));
    };
    page = {
      element, list, body, count, overall, clear, onlyFailed, live, offline: warning,
      accepted: new Set(element.dataset.accept.split(",").map((name) => name.slice(1))),
      maxBytes: Number(element.dataset.maxBytes),
      filing,
      tags: () => tagBox.value.split(/[,、，]/).map((tag) => tag.trim()).filter(Boolean),
    };
    drawAll();
    restore();
  };
  const detach = () => {
    window.clearTimeout(later);
    for (const entry of entries) {
      entry.row = null;
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

  /* A file dropped beside the zone must not replace the page. */
  for (const name of ["dragover", "drop"]) {
    window.addEventListener(name, (event) => {
      if (event.dataTransfer?.types.includes("Files")) {
        event.preventDefault();
      }
    });
  }
  window.addEventListener("beforeunload", (event) => {
    if (entries.some((entry) => ["sending", "waiting", "later"].includes(entry.state))) {
      event.preventDefault();
    }
  });
  poll();
})();
