// Secuencias: the number ranges that the DGII authorized.
import { useState } from "preact/hooks";
import { get, send } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { count } from "../money.js";
import { environment } from "../session.js";
import { environmentWords, TYPES, typeName } from "../states.js";
import { refresh } from "../summary.js";
import { civil } from "../time.js";
import { Card, Confirm, Dialog, Empty, Field, Loaded, may, Page, Trouble, useAction, useLoad } from "../ui.js";
import { t } from "../words.js";

/** @typedef {any} Range */
/** @typedef {import("../words.js").Word} Word */

const STATES = /** @type {Record<string, { tone: string, name: Word }>} */ ({
  active: { tone: "ok", name: "En uso" },
  exhausted: { tone: "mute", name: "Agotada" },
  expired: { tone: "bad", name: "Vencida" },
  inactive: { tone: "mute", name: "Apagada" },
});
const NUMBERED = /** @type {Record<string, Word>} */ ({ service: "La reparte este servicio", caller: "La reparte su sistema" });

/** @param {string} type @param {number} number */
const encf = (type, number) => `E${type}${String(number).padStart(10, "0")}`;

export function Sequences() {
  const from = useLoad((signal) => get("client/sequences", { signal }), []);
  const [dialog, setDialog] = useState(/** @type {any} */ (null));
  const close = () => setDialog(null);
  const reload = () => (from.reload(), refresh());
  const actions = may("full") && html`<button type="button" class="button" onClick=${() => setDialog({ kind: "annul" })}>${t("Anular números")}</button><button type="button" class="button main" onClick=${() => setDialog({ kind: "new" })}><${Icon} name="plus" />${t("Registrar secuencia")}</button>`;
  return html`<${Page} title=${t("Secuencias")} actions=${actions}>
    <p class="muted">${t("Los números que la DGII le autorizó. Cada comprobante toma el siguiente de su tipo.")}</p>
    <${Loaded} from=${from}>${(/** @type {any} */ data) =>
      data.items.length === 0
        ? html`<${Empty}><${Icon} name="numbers" class="large muted" /><p>${t("No hay secuencias: sin ellas no se puede emitir.")}</p>${may("full") && html`<button type="button" class="button main" onClick=${() => setDialog({ kind: "new" })}>${t("Registrar la primera")}</button>`}<//>`
        : TYPES.filter((type) => data.items.some((/** @type {Range} */ range) => range.ecf_type === type)).map((type) => html`<${Card} key=${type} class="flush" title=${html`<b class="mono">${type}</b> ${typeName(type)}`}>
            <ul class="ranges">${data.items.filter((/** @type {Range} */ range) => range.ecf_type === type).map((/** @type {Range} */ range) => html`<${One} key=${range.public_id} range=${range} turn=${() => setDialog({ kind: "turn", range })} />`)}</ul><//>`)}<//>
    ${dialog?.kind === "new" && html`<${New} close=${close} reload=${reload} />`}
    ${dialog?.kind === "annul" && html`<${Annul} close=${close} reload=${reload} />`}
    ${dialog?.kind === "turn" && html`<${Confirm} title=${dialog.range.is_active ? t("Apagar esta secuencia") : t("Encender esta secuencia")} yes=${dialog.range.is_active ? t("Apagar") : t("Encender")} close=${close}
      action=${async () => {
        await send("PATCH", "client/sequences/{public_id}", { params: { public_id: dialog.range.public_id }, body: { is_active: !dialog.range.is_active } });
        reload();
      }}><p class="mono">${encf(dialog.range.ecf_type, dialog.range.range_start)} – ${encf(dialog.range.ecf_type, dialog.range.range_end)}</p><p>${dialog.range.is_active ? t("No se toman más números de ella.") : t("Se vuelven a tomar números de ella.")}</p><//>`}
  <//>`;
}

/** @param {{ range: Range, turn: () => void }} props */
function One({ range, turn }) {
  const state = STATES[range.state] ?? { tone: "mute", name: null };
  const share = range.total ? Number((BigInt(range.used) * 1000n) / BigInt(range.total)) / 10 : 0;
  return html`<li>
    <div><span class="mono">${encf(range.ecf_type, range.range_start)} – ${encf(range.ecf_type, range.range_end)}</span>
      <small>${range.numbering && range.numbering in NUMBERED ? t(NUMBERED[range.numbering]) : ""}${range.valid_until ? ` · ${t("vence el {day}", { day: civil(range.valid_until) })}` : ` · ${t("no vence")}`}</small></div>
    <div class="used"><meter min="0" max="100" value=${share} aria-label=${t("Usados")}></meter><small>${t("{used} usados, quedan {left}", { used: count(range.used), left: count(range.available) })}</small></div>
    <span class=${`badge ${state.tone}`}>${state.name ? t(state.name) : range.state}</span>
    ${may("full") && ["active", "inactive"].includes(range.state) && html`<button type="button" class="button small" onClick=${turn}>${range.is_active ? t("Apagar") : t("Encender")}</button>`}
  </li>`;
}

/** @param {any} event */
const value = (event) => event.target.value;

/** @param {{ close: () => void, reload: () => void }} props */
function New({ close, reload }) {
  const [form, setForm] = useState({ ecf_type: "31", range_start: "", range_end: "", valid_until: "", numbering: "service" });
  const set = (/** @type {Partial<typeof form>} */ changes) => setForm({ ...form, ...changes });
  const doing = useAction(async () => {
    const { valid_until, range_start, range_end, ...rest } = form;
    const plain = (/** @type {string} */ text) => text.replace(/^E\d\d(?=\d{10}$)/i, "").replace(/[\s,]/g, "");
    await send("POST", "client/sequences", { body: { ...rest, range_start: plain(range_start), range_end: plain(range_end), ...(valid_until && { valid_until }) } });
    close();
    reload();
  });
  const submit = (/** @type {Event} */ event) => (event.preventDefault(), doing.run());
  return html`<${Dialog} title=${t("Registrar secuencia")} close=${() => doing.busy || close()}><form onSubmit=${submit}>
    <p class="muted">${t("Cópiela de su autorización en la Oficina Virtual de la DGII.")} ${environmentWords(environment.value)?.name}</p>
    <div class="fields">
      <${Field} label=${t("Tipo")}>${(/** @type {any} */ ids) => html`<select ...${ids} value=${form.ecf_type} onChange=${(/** @type {any} */ event) => set({ ecf_type: value(event) })}>${TYPES.map((type) => html`<option value=${type}>${type} · ${typeName(type)}</option>`)}</select>`}<//>
      <${Field} label=${t("Vence (opcional)")}>${(/** @type {any} */ ids) => html`<input ...${ids} type="date" value=${form.valid_until} onInput=${(/** @type {any} */ event) => set({ valid_until: value(event) })} />`}<//>
      <${Field} label=${t("Desde")}>${(/** @type {any} */ ids) => html`<input ...${ids} required inputmode="numeric" class="mono" value=${form.range_start} onInput=${(/** @type {any} */ event) => set({ range_start: value(event) })} />`}<//>
      <${Field} label=${t("Hasta")}>${(/** @type {any} */ ids) => html`<input ...${ids} required inputmode="numeric" class="mono" value=${form.range_end} onInput=${(/** @type {any} */ event) => set({ range_end: value(event) })} />`}<//>
      <${Field} label=${t("Quién reparte los números")}>${(/** @type {any} */ ids) => html`<select ...${ids} value=${form.numbering} onChange=${(/** @type {any} */ event) => set({ numbering: value(event) })}>${Object.entries(NUMBERED).map(([name, word]) => html`<option value=${name}>${t(word)}</option>`)}</select>`}<//>
    </div>
    ${doing.problem && html`<${Trouble} problem=${doing.problem} />`}
    <div class="actions"><button type="button" class="button" disabled=${doing.busy} onClick=${close}>${t("Volver")}</button><button class="button main" disabled=${doing.busy}>${doing.busy ? t("Un momento…") : t("Registrar")}</button></div></form><//>`;
}

/** @param {{ close: () => void, reload: () => void }} props */
function Annul({ close, reload }) {
  const [form, setForm] = useState({ first: "", last: "" });
  const [key] = useState(() => `consola-${crypto.randomUUID()}`);
  const [done, setDone] = useState(/** @type {any} */ (null));
  const doing = useAction(async () => {
    const from = form.first.trim().toUpperCase();
    const body = { idempotency_key: key, cancellations: [{ ecf_type: from.slice(1, 3), sequence_from: from, sequence_to: (form.last.trim() || from).toUpperCase() }] };
    setDone((await send("POST", "ecf/cancellations", { body })).data);
    reload();
  });
  const submit = (/** @type {Event} */ event) => (event.preventDefault(), doing.run());
  return html`<${Dialog} title=${t("Anular números")} close=${() => doing.busy || close()}>
    ${
      done
        ? html`<p><span class="badge ok"><${Icon} name="check" />${done.status}</span> ${done.message}</p><div class="actions"><button type="button" class="button main" onClick=${close}>${t("Cerrar")}</button></div>`
        : html`<form onSubmit=${submit}><p class="muted">${t("Solo números que no se usaron en un comprobante. Se lo decimos a la DGII; no se puede deshacer.")} ${environmentWords(environment.value)?.name}</p>
          <div class="fields">
            <${Field} label=${t("Primer e-NCF")}>${(/** @type {any} */ ids) => html`<input ...${ids} required class="mono" placeholder="E310000000001" pattern="[Ee][0-9]{12}" value=${form.first} onInput=${(/** @type {any} */ event) => setForm({ ...form, first: value(event) })} />`}<//>
            <${Field} label=${t("Último (si son varios)")}>${(/** @type {any} */ ids) => html`<input ...${ids} class="mono" pattern="[Ee][0-9]{12}" value=${form.last} onInput=${(/** @type {any} */ event) => setForm({ ...form, last: value(event) })} />`}<//>
          </div>
          ${doing.problem && html`<${Trouble} problem=${doing.problem} />`}
          <div class="actions"><button type="button" class="button" disabled=${doing.busy} onClick=${close}>${t("Volver")}</button><button class="button main danger" disabled=${doing.busy}>${doing.busy ? t("Un momento…") : t("Anular")}</button></div></form>`
    }<//>`;
}
