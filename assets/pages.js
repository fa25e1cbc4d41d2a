/* Asking and reading: Enter sends a question, the address names its trace, a cited passage scrolls into view. */
(() => {
  const SEND_KEY = "Enter";

  document.addEventListener("keydown", (event) => {
    const inBox = event.target.id === "ask-question";
    if (inBox && event.key === SEND_KEY && !event.shiftKey && !event.isComposing && event.keyCode !== 229) {
      event.preventDefault();
      document.getElementById("ask-send")?.click();
    } else if (inBox && event.key === "Escape" && !event.defaultPrevented) {
      event.target.blur();
    }
  });

  /* A link in a dialog leads to another answer of the same page: the dialog has done its work. */
  document.addEventListener("click", (event) => {
    event.target.closest?.("dialog a[href]:not([download])")?.closest("dialog").close();
  });

  /* The answer of an address that asks replaces that address, so that "back" does not ask again. */
  const go = (target) => {
    if (target?.search || target?.path) {
      const address = (target.path || window.location.pathname) + (target.search || "");
      document.querySelector("dialog[open]")?.close();
      window.history[target.replace ? "replaceState" : "pushState"]({}, "", address);
      window.dispatchEvent(new CustomEvent("_dashprivate_pushstate"));
    }
    return window.dash_clientside.no_update;
  };

  const show = (find, tries, then) => {
    const target = find();
    if (target) {
      target.scrollIntoView({ block: "center" });
      then?.(target);
    } else if (tries > 0) {
      window.setTimeout(() => show(find, tries - 1, then), 50);
    }
  };
  const reveal = (view) => {
    if (view && view[2] !== null) {
      show(() => document.querySelector("mark.cited") || document.getElementById(`chunk-${view[2]}`), 40);
    }
    return window.dash_clientside.no_update;
  };

  /* The dialog of conversations stays open when the page under it is drawn anew, but its list is empty then. */
  const refillConversations = () => {
    const list = document.getElementById("conversations-list");
    if (list && !list.hasChildNodes() && list.closest("dialog").open) {
      window.dash_clientside.set_props("conversations-open", { n_clicks: 1 });
    }
  };

  /* The page of an address has come: what was on its way before is over, and what it asks about is brought into view. */
  const arrived = () => {
    window.evorag.endLiveAnswer?.();
    refillConversations();
    if (new URLSearchParams(window.location.search).has("why")) {
      show(() => document.querySelector('#why-not[data-open="true"]'), 40, (panel) => panel.focus({ preventScroll: true }));
    }
    return window.dash_clientside.no_update;
  };
  const stream = (question) => {
    if (question?.body) {
      window.evorag.liveAnswer(question, go);
    }
    return window.dash_clientside.no_update;
  };

  window.dash_clientside = Object.assign({}, window.dash_clientside, {
    ask: { go, arrived, stream }, passage: { reveal },
  });
})();
