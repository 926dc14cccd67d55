// Webhooks: subscriptions, tests and deliveries.
import { useState } from "preact/hooks";
import { get, send } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { go, to } from "../router.js";
import { moment } from "../time.js";
import { Card, Confirm, Copy, Dialog, Empty, Field, Loaded, may, Page, Table, Trouble, useAction, useLoad } from "../ui.js";
import { t } from "../words.js";

/** @typedef {import("../words.js").Word} Word */

/** The events that are delivered; docs/webhooks.md lists them. */
const EVENTS = /** @type {[string, Word][]} */ ([
  ["accepted", "Aceptado por la DGII"],
  ["conditionally_accepted", "Aceptado con observaciones"],
  ["rejected", "Rechazado por la DGII"],
  ["failed", "Un comprobante se detuvo"],
  ["delivery.alarm", "Un comprobante no llega a la DGII"],
  ["contingency.started", "La DGII no responde y los comprobantes esperan"],
  ["contingency.ended", "La DGII volvió y los comprobantes se envían"],
  ["approval.received", "Un comprador aprobó o rechazó"],
  ["certification.row", "Una fila de la certificación tiene su veredicto"],
  ["certification.finished", "Una corrida de certificación terminó o espera"],
  ["inbox.received", "Llegó un comprobante de otro emisor"],
  ["inbox.confirmed", "La DGII confirmó un recibido"],
  ["sequence.low", "Quedan pocos números"],
  ["sequence.expiring", "Una secuencia está por vencer"],
  ["certificate.expiring", "El certificado está por vencer"],
  ["webhook.paused", "Otro webhook se desactivó"],
]);

/** @param {string} name */
function eventName(name) {
  const known = EVENTS.find(([event]) => event === name);
  return known ? t(known[1]) : name === "webhook.test" ? t("Prueba") : name === "*" || name === "ecf.*" ? t("Los tres veredictos") : name;
}

/** @param {{ webhook: any }} props */
function Health({ webhook }) {
  if (!webhook.is_active) return html`<span class="badge mute"><${Icon} name="pause" />${webhook.paused_at ? t("Desactivado por fallas") : t("Apagado")}</span>`;
  if (webhook.failing_since) return html`<span class="badge bad"><${Icon} name="alert" />${t("Sin respuesta desde {time}", { time: moment(webhook.failing_since) })}</span>`;
  return html`<span class="badge ok"><${Icon} name="check" />${t("Activo")}</span>`;
}

export function Webhooks() {
  const from = useLoad((signal) => get("client/webhooks", { signal }), []);
  const [making, setMaking] = useState(false);
  const make = may("full") && html`<button type="button" class="button main" onClick=${() => setMaking(true)}><${Icon} name="plus" />${t("Crear webhook")}</button>`;
  return html`<${Page} title=${t("Webhooks")} actions=${make}>
    <p class="muted">${t("Avisos que enviamos a su sistema cuando algo pasa con un comprobante.")}</p>
    <${Loaded} from=${from} rows=${3}>${(/** @type {any[]} */ list) =>
      list.length === 0
        ? html`<${Empty}><${Icon} name="hook" class="large muted" /><p>${t("Ningún sistema recibe avisos todavía.")}</p>${make}<//>`
        : html`<div class="card flush"><${Table} label=${t("Webhooks")} heads=${[t("Dirección"), t("Avisa de"), t("Estado")]}>${list.map((one) => html`<tr key=${one.public_id} class="opens" onClick=${() => go(`/webhooks/${one.public_id}`)}>
            <td class="lead break"><a href=${to(`/webhooks/${one.public_id}`)}>${one.url}</a></td><td>${one.events.map(eventName).join(", ")}</td><td><${Health} webhook=${one} /></td></tr>`)}<//></div>`}<//>
    ${making && html`<${Make} close=${() => setMaking(false)} reload=${from.reload} />`}
  <//>`;
}

/** Shows a secret that cannot be shown again. @param {{ secret: string, help: string, close: () => void }} props */
export const Once = ({ secret, help, close }) => html`
  <div class="notice warn"><${Icon} name="key" /><div><strong>${t("Cópielo ahora: no se vuelve a mostrar.")}</strong><p>${help}</p></div></div>
  <p class="secret"><code class="break">${secret}</code> <${Copy} text=${secret} label=${t("secreto")} /></p>
  <div class="actions"><button type="button" class="button main" onClick=${close}>${t("Ya lo guardé")}</button></div>
`;

/** @param {{ close: () => void, reload: () => void }} props */
function Make({ close, reload }) {
  const [url, setUrl] = useState("");
  const [events, setEvents] = useState(EVENTS.slice(0, 3).map(([name]) => name));
  const [secret, setSecret] = useState("");
  const doing = useAction(async () => {
    const { data } = await send("POST", "client/webhooks", { body: { url: url.trim(), events } });
    setSecret(data.secret);
    reload();
  });
  const submit = (/** @type {Event} */ event) => (event.preventDefault(), doing.run());
  const turn = (/** @type {string} */ name) => setEvents(events.includes(name) ? events.filter((one) => one !== name) : [...events, name]);
  return html`<${Dialog} title=${t("Crear webhook")} close=${() => doing.busy || secret || close()}>
    ${
      secret
        ? html`<${Once} secret=${secret} help=${t("Con este secreto su sistema comprueba que el aviso es nuestro.")} close=${close} />`
        : html`<form onSubmit=${submit}>
            <${Field} label=${t("Dirección")} help=${t("https, y no una dirección privada.")}>${(/** @type {any} */ ids) => html`<input ...${ids} type="url" required placeholder="https://…" value=${url} onInput=${(/** @type {any} */ event) => setUrl(event.target.value)} />`}<//>
            <fieldset class="checks"><legend>${t("Avisa de")}</legend>${EVENTS.map(([name, word]) => html`<label><input type="checkbox" checked=${events.includes(name)} onChange=${() => turn(name)} /> ${t(word)} <code>${name}</code></label>`)}</fieldset>
            ${doing.problem && html`<${Trouble} problem=${doing.problem} />`}
            <div class="actions"><button type="button" class="button" disabled=${doing.busy} onClick=${close}>${t("Volver")}</button><button class="button main" disabled=${doing.busy || events.length === 0}>${doing.busy ? t("Un momento…") : t("Crear")}</button></div></form>`
    }<//>`;
}

/** @param {{ id: string }} props */
export function Webhook({ id }) {
  const from = useLoad((signal) => get("client/webhooks/{public_id}", { params: { public_id: id }, signal }), [id]);
  const [offset, setOffset] = useState(0);
  const deliveries = useLoad((signal) => get("client/webhooks/{public_id}/deliveries", { params: { public_id: id }, query: { limit: 25, offset }, signal }), [id, offset], { every: offset ? 0 : 10_000 });
  const [dialog, setDialog] = useState("");
  const [secret, setSecret] = useState("");
  const [result, setResult] = useState(/** @type {any} */ (null));
  const params = { public_id: id };
  const testing = useAction(async () => {
    setResult(null);
    setResult((await send("POST", "client/webhooks/{public_id}/test", { params })).data);
    deliveries.reload();
  });
  const turning = useAction(async () => {
    const { data } = await send("PATCH", "client/webhooks/{public_id}", { params, body: { is_active: !from.data?.is_active } });
    from.set(data);
  });
  const again = useAction(async (/** @type {number} */ delivery_id) => {
    await send("POST", "client/webhooks/{public_id}/deliveries/{delivery_id}/redeliver", { params: { ...params, delivery_id } });
    setTimeout(deliveries.reload, 1000);
  });
  const crumbs = html`<nav class="crumbs" aria-label=${t("Camino")}><a href=${to("/webhooks")}>${t("Webhooks")}</a></nav>`;
  return html`<${Loaded} from=${from} rows=${4}>${(/** @type {any} */ webhook) => html`
    <${Page} above=${crumbs} title=${html`<span class="break small-title">${webhook.url}</span>`} actions=${may("full") && html`
      <button type="button" class="button" disabled=${testing.busy} onClick=${testing.run}>${testing.busy ? t("Un momento…") : t("Probar")}</button>
      <button type="button" class="button" disabled=${turning.busy} onClick=${turning.run}>${webhook.is_active ? t("Apagar") : t("Encender")}</button>
      <button type="button" class="button" onClick=${() => setDialog("rotate")}>${t("Cambiar el secreto")}</button>
      <button type="button" class="button danger" onClick=${() => setDialog("delete")}>${t("Eliminar")}</button>`}>
      <p class="under"><${Health} webhook=${webhook} /> <span class="muted">${webhook.events.map(eventName).join(", ")}</span></p>
      ${webhook.paused_reason && html`<div class="notice warn"><${Icon} name="pause" /><div>${webhook.paused_reason}</div></div>`}
      ${[testing, turning, again].map(({ problem }) => problem && html`<${Trouble} problem=${problem} />`)}
      ${result && html`<div class=${`notice ${result.succeeded ? "ok" : "bad"}`} role="status"><${Icon} name=${result.succeeded ? "check" : "cross"} /><div><strong>${result.succeeded ? t("Su sistema recibió la prueba.") : t("Su sistema no recibió la prueba.")}</strong> ${result.status_code ?? ""} ${result.error ?? ""}${result.response_excerpt && html`<pre>${result.response_excerpt}</pre>`}</div></div>`}
      <${Card} class="flush" title=${t("Entregas")}>
        <${Loaded} from=${deliveries} rows=${4}>${(/** @type {any} */ data) =>
          data.items.length === 0
            ? html`<${Empty}><p>${t("Todavía no se ha enviado nada.")}</p><//>`
            : html`<${Table} label=${t("Entregas")} heads=${[t("Aviso"), t("Comprobante"), t("Enviado"), t("Respuesta"), ""]}>${data.items.map((/** @type {any} */ one) => html`<tr key=${`${one.id}-${one.attempt}`}>
                <td class="lead">${eventName(one.event)}<small>${t("Intento {n}", { n: one.attempt })}</small></td>
                <td class="mono">${one.public_id ? html`<a href=${to(`/comprobantes/${one.public_id}`)}>${one.encf ?? one.public_id}</a>` : (one.encf ?? "—")}</td>
                <td>${moment(one.sent_at)}</td>
                <td><span class=${`badge ${one.succeeded ? "ok" : "bad"}`}><${Icon} name=${one.succeeded ? "check" : "cross"} />${one.status_code ?? t("sin respuesta")}</span>${one.response_excerpt && html`<small class="break">${one.response_excerpt}</small>`}</td>
                <td>${may("full") && html`<button type="button" class="button small" disabled=${again.busy} onClick=${() => again.run(one.id)}>${t("Reenviar")}</button>`}</td></tr>`)}<//>
              ${data.total > 25 && html`<nav class="pages" aria-label=${t("Páginas")}><span class="muted">${t("{first}–{last} de {total}", { first: offset + 1, last: offset + data.items.length, total: data.total })}</span>
                <button type="button" class="button" disabled=${offset === 0} onClick=${() => setOffset(offset - 25)}>${t("Anterior")}</button><button type="button" class="button" disabled=${offset + 25 >= data.total} onClick=${() => setOffset(offset + 25)}>${t("Siguiente")}</button></nav>`}`}<//>
      <//>
    <//>
    ${dialog === "delete" && html`<${Confirm} danger title=${t("Eliminar este webhook")} yes=${t("Eliminar")} close=${() => setDialog("")} action=${async () => (await send("DELETE", "client/webhooks/{public_id}", { params }), go("/webhooks"))}><p class="break">${webhook.url}</p><p>${t("Su sistema deja de recibir avisos en esa dirección.")}</p><//>`}
    ${dialog === "rotate" && html`<${Confirm} title=${t("Cambiar el secreto")} yes=${t("Cambiar el secreto")} close=${() => setDialog("")} action=${async () => setSecret((await send("POST", "client/webhooks/{public_id}/rotate-secret", { params, body: {} })).data.secret)}><p class="break">${webhook.url}</p><p>${t("El secreto anterior deja de servir enseguida.")}</p><//>`}
    ${secret && html`<${Dialog} title=${t("Secreto nuevo")} close=${() => {}}><${Once} secret=${secret} help=${t("Con este secreto su sistema comprueba que el aviso es nuestro.")} close=${() => setSecret("")} /><//>`}
  `}<//>`;
}
