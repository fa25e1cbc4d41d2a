/* Lists that the server searches and pages (app/components/shared/paged_list.py): what is typed and chosen goes into
   the address, and the address into the store "<name>-asked", which asks the server for the rows. */
import { setProps } from "./dash.js";

const TYPING_MS = 250;
const EVERY = " ";
const place = () => document.querySelector("[data-list]");
const asked = () => Object.fromEntries(new URLSearchParams(window.location.search));
let home = "";
let told = "";

/* Ask for what the address says. A field that is being written in keeps what is in it. */
const show = (again) => {
  const list = place();
  if (!list || window.location.pathname !== home || (!again && window.location.search === told)) {
    return;
  }
  told = window.location.search;
  const query = asked();
  setProps(`${list.dataset.list}-asked`, { data: query });
  for (const field of list.querySelectorAll("[data-list-field]")) {
    const input = field.querySelector("input, select");
    const value = query[field.dataset.listField] || (input?.matches("select") ? EVERY : "");
    if (input && input !== document.activeElement && input.value !== value) {
      setProps(input.id, { value });
    }
  }
};
const go = (search, replace) => {
  window.history[replace ? "replaceState" : "pushState"]({}, "", window.location.pathname + search);
  show();
};
/* What is chosen anew begins at the first page. */
export const chooseInList = (changes, replace) => {
  const query = new URLSearchParams(window.location.search);
  query.delete("page");
  query.delete("before");
  for (const [name, value] of Object.entries(changes)) {
    if (value) {
      query.set(name, value);
    } else {
      query.delete(name);
    }
  }
  go(query.size ? `?${query}` : "", replace);
};

let typing = 0;
document.addEventListener("input", (event) => {
  const field = event.target.closest?.("[data-list-field]");
  if (field && event.target.matches("input") && !event.isComposing) {
    window.clearTimeout(typing);
    const { value } = event.target;
    typing = window.setTimeout(
      () => place()?.contains(field) && chooseInList({ [field.dataset.listField]: value.trim() }, true),
      TYPING_MS,
    );
  }
});
/* A word of an input method is searched for once it stands. */
document.addEventListener("compositionend", (event) => {
  if (event.target.closest?.("[data-list-field]")) {
    event.target.dispatchEvent(new Event("input", { bubbles: true }));
  }
});
document.addEventListener("change", (event) => {
  const field = event.target.closest?.("[data-list-field]");
  if (field && event.target.matches("select")) {
    chooseInList({ [field.dataset.listField]: event.target.value.trim() });
  }
});
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("[data-list-to]");
  if (
    link &&
    place()?.contains(link) &&
    event.button === 0 &&
    !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)
  ) {
    event.preventDefault();
    go(new URL(link.href).search);
    place().scrollIntoView({ block: "start" });
  }
});
/* The router of the pages draws the page anew where the address is another one to it; where it is not, this does. */
const moved = () => window.setTimeout(show, 0);
window.addEventListener("popstate", moved);
window.addEventListener("_dashprivate_pushstate", moved);
new MutationObserver(() => {
  const list = place();
  if (list && !list.dataset.listSeen) {
    list.dataset.listSeen = "true";
    home = window.location.pathname;
    told = window.location.search;
  }
}).observe(document.documentElement, { childList: true, subtree: true });

export const showList = () => show(true);
