/* Runs before anything is drawn, so it is no module: the chosen theme and the state of the rail. */
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
})();
