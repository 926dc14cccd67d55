// The form's fields for each type of receipt. `check.mjs` compares every path with the OpenAPI document.
import { number } from "./money.js";
import { today, toDocument, toIso } from "./time.js";

/** @typedef {import("./words.js").Word} Word */
/**
 * @typedef {object} FormField
 * @property {string} path below `payload`
 * @property {Word} label
 * @property {string[]} types that have it
 * @property {"text" | "rnc" | "date" | "choice"} [kind]
 * @property {[string, Word][]} [choices]
 * @property {Word} [help]
 * @property {string} [fresh] its initial value
 * @property {boolean} [integer]
 * @property {(values: Record<string, string>) => boolean} [when] whether it applies
 */

const BUYERS = ["31", "32", "33", "34", "41", "44", "45", "46"];
const ABROAD = ["46", "47"];
const PRICED_WITH_TAX = ["31", "32", "33", "34", "41", "45"];
const NOTES = ["33", "34"];
const INCOME = ["31", "32", "33", "34", "44", "45", "46"];
const PAID = ["31", "32", "33", "34", "41", "44", "45", "46", "47"];

const RNC = "Encabezado/Comprador/RNCComprador";
export const NAME = "Encabezado/Comprador/RazonSocialComprador";
const PAYMENT = "Encabezado/IdDoc/TipoPago";
const MODIFIED = "InformacionReferencia/NCFModificado";
const MODIFIED_DATE = "InformacionReferencia/FechaNCFModificado";

/** @type {FormField[]} */
export const REFERENCE = [
  { path: MODIFIED, label: "e-NCF que modifica", types: NOTES },
  { path: MODIFIED_DATE, label: "Su fecha de emisión", types: NOTES, kind: "date" },
  {
    path: "InformacionReferencia/CodigoModificacion",
    label: "Qué hace la nota",
    types: NOTES,
    kind: "choice",
    integer: true,
    fresh: "3",
    choices: [
      ["1", "Anula todo el comprobante"],
      ["2", "Corrige el texto"],
      ["3", "Corrige montos"],
    ],
  },
  { path: "InformacionReferencia/RazonModificacion", label: "Motivo (opcional)", types: NOTES },
];

/** @type {FormField[]} */
export const BUYER = [
  { path: RNC, label: "RNC o cédula", types: BUYERS, kind: "rnc", help: "Lo buscamos en el padrón de la DGII." },
  { path: "Encabezado/Comprador/IdentificadorExtranjero", label: "Identificación en su país", types: ABROAD },
  { path: NAME, label: "Nombre o razón social", types: [...BUYERS, "47"] },
];

/** @type {FormField[]} */
export const PAYING = [
  { path: "Encabezado/Emisor/FechaEmision", label: "Fecha de emisión", types: [...PAID, "43"], kind: "date" },
  {
    path: PAYMENT,
    label: "Forma de pago",
    types: PAID,
    kind: "choice",
    integer: true,
    fresh: "1",
    choices: [
      ["1", "Contado"],
      ["2", "Crédito"],
      ["3", "Gratuito"],
    ],
  },
  { path: "Encabezado/IdDoc/FechaLimitePago", label: "Se paga hasta", types: PAID, kind: "date", when: (values) => values[PAYMENT] === "2" },
  {
    path: "Encabezado/IdDoc/TipoIngresos",
    label: "Tipo de ingreso",
    types: INCOME,
    kind: "choice",
    fresh: "01",
    choices: [
      ["01", "Operaciones"],
      ["02", "Financieros"],
      ["03", "Extraordinarios"],
      ["04", "Arrendamientos"],
      ["05", "Venta de activo depreciable"],
      ["06", "Otros ingresos"],
    ],
  },
];

/** @type {FormField} */
export const WITH_TAX = {
  path: "Encabezado/IdDoc/IndicadorMontoGravado",
  label: "Los precios",
  types: PRICED_WITH_TAX,
  kind: "choice",
  integer: true,
  fresh: "0",
  choices: [
    ["0", "No llevan ITBIS"],
    ["1", "Llevan ITBIS"],
  ],
};

export const FIELDS = [...REFERENCE, ...BUYER, ...PAYING, WITH_TAX];

/** The members of a line that the form can edit. */
export const LINE = {
  name: "NombreItem",
  quantity: "CantidadItem",
  price: "PrecioUnitarioItem",
  rate: "IndicadorFacturacion",
  kind: "IndicadorBienoServicio",
  itbis: "Retencion/MontoITBISRetenido",
  isr: "Retencion/MontoISRRetenido",
};

/** @type {Record<string, string[]>} */
export const RATES = { 43: ["4"], 44: ["4"], 46: ["3"], 47: ["4"] };
export const ALL_RATES = /** @type {[string, Word][]} */ ([
  ["1", "18 %"],
  ["2", "16 %"],
  ["3", "0 %"],
  ["4", "Exento"],
]);
/** @param {string} type */
export const ratesOf = (type) => ALL_RATES.filter(([value]) => (RATES[type] ?? ["1", "2", "3", "4"]).includes(value));
/** @param {string} type */
export const retains = (type) => ({ itbis: type === "41", isr: type === "41" || type === "47" });

/** @typedef {{ name: string, quantity: string, price: string, rate: string, kind: string, itbis: string, isr: string }} Line */
/** @typedef {{ key: string, type: string, reference: string, values: Record<string, string>, lines: Line[], from: string | null, sent: any | null }} Draft */

/** @returns {Line} */
export const freshLine = (type = "31") => ({ name: "", quantity: "1", price: "", rate: ratesOf(type)[0][0], kind: "1", itbis: "", isr: "" });

/** A new draft with its idempotency key: however often it is sent, one receipt is issued. @returns {Draft} */
export const freshDraft = (type = "31") => ({
  key: `consola-${crypto.randomUUID()}`,
  type,
  reference: "",
  values: { "Encabezado/Emisor/FechaEmision": today(), ...Object.fromEntries(FIELDS.filter(({ fresh }) => fresh).map(({ path, fresh }) => [path, fresh ?? ""])) },
  lines: [freshLine(type)],
  from: null,
  sent: null,
});

/** @param {FormField} field @param {Draft} draft */
export const applies = (field, draft) => field.types.includes(draft.type) && (field.when?.(draft.values) ?? true);

/** @param {Record<string, any>} into @param {string} path @param {any} value */
function put(into, path, value) {
  const names = path.split("/");
  const last = /** @type {string} */ (names.pop());
  let here = into;
  for (const name of names) here = here[name] ??= {};
  here[last] = value;
}

/** Days between two civil dates. @param {string} from @param {string} to */
const days = (from, to) => Math.round((Date.parse(`${to}T12:00Z`) - Date.parse(`${from}T12:00Z`)) / 86_400_000);

/** The request body. Empty fields are omitted, because the finding for a missing field is clearer than the one for an empty text. @param {Draft} draft @param {{ rnc: string, name: string, address?: string | null }} issuer */
export function body(draft, issuer) {
  /** @type {Record<string, any>} */
  const payload = { Encabezado: { IdDoc: {}, Emisor: { RNCEmisor: issuer.rnc, RazonSocialEmisor: issuer.name, ...(issuer.address && { DireccionEmisor: issuer.address }) } } };
  for (const field of FIELDS) {
    const value = draft.values[field.path]?.trim();
    if (!value || !applies(field, draft)) continue;
    put(payload, field.path, field.kind === "date" ? toDocument(value) : field.kind === "rnc" ? value.replace(/[\s-]/g, "") : field.integer ? Number(value) : value);
  }
  const modified = draft.values[MODIFIED_DATE];
  if (draft.type === "34") put(payload, "Encabezado/IdDoc/IndicadorNotaCredito", modified && days(modified, draft.values["Encabezado/Emisor/FechaEmision"]) > 30 ? 1 : 0);
  const retained = retains(draft.type);
  const items = draft.lines.map((line) => {
    /** @type {Record<string, any>} */
    const item = { [LINE.rate]: Number(line.rate), [LINE.kind]: Number(line.kind) };
    if (line.name.trim()) item[LINE.name] = line.name.trim();
    if (line.quantity.trim()) item[LINE.quantity] = number(line.quantity);
    if (line.price.trim()) item[LINE.price] = number(line.price);
    if (retained.isr) {
      item.Retencion = { IndicadorAgenteRetencionoPercepcion: 1 };
      if (retained.itbis && line.itbis.trim()) item.Retencion.MontoITBISRetenido = number(line.itbis);
      if (line.isr.trim()) item.Retencion.MontoISRRetenido = number(line.isr);
    }
    return item;
  });
  payload.DetallesItems = { Item: items };
  return { idempotency_key: draft.key, ecf_type: draft.type, payload, ...(draft.reference.trim() && { external_id: draft.reference.trim() }) };
}

/** Whether the draft has content to validate. @param {Draft} draft */
export const isBegun = (draft) => draft.lines.some(({ name, price }) => name.trim() || price.trim());

/** Members that the service computes or that the form sets by itself; any other member that the form lacks is reported. */
const COMPUTED = /^(Encabezado\/(Version|Totales\/.*|IdDoc\/(TipoeCF|eNCF|FechaVencimientoSecuencia|IndicadorNotaCredito)|Emisor\/.*)|DetallesItems\/Item\/(NumeroLinea|MontoItem|Retencion\/IndicadorAgenteRetencionoPercepcion)|FechaHoraFirma|Signature.*|Paginacion.*)$/;

/**
 * A draft from the content of a document: a copy of it, or a note that modifies it.
 * @param {import("./content.js").Tree} content @param {string} type @param {string} from
 * @returns {{ draft: Draft, lost: string[] }}
 */
export function drafted(content, type, from) {
  const draft = freshDraft(type);
  draft.from = from;
  const isNote = NOTES.includes(type) && content.text("Encabezado/IdDoc/TipoeCF") !== type;
  for (const field of FIELDS) {
    const value = content.text(field.path);
    const skipped = field.path === "Encabezado/Emisor/FechaEmision" || (isNote && (REFERENCE.includes(field) || field.path === "Encabezado/IdDoc/FechaLimitePago" || field.path === PAYMENT));
    if (value && !skipped) draft.values[field.path] = field.kind === "date" ? toIso(value) : value;
  }
  if (isNote) {
    draft.values[MODIFIED] = content.text("Encabezado/IdDoc/eNCF");
    draft.values[MODIFIED_DATE] = toIso(content.text("Encabezado/Emisor/FechaEmision"));
    draft.values["InformacionReferencia/CodigoModificacion"] = "1";
  }
  draft.lines = content.all("DetallesItems/Item").map((item) => ({
    name: item.text(LINE.name),
    quantity: item.text(LINE.quantity),
    price: item.text(LINE.price),
    rate: item.text(LINE.rate),
    kind: item.text(LINE.kind),
    itbis: item.text(LINE.itbis),
    isr: item.text(LINE.isr),
  }));
  const carried = new Set([...FIELDS.map(({ path }) => path), ...Object.values(LINE).map((path) => `DetallesItems/Item/${path}`)]);
  return { draft, lost: content.paths().filter((path) => !carried.has(path) && !COMPUTED.test(path)) };
}

/** An example for a first try. @param {string} type @param {{ rnc: string }} issuer */
export function example(type, issuer) {
  const draft = freshDraft(type);
  const abroad = ABROAD.includes(type);
  if (BUYERS.includes(type) && !abroad && type !== "32") {
    draft.values[RNC] = type === "41" ? "00113918205" : issuer.rnc === "101672919" ? "131880738" : "101672919";
    draft.values[NAME] = type === "41" ? "ANA PRUEBA" : "CLIENTE DE EJEMPLO SRL";
  }
  if (abroad) {
    draft.values["Encabezado/Comprador/IdentificadorExtranjero"] = "US-55-1234567";
    draft.values[NAME] = "CARIBBEAN IMPORTS INC";
  }
  const line = { ...freshLine(type), name: "Servicio de ejemplo", quantity: "2", price: "750.00", kind: "2" };
  if (type === "41") Object.assign(line, { itbis: "270.00", isr: "150.00" });
  if (type === "47") Object.assign(line, { isr: "405.00" });
  draft.lines = [line];
  return draft;
}
