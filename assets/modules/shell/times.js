/* Exact times in the reader's own zone, and which zone that is where a time is written. */
import { exact, moment } from "../shared/texts.js";

const hours = new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "short" });
const said = (time) => {
  const at = new Date(time.dateTime);
  const sameDay = time.dataset.after && new Date(time.dataset.after).toDateString() === at.toDateString();
  return sameDay ? hours.format(at) : moment(at);
};
const zone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

const write = (place, text) => {
  const node = place.firstChild;
  if (node && node.nodeValue !== text) {
    node.nodeValue = text;
  }
};
const localise = () => {
  for (const time of document.querySelectorAll("time.when-exact")) {
    write(time, said(time));
    time.title = exact(new Date(time.dateTime));
  }
  for (const hint of document.querySelectorAll("[data-zone]")) {
    hint.dataset.said ||= hint.textContent;
    write(hint, `${hint.dataset.said} (${zone()})`);
  }
};

let waiting = false;
const look = () => {
  waiting = false;
  localise();
};
new MutationObserver(() => {
  if (!waiting) {
    waiting = true;
    window.setTimeout(look, 30);
  }
}).observe(document.documentElement, { childList: true, characterData: true, subtree: true });
