// The session: an API key, in this tab only.
import { computed, signal } from "@preact/signals";
import { keep, kept, tab } from "./kept.js";

/** @typedef {import("./types").Gets} Gets */

/** @type {import("@preact/signals").Signal<string | null>} */
export const key = signal(null);
/** Whether the last key stopped working. */
export const expired = signal(false);
/** @type {import("@preact/signals").Signal<Gets["client/company"] | null>} */
export const company = signal(null);
/** @type {import("@preact/signals").Signal<Gets["client/summary"] | null>} */
export const summary = signal(null);
/** The key's scope; `full` until the API has answered. */
export const scope = signal("full");

const PREFIXES = { ecf_test_: "TesteCF", ecf_cert_: "CerteCF", ecf_prod_: "ecf", ecf_live_: "ecf" };

/** The key's environment: from the summary, before that from the key's prefix. */
export const environment = computed(() => {
  const start = Object.entries(PREFIXES).find(([prefix]) => key.value?.startsWith(prefix));
  return summary.value?.environment ?? start?.[1] ?? null;
});

/** Reads the key of a link `…#key=…` and removes it from the address before any request is sent. */
export function restore() {
  const linked = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
  if (location.hash.startsWith("#key=")) history.replaceState(history.state, "", location.pathname + location.search);
  if (linked) signIn(linked);
  else key.value ??= kept("key", tab);
}

/** @param {string} with_key */
export function signIn(with_key) {
  keep("key", with_key, tab);
  company.value = summary.value = null;
  scope.value = "full";
  expired.value = false;
  key.value = with_key;
}

/** Ends the session after the API rejected the key. The address and the draft remain. */
export function expire() {
  if (key.value === null) return;
  keep("key", null, tab);
  expired.value = true;
  key.value = null;
}

export function signOut() {
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith("ecf.")) sessionStorage.removeItem(name);
  } catch {
    // Storage is denied, so it is empty.
  }
  expired.value = false;
  key.value = company.value = summary.value = null;
}
