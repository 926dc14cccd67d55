// Translations. The sources contain the Spanish text; `words.en.js` maps it to English and is loaded when the user
// chooses English. `npm run check` rejects a text without a translation.
import { signal } from "@preact/signals";
import { kept, keep } from "./kept.js";

/** @typedef {keyof typeof import("./words.en.js").default} Word */

/** @type {import("@preact/signals").Signal<"es" | "en">} */
export const language = signal("es");
/** @type {Record<string, string> | null} */
let english = null;

/** @param {"es" | "en"} to */
export async function speak(to) {
  if (to === "en") english ??= (await import("./words.en.js")).default;
  language.value = to;
  document.documentElement.lang = to;
  keep("language", to);
}

export const restoreLanguage = () => (kept("language") === "en" ? speak("en").catch(() => {}) : undefined);

/**
 * The text in the chosen language; `{name}` takes the value of that name.
 * @param {Word} text @param {Record<string, string | number>} [values]
 */
export function t(text, values) {
  const said = (language.value === "en" && english?.[text]) || text;
  return values ? said.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? "")) : said;
}

/** The singular or the plural of a text: `many(1, "{n} día", "{n} días")`. @param {number} n @param {Word} one @param {Word} more */
export const many = (n, one, more) => t(n === 1 ? one : more, { n });
