/* Words, sizes and times as scripts say them, in the language of the page, and the elements that show them. */
const root = document.documentElement;

/* ---- texts that scripts show; a message that depends on a number has the forms "one" and "other" ------------------ */
let messages;
export const text = (key, values = {}) => {
  messages ||= JSON.parse(document.getElementById("script-texts").dataset.texts);
  let message = messages[key] ?? key;
  if (typeof message === "object") {
    message = message[root.lang === "en" && values.count === 1 ? "one" : "other"];
  }
  return message.replace(/\{(\w+)\}/g, (sign, name) => {
    const value = values[name];
    return typeof value === "number" ? value.toLocaleString(root.lang) : (value ?? sign);
  });
};
export const size = (bytes) => {
  let amount = bytes;
  for (const unit of ["B", "KB", "MB", "GB"]) {
    if (amount < 1023.5 || unit === "GB") {
      return `${unit === "B" || amount >= 99.5 ? Math.round(amount) : amount.toFixed(1)} ${unit}`;
    }
    amount /= 1024;
  }
  return "";
};

/* ---- times ---------------------------------------------------------------------------------------------------- */
const UNITS = [
  [60, 1, "second"],
  [3600, 60, "minute"],
  [86400, 3600, "hour"],
  [2592000, 86400, "day"],
];
/* Browsers put a blank between figure and unit in Japanese, too: "1 分前". */
const together = (words) => (root.lang === "ja" ? words.replaceAll(" ", "") : words);
export const relative = (moment, style = "long") => {
  const age = (Date.now() - moment.getTime()) / 1000;
  const words = new Intl.RelativeTimeFormat(root.lang, { numeric: "auto", style });
  if (age < 10) {
    return words.format(0, "second");
  }
  for (const [limit, unit, name] of UNITS) {
    if (age < limit) {
      return together(words.format(-Math.floor(age / unit), name));
    }
  }
  return new Intl.DateTimeFormat(root.lang, { dateStyle: "medium" }).format(moment);
};
export const exact = (moment) =>
  new Intl.DateTimeFormat(root.lang, { dateStyle: "full", timeStyle: "long" }).format(moment);

const moments = new Intl.DateTimeFormat(root.lang, { dateStyle: "medium", timeStyle: "short" });

export const moment = (at) => moments.format(new Date(at));

/* A day as short as it is told by: without its year in that year. */
const days = { month: "short", day: "numeric" };
const dayOf = new Intl.DateTimeFormat(root.lang, days);
const dayOfYear = new Intl.DateTimeFormat(root.lang, { ...days, year: "numeric" });
export const day = (at) => (at.getFullYear() === new Date().getFullYear() ? dayOf : dayOfYear).format(at);

/* Where a period begins or ends: the day alone if that is its first or last moment here, else the time as well. */
const isMidnight = (at) => !(at.getHours() || at.getMinutes() || at.getSeconds() || at.getMilliseconds());
export const bound = (at) => (isMidnight(at) || isMidnight(new Date(at.getTime() + 1)) ? day(at) : moment(at));

/* What somebody wrote into a field of date and time, as an instant; nothing where it is none. */
export const instant = (written) => {
  const at = new Date(written || "");
  return Number.isNaN(at.getTime()) ? null : at.toISOString();
};

/* Japanese sentences follow each other without a blank. */
export const sentences = (parts) => parts.filter(Boolean).join(root.lang === "ja" ? "" : " ");
export const quoted = (words) => (root.lang === "ja" ? `「${words}」` : `“${words}”`);

/* ---- elements --------------------------------------------------------------------------------------------------- */
/* An element with what it holds: words, another element, or several. Words are text, never markup. */
export const make = (tag, className, content) => {
  const element = document.createElement(tag);
  if (className) {
    element.className = className;
  }
  element.append(...[content ?? []].flat());
  return element;
};
export const icon = (name) => {
  const element = make("span", `icon icon-${name}`);
  element.setAttribute("aria-hidden", "true");
  return element;
};
export const percent = (share) => `${(100 * share).toFixed(3)}%`;
/* An element over an area of a page's picture, whose borders are shares of its width and height. */
export const placed = (element, area) => {
  Object.assign(element.style, {
    left: percent(area.left),
    top: percent(area.top),
    width: percent(area.right - area.left),
    height: percent(area.bottom - area.top),
  });
  return element;
};
