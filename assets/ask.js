/* Asking as of: the fields of the chosen kind become one text, and a moment is written in the reader's own zone. */
(() => {
  const local = (iso) => {
    const at = new Date(iso);
    if (Number.isNaN(at.getTime())) {
      return "";
    }
    const shifted = new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString();
    return shifted.slice(0, at.getUTCSeconds() ? 19 : 16);
  };

  /* A moment that nobody changed stays as exact as the address gave it. */
  const written = (moment, start) => (start && moment === local(start) ? start : window.evorag.instant(moment) || "");

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

  const open = (start) => (start ? local(start) : window.dash_clientside.no_update);

  window.dash_clientside = Object.assign({}, window.dash_clientside, { scope: { choose, differs, open } });
})();
