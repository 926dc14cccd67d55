// Browser storage. `localStorage` holds language and theme only; the key and drafts are in `sessionStorage`, which ends with the tab.
// A browser can deny both; the page then works until it is reloaded.

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
    // Storage is optional.
  }
}

export const tab = () => sessionStorage;
