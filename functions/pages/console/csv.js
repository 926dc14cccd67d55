/** A CSV cell. A value that a spreadsheet would run as a formula gets an apostrophe. @param {unknown} value */
export function cell(value) {
  const text = String(value ?? "");
  return `"${(/^[=+\-@\t\r]/.test(text) ? `'${text}` : text).replaceAll('"', '""')}"`;
}
