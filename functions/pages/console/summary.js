// The company's summary, which the bar, the navigation and Inicio share. One request every 30 seconds serves them all.
import { signal } from "@preact/signals";
import { get } from "./api.js";
import { company, scope, summary } from "./session.js";

/** When it was last read. */
export const readAt = signal(0);
/** Why it could not be read again. @type {import("@preact/signals").Signal<unknown>} */
export const unread = signal(null);

/** @param {AbortSignal} [control] */
export async function refresh(control) {
  try {
    summary.value = await get("client/summary", { signal: control });
    readAt.value = Date.now();
    unread.value = null;
  } catch (problem) {
    if (!control?.aborted) unread.value = problem;
  }
}

/** Learns whom the key belongs to. @param {AbortSignal} control */
export async function introduce(control) {
  const [profile] = await Promise.all([get("client/company", { signal: control }), refresh(control)]);
  if (control.aborted) return;
  company.value = profile;
  // A key does not tell its own scope; the list of keys does.
  const own = (await get("client/api-keys", { signal: control })).find(({ is_current }) => is_current);
  if (own) scope.value = own.scope;
}
