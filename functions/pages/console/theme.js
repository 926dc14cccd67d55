// Light or dark: the system's preference, until the user chooses.
import { signal } from "@preact/signals";
import { keep, kept } from "./kept.js";

export const theme = signal("");

/** @param {string} to */
export function paint(to) {
  theme.value = to;
  if (to) document.documentElement.dataset.theme = to;
  else delete document.documentElement.dataset.theme;
}

export const restoreTheme = () => paint(["light", "dark"].includes(kept("theme") ?? "") ? String(kept("theme")) : "");

export function turnTheme() {
  const dark = theme.peek() ? theme.peek() === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  paint(dark ? "light" : "dark");
  keep("theme", theme.peek());
}
