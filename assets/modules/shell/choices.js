/* What somebody chooses for this browser: the theme and the language. */
const root = document.documentElement;

export const remember = (key, value) => {
  try {
    window.localStorage.setItem(key, value);
  } catch {
    /* private windows may refuse; the choice then lasts until the page is left */
  }
};

export const markTheme = () => {
  for (const button of document.querySelectorAll("[data-theme-choice]")) {
    if (button !== root) {
      button.setAttribute("aria-pressed", String(button.dataset.themeChoice === root.dataset.themeChoice));
    }
  }
};
export const chooseTheme = (choice) => {
  remember("evorag-theme", choice);
  document.dispatchEvent(new CustomEvent("evorag:theme-chosen", { detail: choice }));
  markTheme();
  document.dispatchEvent(new CustomEvent("evorag:theme", { detail: root.dataset.bsTheme }));
};
export const chooseLanguage = (code) => {
  document.cookie = `evorag_lang=${code}; path=/; max-age=31536000; samesite=lax`;
  window.location.reload();
};
