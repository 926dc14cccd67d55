// Times in the zone of Santo Domingo, whatever the zone of the browser.
import { language, t } from "./words.js";

const zone = "America/Santo_Domingo";
/** @type {Record<string, Intl.DateTimeFormat>} */
const formats = {};

/** @param {string} name @param {Intl.DateTimeFormatOptions} options */
function format(name, options) {
  const locale = language.value === "en" ? "en-GB" : "es-DO";
  return (formats[name + locale] ??= new Intl.DateTimeFormat(locale, { timeZone: zone, ...options }));
}

/** @param {string | number | Date | null | undefined} at */
const valid = (at) => (at == null || Number.isNaN(+new Date(at)) ? null : new Date(at));

/** "28 nov 2026". @param {string | number | Date | null | undefined} at */
export function day(at) {
  const when = valid(at);
  return when ? format("day", { day: "numeric", month: "short", year: "numeric" }).format(when) : "—";
}

/** "28 nov, 19:12". @param {string | number | Date | null | undefined} at */
export function moment(at) {
  const when = valid(at);
  return when
    ? format("moment", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(when)
    : "—";
}

/** "19:12:05". @param {string | number | Date} at */
export const clock = (at) =>
  format("clock", { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }).format(new Date(at));

/** "noviembre". @param {string} at */
export const month = (at) => format("month", { month: "long" }).format(new Date(`${at}T12:00:00-04:00`));

/** A civil date, "2026-11-28" or "28-11-2026", in words. @param {string | null | undefined} date */
export function civil(date) {
  const iso = toIso(date);
  return iso ? day(`${iso}T12:00:00-04:00`) : "—";
}

/** The day in Santo Domingo, `yyyy-MM-dd`. */
export function today(offset = 0) {
  const parts = new Intl.DateTimeFormat("en-CA", { timeZone: zone }).format(Date.now() + offset * 86_400_000);
  return parts.slice(0, 10);
}

/** `yyyy-MM-dd` from `dd-MM-yyyy` or `yyyy-MM-dd`; otherwise empty. @param {string | null | undefined} date */
export function toIso(date) {
  const text = (date ?? "").slice(0, 10);
  const turned = /^(\d\d)-(\d\d)-(\d{4})$/.exec(text);
  return turned ? `${turned[3]}-${turned[2]}-${turned[1]}` : /^\d{4}-\d\d-\d\d$/.test(text) ? text : "";
}

/** `dd-MM-yyyy`, as documents write it. @param {string} iso */
export const toDocument = (iso) => iso.split("-").reverse().join("-");

/** The instant of `sign_date`, which is local time. @param {string | null | undefined} text */
export function signed(text) {
  const iso = toIso(text);
  return iso && text ? `${iso}T${text.slice(11)}-04:00` : null;
}

/** "hace 3 min"; after a day, the moment. @param {string | number} at */
export function ago(at) {
  const seconds = Math.round((Date.now() - +new Date(at)) / 1000);
  if (seconds < 60) return t("hace un momento");
  if (seconds < 3600) return t("hace {n} min", { n: Math.floor(seconds / 60) });
  if (seconds < 86_400) return t("hace {n} h", { n: Math.floor(seconds / 3600) });
  return moment(at);
}
