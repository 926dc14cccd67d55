// The form of Certificación that begins a simulation: the receipts of step 4, from the company's own data.
import { useState } from "preact/hooks";
import { Problem, send } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { number } from "../money.js";
import { useRegister } from "../register.js";
import { Card, Field, Trouble, useAction } from "../ui.js";
import { t } from "../words.js";

const freshItem = { name: "", price: "", is_taxed: true, is_service: true };
const freshKey = () => `consola-${crypto.randomUUID()}`;

/** @param {{ reload: () => void }} props */
export function Simulate({ reload }) {
  const [key, setKey] = useState(freshKey);
  const [data, setData] = useState({ own: false, provider: false, rnc: "", name: "", foreign: "", items: [freshItem] });
  const change = (/** @type {Partial<typeof data>} */ changes) => setData((old) => ({ ...old, ...changes }));
  const setItem = (/** @type {number} */ at, /** @type {Partial<typeof freshItem>} */ changes) => change({ items: data.items.map((item, index) => (index === at ? { ...item, ...changes } : item)) });
  const help = useRegister(data.rnc, data.name, (name) => change({ name }));
  const beginning = useAction(async () => {
    const hasItems = !data.own || data.items.some(({ name, price }) => name || price);
    const buyer = { rnc: data.rnc.replace(/[\s-]/g, ""), name: data.name };
    await send("POST", "client/certification/runs", {
      body: {
        kind: "simulation",
        idempotency_key: key,
        from_receipts: data.own,
        certified_provider: data.provider,
        buyer: data.own && !buyer.rnc && !buyer.name ? undefined : buyer,
        foreign_buyer: data.foreign || undefined,
        items: hasItems ? data.items.map((item) => ({ ...item, price: number(item.price) })) : undefined,
      },
    });
    setKey(freshKey());
    reload();
  });
  const { problem } = beginning;
  const findings = problem instanceof Problem ? problem.findings : [];
  const errorAt = (/** @type {string} */ path) => findings.find(({ loc }) => {
    const at = loc.slice(1).join("/");
    return at === path || (at === "buyer" && path === "buyer/rnc") || (at === "items" && path === "items/0/name");
  })?.msg;
  /** @param {string} path @param {string} label @param {string} value @param {(value: string) => void} set @param {any} [more] */
  const input = (path, label, value, set, { help, className, ...more } = /** @type {any} */ ({})) => html`<${Field} label=${label} help=${help} class=${className} error=${errorAt(path)}>
    ${(/** @type {any} */ ids) => html`<input ...${ids} ...${more} autocomplete="off" required=${!data.own} value=${value} onInput=${(/** @type {any} */ event) => set(event.target.value)} />`}<//>`;
  /** @param {string} label @param {boolean} value @param {[string, string]} words @param {(value: boolean) => void} set */
  const choice = (label, value, [yes, no], set) => html`<${Field} label=${label}>
    ${(/** @type {any} */ ids) => html`<select ...${ids} value=${value ? "1" : ""} onChange=${(/** @type {any} */ event) => set(event.target.value === "1")}><option value="1">${yes}</option><option value="">${no}</option></select>`}<//>`;
  /** @param {"own" | "provider"} member @param {string} label */
  const check = (member, label) => html`<label><input type="checkbox" checked=${data[member]} onChange=${() => change({ [member]: !data[member] })} /> ${label}</label>`;
  return html`<${Card} title=${t("Iniciar una simulación")}>
    <p class="muted">${t("El paso 4: comprobantes de cada tipo con sus propios datos y números nuevos, y los archivos para los pasos 4 y 5.")}</p>
    <form onSubmit=${(/** @type {Event} */ event) => (event.preventDefault(), beginning.run())}>
      <fieldset class="checks"><legend class="unseen">${t("Opciones")}</legend>
        ${check("own", t("De mis comprobantes aceptados: lo que deje vacío se toma de ellos"))}
        ${check("provider", t("Con un proveedor certificado: un comprobante de cada tipo"))}
      </fieldset>
      <div class="fields">
        ${input("buyer/rnc", t("RNC o cédula"), data.rnc, (rnc) => change({ rnc }), { help: help ?? t("Lo buscamos en el padrón de la DGII."), inputmode: "numeric" })}
        ${input("buyer/name", t("Nombre o razón social"), data.name, (name) => change({ name }), { maxlength: 150 })}
        ${input("foreign_buyer", t("Comprador del exterior"), data.foreign, (foreign) => change({ foreign }), { maxlength: 150 })}
      </div>
      <ol class="lines short">${data.items.map((item, at) => html`<li key=${at}>
        ${input(`items/${at}/name`, t("Descripción"), item.name, (name) => setItem(at, { name }), { className: "name", maxlength: 80 })}
        ${input(`items/${at}/price`, t("Precio RD$"), item.price, (price) => setItem(at, { price }), { inputmode: "decimal", class: "number" })}
        ${choice("ITBIS", item.is_taxed, [t("18 %"), t("Exento")], (is_taxed) => setItem(at, { is_taxed }))}
        ${choice(t("Es un"), item.is_service, [t("Servicio"), t("Bien")], (is_service) => setItem(at, { is_service }))}
        <button type="button" class="icon-button" disabled=${data.items.length === 1} aria-label=${t("Quitar la línea {n}", { n: at + 1 })} title=${t("Quitar")} onClick=${() => change({ items: data.items.filter((_, index) => index !== at) })}><${Icon} name="trash" /></button>
      </li>`)}</ol>
      <button type="button" class="button" onClick=${() => change({ items: [...data.items, freshItem] })}><${Icon} name="plus" />${t("Agregar línea")}</button>
      ${problem && html`<${Trouble} problem=${problem} />`}
      <div class="actions left"><button class="button main" disabled=${beginning.busy}>${beginning.busy ? t("Revisando todos los comprobantes…") : t("Iniciar la simulación")}</button></div>
    </form>
  <//>`;
}
