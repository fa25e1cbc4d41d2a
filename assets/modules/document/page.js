/* A document: forms that open inside its timeline, a keyboard that is never lost, and a passage brought into view. */
import { offer, skip, whenThere } from "../shared/dash.js";
import "./page-view.js";
import { instant } from "../shared/texts.js";

/* ---- the keyboard -------------------------------------------------------------------------------------------------- */
const CARE = "#document-timeline, #document-actions";
let last = null;
let opened = null;
document.addEventListener("focusin", (event) => {
  if (event.target.closest?.(CARE)) {
    last = { id: event.target.id, version: event.target.closest(".version")?.id };
  } else if (!event.target.closest?.(".modal")) {
    last = null;
  }
});
/* A button that did its work may be gone: its version's link, or the heading of the list, takes the keyboard then. */
const rescue = () => {
  const now = document.activeElement;
  if (!last || (now && now !== document.body) || document.querySelector(".modal.show")) {
    return;
  }
  const place =
    (last.id && document.getElementById(last.id)) ||
    (last.version && document.querySelector(`#${last.version} .version-number`)) ||
    document.getElementById("versions-title");
  if (place && !place.hidden) {
    place.focus({ preventScroll: true });
  } else {
    document.getElementById("versions-title")?.focus({ preventScroll: true });
  }
};
const enterForm = () => {
  const form = document.querySelector("[data-opened]");
  if (form && form !== opened) {
    form.querySelector("input, textarea")?.focus();
  }
  opened = form;
};
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && event.target.closest?.("[data-opened]")) {
    document.getElementById("version-close")?.click();
  }
});

let waiting = false;
const look = () => {
  waiting = false;
  enterForm();
  rescue();
};
new MutationObserver(() => {
  if (!waiting) {
    waiting = true;
    window.setTimeout(look, 30);
  }
}).observe(document.documentElement, { childList: true, characterData: true, subtree: true });

const plan = (clicks, written) => {
  const field = document.getElementById("version-moment");
  const at = instant(written || field?.value);
  if (!clicks || !at) {
    field?.focus();
    return skip();
  }
  return { at, clicks, pressed: Date.now() };
};

/* ---- a passage that the address names -------------------------------------------------------------------------------- */
const reveal = (view) => {
  if (view && view[2] !== null) {
    whenThere(() => document.querySelector("mark.cited") || document.getElementById(`chunk-${view[2]}`), 40);
  }
  return skip();
};

offer({ versions: { plan }, passage: { reveal } });
