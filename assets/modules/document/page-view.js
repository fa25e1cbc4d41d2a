/* The pages of a document as they look: pictures of those in view, their words on top, a passage marked, a text found. */
import { make, percent, placed } from "../shared/texts.js";

const WIDTHS = [800, 1200, 1600, 2400];
const ZOOMS = [0.5, 0.75, 1, 1.25, 1.5, 2, 3];
const SECOND_MS = 1000;
const AHEAD_PX = 900;
const measure = document.createElement("canvas").getContext("2d");

const said = (words, values) => words.replace(/\{(\w+)\}/g, (_, name) => values[name]);
const plain = (text) =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, "");

const asked = async (address, signal) => {
  const answer = await fetch(address, { headers: { Accept: "application/json" }, signal });
  const body = await answer.json();
  if (!answer.ok) {
    throw new Error([body.detail ?? body.title, body.remedy].filter(Boolean).join(" "));
  }
  return body;
};

class PageView {
  constructor(root) {
    this.root = root;
    this.base = root.dataset.pageView;
    this.words = JSON.parse(root.dataset.words);
    this.sheets = root.querySelector(".sheets");
    this.status = root.querySelector(".sheets-status");
    this.zoom = ZOOMS.indexOf(1);
    this.found = [];
    this.texts = new Map();
    this.leaving = new AbortController();
    this.addTools();
    this.open();
  }

  addTools() {
    this.number = make("input", "form-control form-control-sm");
    Object.assign(this.number, { type: "number", min: 1, value: 1, inputMode: "numeric" });
    this.number.addEventListener("change", () => this.goTo(Number(this.number.value)));
    this.root.querySelector(".sheet-number").append(this.number);
    const place = this.root.querySelector(".sheet-search");
    this.search = make("input", "form-control form-control-sm");
    Object.assign(this.search, { type: "search", placeholder: place.dataset.label, maxLength: 200 });
    this.search.setAttribute("aria-label", place.dataset.label);
    this.search.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && !event.isComposing) {
        event.preventDefault();
        this.find(this.search.value);
      }
    });
    this.search.addEventListener("input", () => this.search.value === "" && this.find(""));
    place.append(this.search);
    this.root.addEventListener("click", (event) => {
      const act = event.target.closest("[data-sheet-act]")?.dataset.sheetAct;
      const acts = {
        previous: () => this.goTo(this.current() - 1),
        next: () => this.goTo(this.current() + 1),
        smaller: () => this.setZoom(this.zoom - 1),
        larger: () => this.setZoom(this.zoom + 1),
        "next-found": () => this.nextFound(),
        again: () => this.open(),
      };
      acts[act]?.();
    });
    this.sheets.addEventListener("scroll", () => this.follow(), { passive: true });
  }

  async open() {
    const began = Date.now();
    const waiting = window.setInterval(() => {
      this.status.textContent = said(this.words.wait, { seconds: Math.round((Date.now() - began) / SECOND_MS) });
    }, SECOND_MS);
    this.status.replaceChildren();
    this.root.ariaBusy = "true";
    try {
      const { pages } = await asked(`${this.base}/pages`, this.leaving.signal);
      this.lay(pages);
      window.clearInterval(waiting);
      this.status.textContent = "";
      await this.reveal();
    } catch (error) {
      window.clearInterval(waiting);
      this.fail(error);
    } finally {
      this.root.ariaBusy = "false";
    }
  }

  fail(error) {
    if (error.name === "AbortError") {
      return;
    }
    const again = make("button", "btn btn-secondary btn-sm", this.words.again);
    again.type = "button";
    again.dataset.sheetAct = "again";
    this.status.replaceChildren(make("span", "sheets-failed", `${this.words.failed} ${error.message}`), again);
  }

  lay(pages) {
    const laid = pages.map((size, index) => {
      const sheet = make("div", "sheet");
      sheet.dataset.sheet = index + 1;
      sheet.style.setProperty("--ratio", `${size.width} / ${size.height}`);
      sheet.setAttribute("role", "group");
      sheet.setAttribute("aria-label", said(this.words.of, { page: index + 1, count: pages.length }));
      return sheet;
    });
    this.sheets.replaceChildren(...laid);
    this.count = pages.length;
    this.number.max = pages.length;
    this.root.querySelector(".sheet-count").textContent = `/ ${pages.length.toLocaleString()}`;
    this.observer = new IntersectionObserver(
      (entries) =>
        entries.forEach((entry) => (entry.isIntersecting ? this.draw(entry.target) : this.clear(entry.target))),
      { root: this.sheets, rootMargin: `${AHEAD_PX}px 0px` },
    );
    laid.forEach((sheet) => this.observer.observe(sheet));
  }

  /* The passage of the address: its page is known, or its first words are looked for. */
  async reveal() {
    const { start, sought, first, last } = this.root.dataset;
    if (start === undefined) {
      return;
    }
    let pages = [Number(first), Number(last)];
    if (first === undefined) {
      const found = sought ? (await asked(this.address("find", { text: sought }), this.leaving.signal)).pages : [];
      pages = found.length ? [found[0], found[0] + 1] : [0, 0];
    }
    this.marked = pages;
    if (pages[0] > 1) {
      this.goTo(pages[0]);
    }
    const target = this.sheet(pages[0]);
    if (target) {
      this.clear(target);
      await this.draw(target);
      const mark = target.querySelector(".sheet-mark");
      // Within the sheets first: that moves the mark, and the window is to show where it then is.
      this.centre(mark);
      mark?.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
  }

  centre(mark) {
    if (mark) {
      const space = this.sheets.getBoundingClientRect();
      const place = mark.getBoundingClientRect();
      this.sheets.scrollBy({ top: place.top - space.top - space.height / 3 });
    }
  }

  address(path, values) {
    const kept = Object.entries(values).filter(([, value]) => value !== undefined);
    return `${this.base}/pages/${path}${kept.length ? `?${new URLSearchParams(kept)}` : ""}`;
  }

  sheet(number) {
    return this.sheets.querySelector(`[data-sheet="${number}"]`);
  }

  async draw(sheet) {
    const page = Number(sheet.dataset.sheet);
    const wanted = sheet.clientWidth * Math.min(window.devicePixelRatio || 1, 2);
    const width = WIDTHS.find((each) => each >= wanted) ?? WIDTHS.at(-1);
    const isDrawn = sheet.querySelector("img")?.dataset.width === String(width);
    if (isDrawn) {
      return;
    }
    const picture = make("img", "sheet-picture");
    picture.alt = "";
    picture.dataset.width = width;
    picture.src = this.address(page, { width });
    picture.addEventListener("error", () => sheet.classList.add("sheet-lost"));
    picture.addEventListener("load", () => sheet.classList.add("sheet-there"));
    sheet.querySelector("img")?.remove();
    sheet.prepend(picture);
    if (!sheet.querySelector(".sheet-text")) {
      await this.write(sheet, page, picture);
    }
  }

  clear(sheet) {
    sheet.replaceChildren();
    sheet.classList.remove("sheet-there", "sheet-lost");
  }

  async write(sheet, page, picture) {
    const isMarked = this.marked && page >= this.marked[0] && page <= this.marked[1];
    const { start, end, reading } = isMarked ? this.root.dataset : {};
    const name = `${page}:${start ?? ""}`;
    try {
      if (!this.texts.has(name)) {
        this.texts.set(name, asked(this.address(`${page}/text`, { start, end, reading }), this.leaving.signal));
      }
      const text = await this.texts.get(name);
      if (!picture.isConnected || sheet.querySelector(".sheet-text")) {
        return;
      }
      text.marks.forEach((area) => sheet.append(placed(make("div", "sheet-mark"), area)));
      sheet.append(this.layer(text.runs, sheet));
      this.highlight(sheet);
    } catch {
      /* The picture is there; its words can be read as text. */
      this.texts.delete(name);
    }
  }

  /* Words that can be chosen and copied lie unseen over the picture, each as wide as it is drawn. */
  layer(runs, sheet) {
    const layer = make("div", "sheet-text");
    const { clientWidth: width, clientHeight: height } = sheet;
    runs.forEach((run) => {
      const { left, top, right, bottom } = run.area;
      const size = (bottom - top) * height * 0.9;
      measure.font = `${size}px sans-serif`;
      const stretch = ((right - left) * width) / (measure.measureText(run.text).width || 1);
      const word = make("span", "sheet-word", run.text + (run.ends_line ? "\n" : " "));
      word.dataset.plain = plain(run.text);
      Object.assign(word.style, {
        left: percent(left),
        top: percent(top),
        fontSize: `${((bottom - top) * 90).toFixed(3)}cqh`,
        transform: `scaleX(${stretch.toFixed(4)})`,
      });
      layer.append(word);
    });
    return layer;
  }

  current() {
    const middle = this.sheets.getBoundingClientRect().top + this.sheets.clientHeight / 2;
    const sheets = [...this.sheets.children];
    let low = 0;
    let high = sheets.length - 1;
    while (low < high) {
      const at = (low + high) >> 1;
      if (sheets[at].getBoundingClientRect().bottom < middle) {
        low = at + 1;
      } else {
        high = at;
      }
    }
    return low + 1;
  }

  follow() {
    if (!this.isFollowing) {
      this.isFollowing = true;
      window.requestAnimationFrame(() => {
        this.isFollowing = false;
        if (this.count && document.activeElement !== this.number) {
          this.number.value = this.current();
        }
      });
    }
  }

  goTo(page) {
    const wanted = Math.min(Math.max(Math.round(page) || 1, 1), this.count ?? 1);
    const target = this.sheet(wanted);
    if (target) {
      this.sheets.scrollTop += target.getBoundingClientRect().top - this.sheets.getBoundingClientRect().top - 8;
      this.number.value = wanted;
    }
  }

  setZoom(step) {
    const page = this.current();
    this.zoom = Math.min(Math.max(step, 0), ZOOMS.length - 1);
    this.sheets.style.setProperty("--zoom", ZOOMS[this.zoom]);
    this.root.querySelector(".sheet-zoom").textContent = `${Math.round(100 * ZOOMS[this.zoom])}%`;
    this.goTo(page);
    this.sheets.querySelectorAll(".sheet:has(img)").forEach((sheet) => this.draw(sheet));
  }

  async find(text) {
    this.wanted = plain(text);
    this.found = [];
    const result = this.root.querySelector(".sheet-found");
    const next = this.root.querySelector('[data-sheet-act="next-found"]');
    next.disabled = true;
    result.textContent = "";
    this.sheets.querySelectorAll(".sheet").forEach((sheet) => this.highlight(sheet));
    if (!this.wanted) {
      return;
    }
    try {
      this.found = (await asked(this.address("find", { text }), this.leaving.signal)).pages;
      result.textContent = this.found.length ? said(this.words.found, { count: this.found.length }) : this.words.none;
      next.disabled = this.found.length < 2;
      if (this.found.length && !this.found.includes(this.current())) {
        this.nextFound();
      }
    } catch (error) {
      result.textContent = error.name === "AbortError" ? "" : error.message;
    }
  }

  nextFound() {
    const here = this.current();
    this.goTo(this.found.find((page) => page > here) ?? this.found[0]);
  }

  highlight(sheet) {
    const words = [...sheet.querySelectorAll(".sheet-word")];
    words.forEach((word) => word.classList.remove("sheet-hit"));
    if (!this.wanted || !words.length) {
      return;
    }
    const whole = words.map((word) => word.dataset.plain).join("");
    const hits = [];
    for (let at = whole.indexOf(this.wanted); at >= 0; at = whole.indexOf(this.wanted, at + 1)) {
      hits.push([at, at + this.wanted.length]);
    }
    let done = 0;
    words.forEach((word) => {
      const end = done + word.dataset.plain.length;
      const isHit = hits.some(([first, last]) => first < end && last > done);
      word.classList.toggle("sheet-hit", isHit && end > done);
      done = end;
    });
  }

  close() {
    this.leaving.abort();
    this.observer?.disconnect();
  }
}

const views = new Map();
const mount = () => {
  views.forEach((view, root) => {
    if (!root.isConnected) {
      view.close();
      views.delete(root);
    }
  });
  document.querySelectorAll("[data-page-view]").forEach((root) => {
    if (!views.has(root)) {
      views.set(root, new PageView(root));
    }
  });
};
new MutationObserver(mount).observe(document.documentElement, { childList: true, subtree: true });
