/* The language of the page and its messages, the real ones, for modules that say something. */
import { readFileSync } from "node:fs";

export const speak = (lang) => {
  const texts = readFileSync(new URL(`../../app/locales/${lang}.json`, import.meta.url), "utf8");
  globalThis.window = globalThis;
  globalThis.document = { documentElement: { lang }, getElementById: () => ({ dataset: { texts } }) };
};
