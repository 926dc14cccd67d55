// What the browser keeps. `localStorage` holds language and theme only; the key and drafts live and die with the tab.
// A browser may refuse both: then nothing is kept, and the page works until it is reloaded.

/** @param {string} name */
export function kept(name, store = () => localStorage) {
  try {
    return store().getItem(`ecf.${name}`);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string | null} value */
export function keep(name, value, store = () => localStorage) {
  try {
    if (value === null) store().removeItem(`ecf.${name}`);
    else store().setItem(`ecf.${name}`, value);
  } catch {
    // Nothing depends on it.
  }
}

export const tab = () => sessionStorage;
