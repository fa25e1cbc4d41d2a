/* Asking and reading: the address names the answer that is shown, and what it asks about is brought into view.
   Escape is heard in the order of these modules: by the evidence, an answer on its way, the box, and last by the tour. */
import { openCited } from "./evidence.js";
import { endLiveAnswer, liveAnswer, wasRefused } from "./live.js";
import "./tour.js";
import { offer, skip, whenThere } from "../shared/dash.js";
import { instant } from "../shared/texts.js";
import { usedText } from "../shell/typed.js";

/* Answers stand at the address of Ask, wherever the question was asked. The answer of an address that asks replaces
   that address, so that "back" does not ask again. */
let wasWriting = false;
let hasGone = false;
const go = (target) => {
  if ((target?.search || target?.path) && !wasRefused()) {
    const address = (target.path || "/ask") + (target.search || "");
    document.querySelector("dialog[open]")?.close();
    usedText("ask-question");
    hasGone = true;
    wasWriting = document.activeElement?.id === "ask-question";
    window.history[target.replace ? "replaceState" : "pushState"]({}, "", address);
    window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
  }
  return skip();
};

/* The page of an address has come: what was on its way before is over, and what it asks about is brought into view. */
const arrived = () => {
  endLiveAnswer();
  openCited();
  if (hasGone) {
    usedText("ask-question");
  }
  /* Who writes goes on writing; a keyboard on the screen would cover the answer. */
  if (wasWriting && window.matchMedia("(hover: hover)").matches) {
    document.getElementById("ask-question")?.focus({ preventScroll: true });
  }
  wasWriting = false;
  hasGone = false;
  document.getElementById("ask-shown")?.scrollIntoView({ block: "nearest" });
  if (new URLSearchParams(window.location.search).has("why")) {
    whenThere(
      () => document.querySelector('#why-not[data-open="true"]'),
      40,
      (panel) => panel.focus({ preventScroll: true }),
    );
  }
  return skip();
};
const stream = (question) => {
  if (question?.body) {
    liveAnswer(question, go);
  }
  return skip();
};

/* ---- asking as of: the fields of the chosen kind become one text, a moment in the reader's own zone ---------------------- */
const local = (iso) => {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) {
    return "";
  }
  const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString();
  return shifted.slice(0, at.getUTCSeconds() ? 19 : 16);
};

/* A moment that nobody changed stays as exact as the address gave it. */
const written = (moment, start) => (start && moment === local(start) ? start : instant(moment) || "");

const choose = (kind, moment, sequence, version, start) => {
  const texts = {
    moment: () => written(moment, start),
    sequence: () => (Number.isInteger(sequence) ? String(sequence) : ""),
    version: () => version || "",
  };
  const hidden = ["moment", "sequence", "version"].map((each) => each !== kind);
  return [texts[kind] ? texts[kind]() : null, ...hidden, kind === "version"];
};

/* Whether what is chosen is still what the answer was asked of; returns "hidden" of the line that says it is not. */
const differs = (kind, asof, all, asked) => {
  const [askedOf, askedAll] = asked || [asof, all];
  const isAll = kind !== "version" && Boolean(all);
  const isSame = kind === "now" ? !askedOf : Boolean(asof) && asof === askedOf;
  return !asked || (isSame && isAll === Boolean(askedAll));
};

const open = (start) => (start ? local(start) : skip());

offer({ ask: { go, arrived, stream }, scope: { choose, differs, open } });
