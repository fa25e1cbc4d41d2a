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

  /* Answers stand at the address of Ask, wherever the question was asked. The answer of an address that asks replaces
     that address, so that "back" does not ask again. */
  let wasWriting = false;
  let hasGone = false;
  const go = (target) => {
    if ((target?.search || target?.path) && !window.evorag.wasRefused()) {
      const address = (target.path || "/ask") + (target.search || "");
      document.querySelector("dialog[open]")?.close();
      window.evorag.usedText("ask-question");
      hasGone = true;
      wasWriting = document.activeElement?.id === "ask-question";
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

  /* The page of an address has come: what was on its way before is over, and what it asks about is brought into view. */
  const arrived = () => {
    window.evorag.endLiveAnswer?.();
    window.evorag.openCited?.();
    if (hasGone) {
      window.evorag.usedText("ask-question");
    }
    /* Who writes goes on writing; a keyboard on the screen would cover the answer. */
    if (wasWriting && window.matchMedia("(hover: hover)").matches) {
      document.getElementById("ask-question")?.focus({ preventScroll: true });
    }
    wasWriting = false;
    hasGone = false;
    document.getElementById("ask-shown")?.scrollIntoView({ block: "nearest" });
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
