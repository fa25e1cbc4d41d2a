/* Versions: moments in the reader's own zone, forms that open inside the timeline, and a keyboard that is never lost. */
(() => {
  const language = document.documentElement.lang;
  const moments = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const hours = new Intl.DateTimeFormat(language, { timeStyle: "short" });
  const said = (time) => {
    const at = new Date(time.dateTime);
    const sameDay = time.dataset.after && new Date(time.dataset.after).toDateString() === at.toDateString();
    return (sameDay ? hours : moments).format(at);
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
      time.title = window.evorag.exact(new Date(time.dateTime));
    }
    for (const hint of document.querySelectorAll("[data-zone]")) {
      hint.dataset.said ||= hint.textContent;
      write(hint, `${hint.dataset.said} (${zone()})`);
    }
  };

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
    localise();
    enterForm();
    rescue();
  };
  new MutationObserver(() => {
    if (!waiting) {
      waiting = true;
      window.setTimeout(look, 30);
    }
  }).observe(document.documentElement, { childList: true, characterData: true, subtree: true });

  /* ---- a moment that someone wrote, read in their own zone ------------------------------------------------------------- */
  const instant = (written) => {
    const moment = new Date(written || "");
    return Number.isNaN(moment.getTime()) ? null : moment.toISOString();
  };
  const plan = (clicks, written) => {
    const field = document.getElementById("version-moment");
    const at = instant(written || field?.value);
    if (!clicks || !at) {
      field?.focus();
      return window.dash_clientside.no_update;
    }
    return { at, clicks, pressed: Date.now() };
  };

  /* ---- which publications the audit lists: the address says so ----------------------------------------------------------- */
  const listen = (doc, action) => {
    const wanted = new URLSearchParams(Object.entries({ doc, action }).filter(([, value]) => value)).toString();
    const now = new URLSearchParams(window.location.search);
    const present = new URLSearchParams([...now].filter(([name]) => name === "doc" || name === "action")).toString();
    if (window.location.pathname === "/audit" && wanted !== present) {
      window.evorag.go(wanted ? `/audit?${wanted}` : "/audit");
    }
    return window.dash_clientside.no_update;
  };

  window.evorag.instant = instant;
  window.evorag.moment = (at) => moments.format(new Date(at));
  window.dash_clientside = Object.assign({}, window.dash_clientside, { versions: { plan, listen } });
})();
