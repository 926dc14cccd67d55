// The draft of a receipt, stored in the tab. It survives a reload and a new sign-in.
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
    // There is no stored draft.
  }
  return freshDraft();
}

/** @param {Draft | null} draft */
export const keepDraft = (draft) => keep(name(), draft && JSON.stringify(draft), tab);
