/* Runs before anything is drawn: the chosen theme, the state of the rail, and the words that all scripts share. */
(() => {
  const root = document.documentElement;
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const stored = (key) => {
    try {
      return window.localStorage.getItem(key);
    } catch {
      return null;
    }
  };
  const apply = (chosen) => {
    const choice = chosen || stored("evorag-theme") || "system";
    root.dataset.bsTheme = choice === "system" ? (dark.matches ? "dark" : "light") : choice;
    root.dataset.themeChoice = choice;
  };
  apply();
  root.dataset.rail = stored("evorag-rail") || "open";
  dark.addEventListener("change", () => apply());

  /* ---- texts that scripts show; a message that depends on a number has the forms "one" and "other" ------------------ */
  let messages;
  const text = (key, values = {}) => {
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
  const size = (bytes) => {
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
  const relative = (moment) => {
    const age = (Date.now() - moment.getTime()) / 1000;
    const words = new Intl.RelativeTimeFormat(root.lang, { numeric: "auto" });
    if (age < 10) {
      return words.format(0, "second");
    }
    for (const [limit, unit, name] of UNITS) {
      if (age < limit) {
        return words.format(-Math.floor(age / unit), name);
      }
    }
    return new Intl.DateTimeFormat(root.lang, { dateStyle: "medium" }).format(moment);
  };
  const exact = (moment) => new Intl.DateTimeFormat(root.lang, { dateStyle: "full", timeStyle: "long" }).format(moment);

  /* Japanese sentences follow each other without a blank. */
  const sentences = (parts) => parts.filter(Boolean).join(root.lang === "ja" ? "" : " ");
  const quoted = (words) => (root.lang === "ja" ? `「${words}」` : `“${words}”`);
  window.evorag = { applyTheme: apply, text, size, relative, exact, sentences, quoted };
})();
