/* The command palette: one field, and below it the pages, documents, conversations and actions whose names fit.
   The focus stays in the field; the arrow keys move what is chosen, which assistive technology is told of by its id.
   Names are set as text, never as HTML. */
import { go } from "../shared/dash.js";
import { make, text } from "../shared/texts.js";

const DOCUMENTS = 8;
const CONVERSATIONS = 5;
const WAIT_MS = 120;
const part = (name) => document.getElementById(name ? `palette-${name}` : "palette");
let options = [];
let chosen = 0;
let waiting = 0;
let asked = 0;
let talks = null;
let found = { papers: [], spoken: [] };
let hasMoved = false;
let isLooking = false;
let isEntered = false;

const folded = (words) => words.normalize("NFKC").toLowerCase();
const fits = (words, query) => query.split(/\s+/).every((word) => folded(words).includes(word));
const mayEdit = () => document.querySelector(".shell")?.dataset.role !== "reader";
const fetched = async (address) => {
  const response = await fetch(address, { headers: { Accept: "application/json" } });
  if (!response.ok) {
    throw new Error(String(response.status));
  }
  return response.json();
};

/* ---- what is found ------------------------------------------------------------------------------------------------- */
const known = (query) => {
  const { pages, actions } = JSON.parse(part().dataset.entries);
  const allowed = actions.filter((action) => action.for !== "editor" || mayEdit());
  const named = (entries) => entries.filter((entry) => fits(`${entry.words} ${entry.beside ?? ""}`, query));
  return [
    ["pages", named(pages)],
    ["actions", named(allowed)],
  ];
};
const documents = async (query, typed) => {
  if (!query) {
    return [];
  }
  const found = await fetched(`/api/v1/documents?limit=${DOCUMENTS}&search=${encodeURIComponent(typed)}`);
  return found.documents.map((each) => ({
    words: each.title || each.name,
    beside: each.title ? each.name : "",
    symbol: "file-earmark-text",
    go: `/documents/${encodeURIComponent(each.doc_key)}`,
  }));
};
const conversations = async (query) => {
  if (!query) {
    return [];
  }
  talks ??= (await fetched("/api/v1/conversations?limit=100")).conversations;
  return talks
    .filter((talk) => talk.title && fits(talk.title, query))
    .slice(0, CONVERSATIONS)
    .map((talk) => ({
      words: talk.title,
      symbol: "chat-square-text",
      go: `/ask?conversation=${encodeURIComponent(talk.id)}`,
    }));
};

/* ---- how it is shown ------------------------------------------------------------------------------------------------- */
const choose = (index, scroll = true) => {
  chosen = options.length ? (index + options.length) % options.length : 0;
  options.forEach(({ element }, at) => element.setAttribute("aria-selected", String(at === chosen)));
  const element = options[chosen]?.element;
  part("field").setAttribute("aria-activedescendant", element?.id ?? "");
  if (scroll) {
    element?.scrollIntoView({ block: "nearest" });
  }
};
const row = (entry) => {
  const icon = make("span", `icon icon-${entry.symbol}`);
  icon.setAttribute("aria-hidden", "true");
  const beside = entry.beside ? [make("span", "muted palette-beside", entry.beside)] : [];
  const element = make("li", "palette-option", [icon, make("span", "palette-words", entry.words), ...beside]);
  element.id = `palette-option-${options.length}`;
  element.setAttribute("role", "option");
  element.addEventListener("click", () => run(entry));
  options.push({ entry, element });
  return element;
};
const group = (name, entries) => {
  const title = make("div", "palette-group", text(`palette.${name}`));
  title.id = `palette-group-${name}`;
  const list = make("ul", "palette-rows", entries.map(row));
  list.setAttribute("role", "group");
  list.setAttribute("aria-labelledby", title.id);
  title.setAttribute("role", "presentation");
  const holder = make("li", "", [title, list]);
  holder.setAttribute("role", "presentation");
  return holder;
};
const show = (groups, typed, failed) => {
  const before = options[chosen]?.entry.go;
  options = [];
  const drawn = groups.filter(([, entries]) => entries.length > 0).map(([name, entries]) => group(name, entries));
  const count = options.length;
  if (typed) {
    const words = text("palette.ask", { words: typed });
    drawn.push(row({ words, symbol: "send", go: `/ask?q=${encodeURIComponent(typed)}` }));
  }
  part("list").replaceChildren(...drawn);
  /* What the arrow keys have chosen stays chosen when more is found. */
  const kept = hasMoved ? options.findIndex(({ entry }) => entry.go && entry.go === before) : 0;
  choose(Math.max(kept, 0), hasMoved);
  const said = count > 0 ? text("palette.count", { count }) : text("palette.none");
  part("said").textContent = failed ? `${said} ${text("palette.failed")}` : said;
};
/* Until the server has answered, what it has found before is shown as far as it fits what is typed now. */
const look = async () => {
  const turn = ++asked;
  isLooking = true;
  const typed = part("field").value.trim();
  const query = folded(typed);
  const [pages, actions] = known(query);
  const still = (entries) =>
    query ? entries.filter(({ words, beside }) => fits(`${words} ${beside ?? ""}`, query)) : [];
  const draw = (papers, spoken, failed) =>
    show([pages, ["documents", papers], ["conversations", spoken], actions], typed, failed);
  draw(still(found.papers), still(found.spoken), false);
  const results = await Promise.allSettled([documents(query, typed), conversations(query)]);
  if (turn !== asked || !part().open) {
    return;
  }
  isLooking = false;
  const [papers, spoken] = results.map(({ value }) => value ?? []);
  found = { papers, spoken };
  draw(
    papers,
    spoken,
    results.some(({ status }) => status === "rejected"),
  );
  if (isEntered) {
    run(options[chosen].entry);
  }
};

/* ---- what is done ------------------------------------------------------------------------------------------------------ */
const loadSample = async () => {
  const response = await fetch("/api/v1/sample", { method: "POST" });
  if (response.ok) {
    go("/jobs");
  }
};
/* The buttons of the frame are on every page. */
const press = (button) => document.querySelector(`button${button}`).click();
const acts = {
  sample: loadSample,
  theme: (choice) => press(`[data-theme-choice="${choice}"]`),
  language: (code) => press(`[data-language-choice="${code}"]`),
  tour: async () => (await import("../ask/tour.js")).takeTour(),
  keys: () => document.getElementById("keys-dialog")?.showModal(),
};
const run = (entry) => {
  part().close();
  if (entry.go) {
    go(entry.go);
  } else {
    acts[entry.do](entry.with);
  }
};
export const openPalette = () => {
  const dialog = part();
  if (!dialog || dialog.open) {
    return;
  }
  document.querySelector("dialog[open]")?.close();
  const field = part("field");
  field.setAttribute("role", "combobox");
  field.setAttribute("aria-expanded", "true");
  field.setAttribute("aria-controls", "palette-list");
  field.setAttribute("aria-autocomplete", "list");
  talks = null;
  [hasMoved, isEntered] = [false, false];
  dialog.showModal();
  field.focus();
  field.select();
  look();
};

document.addEventListener("input", (event) => {
  if (event.target.id === "palette-field") {
    [hasMoved, isEntered, isLooking] = [false, false, true];
    window.clearTimeout(waiting);
    waiting = window.setTimeout(look, WAIT_MS);
  }
});
document.addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k") {
    event.preventDefault();
    openPalette();
    return;
  }
  if (event.target.id !== "palette-field" || event.isComposing || event.keyCode === 229) {
    return;
  }
  const moves = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 };
  if (event.key in moves) {
    event.preventDefault();
    hasMoved = true;
    choose(moves[event.key]);
  } else if (event.key === "Enter") {
    event.preventDefault();
    /* Whoever types and presses Enter at once means what will be found. */
    if (isLooking && !hasMoved) {
      isEntered = true;
    } else if (options.length > 0) {
      run(options[chosen].entry);
    }
  }
});
/* A click beside the dialog closes it. */
document.addEventListener("click", (event) => {
  if (event.target.id === "palette") {
    part().close();
  }
});
