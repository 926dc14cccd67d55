// Claves: the API keys of the company.
import { useState } from "preact/hooks";
import { get, send } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { environment } from "../session.js";
import { environmentWords } from "../states.js";
import { day, moment } from "../time.js";
import { Confirm, Dialog, Field, Loaded, may, Page, Table, Trouble, useAction, useLoad } from "../ui.js";
import { t } from "../words.js";
import { Once } from "./webhooks.js";

const SCOPES = /** @type {Record<string, [import("../words.js").Word, import("../words.js").Word]>} */ ({
  full: ["Todo", "Emite, configura y crea otras claves."],
  issue: ["Emitir", "Emite, cancela y responde recibidos; no configura."],
  read: ["Solo lectura", "Ve todo y no cambia nada."],
});

export function Keys() {
  const from = useLoad((signal) => get("client/api-keys", { signal }), []);
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState(/** @type {any} */ (null));
  return html`<${Page} title=${t("Claves")} actions=${may("full") && html`<button type="button" class="button main" onClick=${() => setMaking(true)}><${Icon} name="plus" />${t("Crear clave")}</button>`}>
    <p class="muted">${t("Cada programa y cada persona con su propia clave: así se revoca una sin tocar las demás.")} ${environmentWords(environment.value)?.name}</p>
    <${Loaded} from=${from} rows=${3}>${(/** @type {any[]} */ list) => html`<div class="card flush"><${Table} label=${t("Claves")} heads=${[t("Nombre"), t("Comienza con"), t("Puede"), t("Último uso"), t("Estado"), ""]}>${list.map((one) => html`<tr key=${one.public_id} class=${one.is_active ? "" : "faded"}>
      <td class="lead">${one.name || t("Sin nombre")}${one.is_current && html`<small>${t("La que usa ahora")}</small>`}</td>
      <td class="mono">${one.prefix}…</td><td>${one.scope in SCOPES ? t(SCOPES[one.scope][0]) : one.scope}</td><td>${one.last_used_at ? moment(one.last_used_at) : t("Nunca")}</td>
      <td>${one.is_active ? html`<span class="badge ok"><${Icon} name="check" />${one.expires_at ? t("Hasta el {day}", { day: day(one.expires_at) }) : t("Activa")}</span>` : html`<span class="badge mute"><${Icon} name="ban" />${one.revoked_at ? t("Revocada") : t("Vencida")}</span>`}</td>
      <td>${one.is_active && !one.is_current && may("full") && html`<button type="button" class="button small danger" onClick=${() => setRevoking(one)}>${t("Revocar")}</button>`}</td></tr>`)}<//></div>`}<//>
    ${making && html`<${Make} close=${() => setMaking(false)} reload=${from.reload} />`}
    ${revoking && html`<${Confirm} danger title=${t("Revocar esta clave")} yes=${t("Revocar")} close=${() => setRevoking(null)} action=${async () => (await send("DELETE", "client/api-keys/{public_id}", { params: { public_id: revoking.public_id } }), from.reload())}>
      <p><strong>${revoking.name || t("Sin nombre")}</strong> <code>${revoking.prefix}…</code></p><p>${t("El programa que la usa deja de entrar enseguida. No se puede deshacer.")}</p><//>`}
  <//>`;
}

/** @param {{ close: () => void, reload: () => void }} props */
function Make({ close, reload }) {
  const [name, setName] = useState("");
  const [scope, setScope] = useState("issue");
  const [key, setKey] = useState("");
  const doing = useAction(async () => {
    const { data } = await send("POST", "client/api-keys", { body: { scope, ...(name.trim() && { name: name.trim() }) } });
    setKey(data.key);
    reload();
  });
  const submit = (/** @type {Event} */ event) => (event.preventDefault(), doing.run());
  return html`<${Dialog} title=${t("Crear clave")} close=${() => doing.busy || key || close()}>
    ${
      key
        ? html`<${Once} secret=${key} help=${t("Quien tenga esta clave puede usar el API en nombre de su empresa.")} close=${close} />`
        : html`<form onSubmit=${submit}>
            <${Field} label=${t("Nombre")} help=${t("Por ejemplo, el programa que la usa.")}>${(/** @type {any} */ ids) => html`<input ...${ids} maxlength="100" value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} />`}<//>
            <fieldset class="checks"><legend>${t("Puede")}</legend>${Object.entries(SCOPES).map(([value, [word, says]]) => html`<label><input type="radio" name="scope" checked=${scope === value} onChange=${() => setScope(value)} /> <strong>${t(word)}</strong> <span class="muted">${t(says)}</span></label>`)}</fieldset>
            ${doing.problem && html`<${Trouble} problem=${doing.problem} />`}
            <div class="actions"><button type="button" class="button" disabled=${doing.busy} onClick=${close}>${t("Volver")}</button><button class="button main" disabled=${doing.busy}>${doing.busy ? t("Un momento…") : t("Crear")}</button></div></form>`
    }<//>`;
}
