// Amounts are text, or BigInt cents where they are added. Floats are not used.

/** Parses an amount into cents: "1234.5" is 123450n. Digits after the second decimal are cut; no number is 0n. @param {string | null | undefined} text */
export function cents(text) {
  const [, sign = "", whole = "0", part = ""] = /^\s*(-?)(\d+)(?:\.(\d*))?\s*$/.exec(text ?? "") ?? [];
  const value = BigInt(whole) * 100n + BigInt(part.padEnd(2, "0").slice(0, 2));
  return sign ? -value : value;
}

/** Formats cents: 123450n is "1,234.50". @param {bigint} value */
export function grouped(value) {
  const digits = String(value < 0n ? -value : value).padStart(3, "0");
  const whole = digits.slice(0, -2).replace(/\B(?=(\d{3})+$)/g, ",");
  return `${value < 0n ? "−" : ""}${whole}.${digits.slice(-2)}`;
}

/** @param {string | bigint | null | undefined} amount */
export const pesos = (amount) => `RD$ ${grouped(typeof amount === "bigint" ? amount : cents(amount))}`;

/**
 * Normalizes a typed number for the API: "RD$ 1,500.50" is "1500.50", "1500,5" is "1500.5". Any other text is returned
 * unchanged, so that the API reports it. @param {string} typed
 */
export function number(typed) {
  const text = typed.replace(/RD\$|\s/gi, "");
  if (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(text)) return text.replaceAll(",", "");
  if (/^\d+,\d{1,2}$/.test(text)) return text.replace(",", ".");
  return /^\d+\.$/.test(text) ? text.slice(0, -1) : text;
}

/** Formats a number of a document without trailing zeros: "10000.0000" is "10,000.00" with two places. @param {string} text */
export function plain(text, places = 0) {
  const [whole, part = ""] = text.split(".");
  const kept = part.replace(/0+$/, "").padEnd(places, "0");
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (kept && `.${kept}`);
}

/** @param {bigint} part @param {bigint} whole */
export function percent(part, whole) {
  if (whole === 0n) return "—";
  const tenths = (part * 1000n + whole / 2n) / whole;
  return `${tenths / 10n}.${tenths % 10n} %`;
}

/** @param {number | bigint} count */
export const count = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
