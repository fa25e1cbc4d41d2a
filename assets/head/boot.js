/* Runs before anything is drawn: the chosen theme and the state of the rail. */
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
  const apply = () => {
    const choice = stored("evorag-theme") || "system";
    root.dataset.bsTheme = choice === "system" ? (dark.matches ? "dark" : "light") : choice;
    root.dataset.themeChoice = choice;
  };
  apply();
  root.dataset.rail = stored("evorag-rail") || "open";
  dark.addEventListener("change", apply);
  window.evorag = { applyTheme: apply };
})();
