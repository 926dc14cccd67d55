// Labels for the API's states, types and environments. An unknown name is shown unchanged.
import { t } from "./words.js";

/** @typedef {import("./words.js").Word} Word */
/** @typedef {"ok" | "warn" | "bad" | "busy" | "mute"} Tone */

/** @type {Record<string, { tone: Tone, icon: string, name: Word, says: Word }>} */
export const STATES = {
  received: { tone: "busy", icon: "clock", name: "Recibido", says: "Guardado; la firma llega en minutos." },
  deferred: { tone: "mute", icon: "clock", name: "Programado", says: "Se emitirá en su fecha." },
  validated: { tone: "busy", icon: "clock", name: "Validado", says: "Revisado; falta firmarlo." },
  signed: { tone: "busy", icon: "arrow", name: "Firmado", says: "En camino a la DGII." },
  submitted: { tone: "busy", icon: "arrow", name: "Enviado", says: "La DGII lo tiene; esperamos su veredicto." },
  contingency: { tone: "warn", icon: "pause", name: "En contingencia", says: "La DGII no responde. Se enviará solo; puede entregar el impreso." },
  accepted: { tone: "ok", icon: "check", name: "Aceptado", says: "Aceptado por la DGII." },
  conditionally_accepted: { tone: "warn", icon: "check", name: "Aceptado condicional", says: "Válido, con observaciones de la DGII." },
  rejected: { tone: "bad", icon: "cross", name: "Rechazado", says: "La DGII no lo aceptó. No tiene valor fiscal." },
  failed: { tone: "bad", icon: "alert", name: "Detenido", says: "Se detuvo sin veredicto. Hace falta corregir algo." },
  cancelled: { tone: "mute", icon: "ban", name: "Cancelado", says: "Retirado antes de enviarse." },
  incapacity: { tone: "mute", icon: "ban", name: "Incapacidad técnica", says: "Retirado por incapacidad técnica." },
};

export const FINAL = ["accepted", "conditionally_accepted", "rejected", "cancelled", "incapacity"];
export const UNDER_WAY = /** @type {const} */ (["received", "signed", "submitted", "contingency"]);
export const VALID = ["accepted", "conditionally_accepted"];
const ISSUED_BUT_NOT_SOLD = ["41", "43", "47"];

/** @type {Record<string, Word>} */
const SHORT = {
  31: "Crédito fiscal",
  32: "Consumo",
  33: "Nota de débito",
  34: "Nota de crédito",
  41: "Compras",
  43: "Gastos menores",
  44: "Regímenes especiales",
  45: "Gubernamental",
  46: "Exportaciones",
  47: "Pagos al exterior",
};
export const TYPES = Object.keys(SHORT);

/** @param {string} type */
export const typeName = (type) => (type in SHORT ? t(SHORT[type]) : type);

/** The sign of a type in the sum of sales: credit notes are subtracted, purchases and expenses are not counted. @param {string} type */
export const saleSign = (type) => (ISSUED_BUT_NOT_SOLD.includes(type) ? 0n : type === "34" ? -1n : 1n);

/** @type {Record<string, { name: Word, says: Word }>} */
const ENVIRONMENTS = {
  TesteCF: { name: "Ambiente de pruebas (TesteCF)", says: "sin valor fiscal" },
  CerteCF: { name: "Certificación (CerteCF)", says: "cada envío cuenta para la DGII" },
  ecf: { name: "Producción", says: "con valor fiscal" },
};

/** @param {string | null} environment */
export function environmentWords(environment) {
  const words = environment ? ENVIRONMENTS[environment] : null;
  return words ? { name: t(words.name), says: t(words.says) } : null;
}

/** @type {Record<string, Word>} */
const NO_BUYER = { 32: "Consumidor final", 43: "Gasto menor", 46: "Comprador del exterior", 47: "Proveedor del exterior" };

/** The buyer's name, or its RNC, or the label of a type without a buyer. @param {any} receipt */
export const buyerOf = (receipt) =>
  receipt.razon_social_comprador || receipt.rnc_comprador || (receipt.ecf_type in NO_BUYER ? t(NO_BUYER[receipt.ecf_type]) : "");

/** 9 or 11 digits in groups. @param {string | null | undefined} rnc */
export const rncText = (rnc) =>
  (rnc ?? "").replace(/^(\d)(\d\d)(\d{5})(\d)$/, "$1-$2-$3-$4").replace(/^(\d{3})(\d{7})(\d)$/, "$1-$2-$3");

/** The cause and the fix for each `error_code` of a `failed` receipt: [pattern, cause, fix]. The first match counts. @type {[RegExp, Word, Word][]} */
const STOPPED = [
  [/^(no_range|range_exhausted|range_expired)$/, "No había un número disponible cuando le tocaba emitirse.", "Registre una secuencia vigente y emítalo de nuevo."],
  [/^(encf_|range_numbered_)/, "El número elegido no se pudo usar.", "Emítalo de nuevo con otro número."],
  [/^certificate_refused$/, "La DGII no aceptó el certificado.", "Delegue al firmante en el portal de la DGII, o suba otro certificado."],
  [/^certificate_/, "No se pudo firmar: falta un certificado que sirva.", "Suba el certificado y emítalo de nuevo."],
  [/^attempt_abandoned$/, "Comenzó otro intento de certificación antes de enviarlo.", "Emítalo de nuevo en el intento actual."],
  [/^modified_receipt_/, "El comprobante que esta nota modifica no lo permite.", "Revise el comprobante original y emita la nota de nuevo, si todavía hace falta."],
  [/^note_/, "La nota ya no coincide con el comprobante que modifica.", "Emítala de nuevo."],
  [/^(payload_unreadable|signed_xml_missing)$/, "No se pudo leer lo que estaba guardado.", "Avise a soporte con el número de la solicitud."],
  [/^outcome_unknown$/, "Enviado, sin respuesta.", "No lo emita de nuevo; soporte lo está revisando."],
  [/^(refused|\d+)$/, "La DGII no lo tomó y no dio veredicto.", "Corrija lo que dice el mensaje y emítalo de nuevo."],
  [/./, "Ya no cumple una regla.", "Corrija lo que dice el mensaje y emítalo de nuevo."],
];

/** @param {string | null | undefined} code */
export function stopped(code) {
  const row = STOPPED.find(([pattern]) => pattern.test(code ?? ""));
  return row ? { why: t(row[1]), fix: t(row[2]) } : null;
}
