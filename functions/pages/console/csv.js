/** A cell of CSV. What a spreadsheet would take for a formula gets an apostrophe. @param {unknown} value */
export function cell(value) {
  const text = String(value ?? "");
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
