/* What was typed survives a reload, another language and leaving the page: it is kept for this tab, until it was used.
   A field's text is kept beside what the field held at first. It comes back where a field of that name appears with the
   same beginning; where the server gives another one, the text has done its work. */
const EVERY_MS = 700;
const PREFIX = "evorag-typed:";
const FIELDS = "#content textarea[id], #content input[type=text][id]";
const LEFT_OUT = "dialog *, .ag-root *, .wrong-panel *, [role=combobox], [role=searchbox], [readonly], :disabled";
const TRANSIENT = /search|filter|find|title/;
const MOST_CHARS = 200_000;
const begun = new WeakMap();

const keyOf = (field) => {
  const path = window.location.pathname === "/" ? "/ask" : window.location.pathname;
  return `${PREFIX}${path}:${field.id}`;
};
const stored = (key) => {
  try {
    return JSON.parse(window.sessionStorage.getItem(key));
  } catch {
    return null;
  }
};
const store = (key, kept) => {
  try {
    if (kept) {
      window.sessionStorage.setItem(key, JSON.stringify(kept));
    } else {
      window.sessionStorage.removeItem(key);
    }
  } catch {
    /* private windows may refuse; the text then lasts until the page is left */
  }
};
/* Values are set as typing sets them, because React keeps its own account of them. */
export const writeText = (field, value) => {
  const kind = field.tagName === "TEXTAREA" ? HTMLTextAreaElement : HTMLInputElement;
  Object.getOwnPropertyDescriptor(kind.prototype, "value").set.call(field, value);
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
const keep = (field) => {
  const { key, base, last } = begun.get(field);
  if (field.value === last) {
    return;
  }
  begun.set(field, { key, base, last: field.value });
  const isWorth = field.value !== base && field.value !== "" && field.value.length <= MOST_CHARS;
  store(key, isWorth ? { base, value: field.value } : null);
};
const begin = (field) => {
  const key = keyOf(field);
  const base = field.value;
  const kept = stored(key);
  begun.set(field, { key, base, last: base });
  if (kept && kept.base === base && kept.value !== base) {
    begun.set(field, { key, base, last: kept.value });
    writeText(field, kept.value);
  } else if (kept) {
    store(key, null);
  }
};
const look = () => {
  for (const field of document.querySelectorAll(FIELDS)) {
    if (!field.matches(LEFT_OUT) && !TRANSIENT.test(field.id)) {
      if (begun.has(field)) {
        keep(field);
      } else {
        begin(field);
      }
    }
  }
};

/* What a field holds now has been used, and is what it begins with. */
export const usedText = (...ids) => {
  for (const id of ids) {
    const field = document.getElementById(id);
    if (field && begun.has(field)) {
      const { key } = begun.get(field);
      begun.set(field, { key, base: field.value, last: field.value });
      store(key, null);
    }
  }
};

/* A field is known from the moment that it is there, before anybody can type into it. */
new MutationObserver(look).observe(document.documentElement, { childList: true, subtree: true });
window.setInterval(look, EVERY_MS);
document.addEventListener("input", (event) => {
  if (begun.has(event.target)) {
    keep(event.target);
  }
});
window.addEventListener("pagehide", look);
/* Nothing stays for the next person who signs in here. */
document.addEventListener("click", (event) => {
  if (event.target.closest?.("[data-leaves]")) {
    window.sessionStorage.clear();
  }
});
