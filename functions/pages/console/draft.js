// The draft of a receipt, kept in the tab: it survives a reload, and a sign-in in the middle.
import { keep, kept, tab } from "./kept.js";
import { company, environment } from "./session.js";
import { freshDraft } from "./forms.js";

/** @typedef {import("./forms.js").Draft} Draft */

const name = () => `draft.${company.peek()?.rnc}.${environment.peek()}`;

/** @returns {Draft} */
export function keptDraft() {
  try {
    const draft = JSON.parse(kept(name(), tab) ?? "");
    if (typeof draft?.key === "string" && Array.isArray(draft.lines)) return { ...freshDraft(draft.type), ...draft };
  } catch {
    // None was kept.
  }
  return freshDraft();
}

/** @param {Draft | null} draft */
export const keepDraft = (draft) => keep(name(), draft && JSON.stringify(draft), tab);
