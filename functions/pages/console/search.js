/** The query parameter that fits the format of a search text. @param {string} text */
export function searched(text) {
  const trimmed = text.trim();
  if (!trimmed) return {};
  if (/^[eE](31|32|33|34|41|43|44|45|46|47)\d{10}$/.test(trimmed)) return { encf: trimmed.toUpperCase() };
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(trimmed)) return { track_id: trimmed };
  return { external_id: trimmed };
}
