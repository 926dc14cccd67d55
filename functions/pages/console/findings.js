// Maps the API's findings to the fields of the form.
import { BUYER, FIELDS, LINE } from "./forms.js";
import { t } from "./words.js";

/** @typedef {import("./api.js").Finding} Finding */
/** @typedef {import("./words.js").Word} Word */

const LINE_LABELS = /** @type {Record<string, Word>} */ ({
  [LINE.name]: "Descripción",
  [LINE.quantity]: "Cantidad",
  [LINE.price]: "Precio",
  [LINE.rate]: "ITBIS",
  [LINE.kind]: "Bien o servicio",
  [LINE.itbis]: "ITBIS retenido",
  [LINE.isr]: "ISR retenido",
});

/** The path of a finding below `payload`: `DetallesItems/Item/0/NombreItem`. @param {Finding} finding */
export const pathOf = ({ loc }) => loc.slice(loc[1] === "payload" ? 2 : 1).join("/");

/** The label of a field in the form, or its name in the document. @param {string} path */
export function labelOf(path) {
  const line = /^DetallesItems\/Item\/(\d+)\/(.+)$/.exec(path);
  if (line) return `${line[2] in LINE_LABELS ? t(LINE_LABELS[line[2]]) : line[2]}, ${t("línea {n}", { n: Number(line[1]) + 1 })}`;
  const field = FIELDS.find((field) => field.path === path);
  if (field) return t(field.label);
  if (path === BUYER[0].path.split("/").slice(0, 2).join("/")) return t("Comprador");
  if (path === "Encabezado/Emisor/DireccionEmisor") return t("Dirección de su empresa");
  return path.split("/").pop() || path;
}

/** @type {[RegExp, Word][]} */
const HINTS = [
  [/^ESTRUCTURA-32$/, "El RNC lleva 9 dígitos; la cédula, 11."],
  [/^IDDOC-01$/, "Diga hasta cuándo se paga."],
  [/^ESTRUCTURA-10$/, "Escriba algo."],
];

/** A hint of our own for the most frequent codes, otherwise the API's message. @param {Finding} finding */
export function hint(finding) {
  const code = String(finding.ctx?.code ?? "");
  const known = HINTS.find(([pattern]) => pattern.test(code));
  if (known) return t(known[1]);
  if (finding.type === "missing") return t("Falta este dato.");
  if (finding.type === "decimal_parsing" || finding.type === "int_parsing") return t("Escriba un número.");
  return finding.msg;
}
