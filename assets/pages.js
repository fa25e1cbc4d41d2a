/* Asking and reading: Enter sends a question, the address names its trace, a cited passage scrolls into view. */
(() => {
  const SEND_KEY = "Enter";

  document.addEventListener("keydown", (event) => {
    const inBox = event.target.id === "ask-question";
    if (inBox && event.key === SEND_KEY && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
      event.preventDefault();
      document.getElementById("ask-send")?.click();
    } else if (inBox && event.key === "Escape") {
      event.target.blur();
    }
  });

  /* The answer of an address that asks replaces that address, so that "back" does not ask again. */
  const go = (target) => {
    if (target?.search) {
      const address = window.location.pathname + target.search;
      window.history[target.replace ? "replaceState" : "pushState"]({}, "", address);
      window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
    }
    return window.dash_clientside.no_update;
  };

  const reveal = (view) => {
    if (!view || view[2] === null) {
      return window.dash_clientside.no_update;
    }
    const show = (tries) => {
      const target = document.querySelector("mark.cited") || document.getElementById(`chunk-${view[2]}`);
      if (target) {
        target.scrollIntoView({ block: "center" });
      } else if (tries > 0) {
        window.setTimeout(() => show(tries - 1), 50);
      }
    };
    show(40);
    return window.dash_clientside.no_update;
  };

  window.dash_clientside = Object.assign({}, window.dash_clientside, { ask: { go }, passage: { reveal } });
})();
