// The company's summary, shared by the environment bar, the navigation and Inicio. It is refreshed every 30 seconds, and when
// the tab becomes visible again.
import { signal } from "@preact/signals";
import { get } from "./api.js";
import { company, scope, summary } from "./session.js";

/** The time of the last successful read. */
export const readAt = signal(0);
/** The error of the last read, if it failed. @type {import("@preact/signals").Signal<unknown>} */
export const unread = signal(null);

/** @param {AbortSignal} [control] */
export async function refresh(control) {
  try {
    summary.value = await get("client/summary", { query: { days: 30 }, signal: control });
    readAt.value = Date.now();
    unread.value = null;
  } catch (problem) {
    if (!control?.aborted) unread.value = problem;
  }
}

/** Loads the company and the key's scope. @param {AbortSignal} control */
export async function introduce(control) {
  const [profile] = await Promise.all([get("client/company", { signal: control }), refresh(control)]);
  if (control.aborted) return;
  company.value = profile;
  scope.value = profile.key.scope;
}
