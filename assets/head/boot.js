/* Runs before anything is drawn, so it is no module: the chosen theme, the state of the rail, and what is said where the
   other scripts do not come. */
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
  /* The choice of somebody who is here: assets/modules/shell/frame.js. */
  document.addEventListener("evorag:theme-chosen", ({ detail }) => apply(detail));

  const SLOW_MS = 8000;
  const { incomplete, slow, again } = document.currentScript.dataset;
  const say = (words) => {
    const waiting = document.querySelector("#react-entry-point ._dash-loading");
    if (waiting) {
      const said = document.createElement("p");
      said.className = "state-text";
      said.textContent = words;
      const button = document.createElement("button");
      button.type = "button";
      button.className = "btn btn-primary";
      button.textContent = again;
      button.addEventListener("click", () => window.location.reload());
      waiting.classList.add("state", "state-error");
      waiting.setAttribute("role", "alert");
      waiting.replaceChildren(said, button);
    }
  };
  const missing = ({ target }) => target instanceof HTMLScriptElement && say(incomplete);
  document.addEventListener("error", missing, true);
  window.setTimeout(() => say(slow), SLOW_MS);
})();
