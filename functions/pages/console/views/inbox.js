// Recibidos: receipts of other issuers, and the company's answers.
import { useEffect, useRef, useState } from "preact/hooks";
import { file, get, save, send } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { Print } from "../pdf.js";
import { ask, place } from "../router.js";
import { company, environment } from "../session.js";
import { environmentWords, rncText, typeName } from "../states.js";
import { refresh } from "../summary.js";
import { civil, moment } from "../time.js";
import { Confirm, Copy, Dialog, Empty, Field, Loaded, may, Money, Page, Table, Trouble, useAction, useLoad } from "../ui.js";
import { t } from "../words.js";
import { parse } from "../xml.js";
import { Lines } from "./receipt.js";

/** @typedef {any} Item */
/** @typedef {import("../words.js").Word} Word */

const PAGE = 25;

const AUTHORITY = /** @type {Record<string, { tone: string, icon: string, name: Word, says: Word }>} */ ({
  pending: { tone: "busy", icon: "clock", name: "Por confirmar", says: "Todavía no sabemos si la DGII lo aceptó. No lo contabilice aún." },
  accepted: { tone: "ok", icon: "check", name: "Aceptado", says: "La DGII lo aceptó." },
  conditionally_accepted: { tone: "warn", icon: "check", name: "Aceptado condicional", says: "La DGII lo aceptó con observaciones." },
  rejected: { tone: "bad", icon: "cross", name: "Rechazado", says: "La DGII lo rechazó: no tiene valor fiscal." },
  not_found: { tone: "bad", icon: "alert", name: "La DGII no lo tiene", says: "Pasados tres días la DGII no lo conoce. No lo contabilice." },
});

/** @param {{ item: Item }} props */
function Answer({ item }) {
  if (item.answer === "approved") return html`<span class="badge ok"><${Icon} name="check" />${t("Aprobado")}</span>`;
  if (item.answer === "rejected") return html`<span class="badge bad"><${Icon} name="cross" />${t("Rechazado por usted")}</span>`;
  return item.acked ? html`<span class="badge mute"><${Icon} name="check" />${t("Visto")}</span>` : html`<span class="badge busy"><${Icon} name="inbox" />${t("Por responder")}</span>`;
}

/** @param {{ state: string | null }} props */
function Said({ state }) {
  const known = state ? AUTHORITY[state] : null;
  return known ? html`<span class=${`badge ${known.tone}`}><${Icon} name=${known.icon} />${t(known.name)}</span>` : html`<span class="muted">—</span>`;
}

export function Inbox() {
  const { query } = place.value;
  const all = query.get("ver") === "todos";
  const offset = Number(query.get("fila") ?? 0);
  const open = query.get("abierto");
  const list = useLoad((signal) => get("client/inbox", { query: { acked: all ? "" : false, limit: PAGE, offset }, signal }), [all, offset], { every: 15_000 });
  const reload = () => (list.reload(), refresh());
  return html`<${Page} title=${t("Recibidos")}>
    <div class="chips" role="group" aria-label=${t("Mostrar")}>
      <button type="button" class="chip" aria-pressed=${!all} onClick=${() => ask({ ver: null, fila: null, abierto: null })}>${t("Por responder")}</button>
      <button type="button" class="chip" aria-pressed=${all} onClick=${() => ask({ ver: "todos", fila: null, abierto: null })}>${t("Todos")}</button>
    </div>
    <${Loaded} from=${list} rows=${6}>${(/** @type {any} */ data) => {
      const item = data.items.find((/** @type {Item} */ item) => item.public_id === open);
      if (data.items.length === 0) return html`<${Nothing} all=${all} />`;
      return html`
        <div class=${`card flush ${list.stale ? "stale" : ""}`}><${Table} label=${t("Recibidos")} heads=${[t("Emisor"), "e-NCF", t("Fecha"), { text: t("Total"), class: "number" }, "DGII", t("Respuesta")]}>
          ${data.items.map((/** @type {Item} */ item) => html`<tr key=${item.public_id} class=${`opens ${item.public_id === open ? "chosen" : ""}`} onClick=${(/** @type {any} */ event) => event.target.closest("button") || ask({ abierto: item.public_id })}>
            <td class="lead"><button type="button" class="link" aria-expanded=${item.public_id === open} onClick=${() => ask({ abierto: item.public_id })}>${item.razon_social_emisor || rncText(item.rnc_emisor)}</button><small>${rncText(item.rnc_emisor)}</small></td>
            <td class="mono">${item.encf}</td><td>${civil(item.fecha_emision)}</td><td class="number"><${Money} amount=${item.monto_total} /></td>
            <td><${Said} state=${item.authority_state} /></td><td><${Answer} item=${item} /></td></tr>`)}<//></div>
        ${data.total > PAGE && html`<nav class="pages" aria-label=${t("Páginas")}><span class="muted">${t("{first}–{last} de {total}", { first: offset + 1, last: offset + data.items.length, total: data.total })}</span>
          <button type="button" class="button" disabled=${offset === 0} onClick=${() => ask({ fila: offset > PAGE ? String(offset - PAGE) : null, abierto: null })}>${t("Anterior")}</button>
          <button type="button" class="button" disabled=${offset + PAGE >= data.total} onClick=${() => ask({ fila: String(offset + PAGE), abierto: null })}>${t("Siguiente")}</button></nav>`}
        ${item && html`<${Opened} key=${item.public_id} item=${item} reload=${reload} />`}`;
    }}<//>
  <//>`;
}

/** @param {{ all: boolean }} props */
function Nothing({ all }) {
  const address = company.value?.published_addresses?.find((address) => address.environment === environment.value)?.url_recepcion;
  if (!all) return html`<${Empty}><${Icon} name="check" class="large good" /><p>${t("Nada espera su respuesta.")}</p><button type="button" class="button" onClick=${() => ask({ ver: "todos" })}>${t("Ver todos")}</button><//>`;
  return html`<${Empty}><${Icon} name="inbox" class="large muted" /><p>${t("Nadie le ha enviado comprobantes.")}</p>
    ${address && html`<p class="muted">${t("Publique su dirección en la DGII:")}<br /><span class="mono break">${address}</span> <${Copy} text=${address} label=${t("dirección")} /></p>`}<//>`;
}

/** @param {{ item: Item, reload: () => void }} props */
function Opened({ item, reload }) {
  const [asking, setAsking] = useState(/** @type {"approve" | "reject" | null} */ (null));
  const section = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    section.current?.focus({ preventScroll: true });
    section.current?.scrollIntoView({ block: "nearest" });
  }, []);
  const content = useLoad(async (signal) => {
    const { answer } = await file("client/inbox/{public_id}/xml", { params: { public_id: item.public_id }, signal });
    return parse(await answer.text());
  }, [item.public_id]);
  const confirming = useAction(async () => {
    await send("POST", "client/inbox/{public_id}/ack", { params: { public_id: item.public_id } });
    reload();
  });
  const getting = useAction(async (/** @type {string} */ what) => {
    const { name, answer } = await file(`client/inbox/{public_id}/${what}`, { params: { public_id: item.public_id } });
    save(await answer.blob(), name || `${item.encf}-${what}.xml`);
  });
  const known = item.authority_state ? AUTHORITY[item.authority_state] : null;
  const mayAnswer = may("issue") && !item.answer && item.authority_state !== "rejected";
  return html`
    <section class="card opened" aria-label=${item.encf} tabindex="-1" ref=${section}>
      <header><div><h2>${item.razon_social_emisor || rncText(item.rnc_emisor)}</h2><p class="muted">${typeName(item.ecf_type)} · <span class="mono">${item.encf}</span> · ${civil(item.fecha_emision)}</p></div>
        <strong class="amount"><${Money} amount=${item.monto_total} /></strong></header>
      <p class=${known?.tone === "bad" ? "bad" : ""}>${known ? t(known.says) : t("En este ambiente no se le puede preguntar a la DGII.")}</p>
      ${item.signer_trusted === false && html`<p class="warn"><${Icon} name="alert" /> ${t("Lo firmó un certificado que este servicio no conoce: {signer}", { signer: item.signer })}</p>`}
      ${confirming.problem && html`<${Trouble} problem=${confirming.problem} />`}${getting.problem && html`<${Trouble} problem=${getting.problem} />`}
      <div class="actions left">
        ${mayAnswer && html`<button type="button" class="button main" onClick=${() => setAsking("approve")}><${Icon} name="check" />${t("Aprobar")}</button><button type="button" class="button danger" onClick=${() => setAsking("reject")}><${Icon} name="cross" />${t("Rechazar")}</button>`}
        ${may("issue") && !item.acked && html`<button type="button" class="button" disabled=${confirming.busy} onClick=${confirming.run}>${t("Marcar como visto")}</button>`}
        <button type="button" class="button" disabled=${getting.busy} onClick=${() => getting.run("xml")}><${Icon} name="down" />XML</button>
        ${item.arecf_available && html`<button type="button" class="button" disabled=${getting.busy} onClick=${() => getting.run("arecf")}><${Icon} name="down" />${t("Acuse")}</button>`}
      </div>
      ${item.approval_id && html`<${Sent} id=${item.approval_id} />`}
    </section>
    ${content.data && html`<${Lines} content=${content.data} />`}
    ${item.links?.pdf && html`<${Print} path="client/inbox/{public_id}/pdf" params=${{ public_id: item.public_id }} version=${item.status} name=${item.encf} papers=${false} />`}
    ${asking === "approve" && html`<${Confirm} title=${t("Aprobar {encf}", { encf: item.encf })} yes=${t("Aprobar")} close=${() => setAsking(null)} action=${() => answered(item, "1").then(reload)}><${Named} item=${item} /><p>${t("El emisor y la DGII reciben su aprobación comercial. No se puede cambiar después.")}</p><//>`}
    ${asking === "reject" && html`<${Reject} item=${item} close=${() => setAsking(null)} reload=${reload} />`}
  `;
}

/** @param {{ item: Item }} props */
const Named = ({ item }) => html`<p><strong>${item.razon_social_emisor || rncText(item.rnc_emisor)}</strong> · <${Money} amount=${item.monto_total} /> · ${environmentWords(environment.value)?.name}</p>`;

/** The idempotency key depends on the receipt and the answer only, so a repeated request is one answer. @param {Item} item @param {"1" | "2"} estado @param {string} [reason] */
async function answered(item, estado, reason) {
  const { data } = await send("POST", "ecf/acecf/submit", {
    body: {
      idempotency_key: `consola-${item.public_id}-${estado}`,
      encf: item.encf,
      ecf_type: item.ecf_type,
      rnc_emisor: item.rnc_emisor,
      rnc_comprador: item.rnc_comprador,
      fecha_emision: item.fecha_emision,
      monto_total: item.monto_total,
      estado,
      ...(reason && { detalle_motivo_rechazo: reason }),
    },
  });
  if (!item.acked) await send("POST", "client/inbox/{public_id}/ack", { params: { public_id: item.public_id } }).catch(() => {});
  return data;
}

/** @param {{ item: Item, close: () => void, reload: () => void }} props */
function Reject({ item, close, reload }) {
  const [reason, setReason] = useState("");
  const [missing, setMissing] = useState(false);
  const doing = useAction(async () => {
    await answered(item, "2", reason.trim());
    close();
    reload();
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    if (reason.trim()) doing.run();
    else setMissing(true);
  };
  return html`<${Dialog} title=${t("Rechazar {encf}", { encf: item.encf })} close=${() => doing.busy || close()}>
    <form onSubmit=${submit} novalidate><${Named} item=${item} />
      <${Field} label=${t("Motivo")} help=${t("El emisor y la DGII lo leen. No se puede cambiar después.")} error=${missing && !reason.trim() ? t("Diga por qué lo rechaza.") : undefined}>
        ${(/** @type {any} */ ids) => html`<textarea ...${ids} rows="3" maxlength="250" value=${reason} onInput=${(/** @type {any} */ event) => setReason(event.target.value)}></textarea>`}<//>
      ${doing.problem && html`<${Trouble} problem=${doing.problem} />`}
      <div class="actions"><button type="button" class="button" disabled=${doing.busy} onClick=${close}>${t("Volver")}</button>
      <button class="button main danger" disabled=${doing.busy}>${doing.busy ? t("Un momento…") : t("Rechazar")}</button></div></form><//>`;
}

const TOLD = /** @type {Record<string, Word>} */ ({ pending: "Avisando al emisor y a la DGII.", completed: "El emisor y la DGII lo saben.", refused: "No lo tomaron.", failed: "No se les pudo avisar." });

/** The delivery state of the answer. @param {{ id: string }} props */
function Sent({ id }) {
  const from = useLoad((signal) => get("ecf/acecf/{public_id}", { params: { public_id: id }, signal }), [id]);
  const approval = /** @type {any} */ (from.data);
  if (!approval) return null;
  return html`<p class="help">${t("Su respuesta")}: ${approval.status in TOLD ? t(TOLD[approval.status]) : approval.message} ${moment(approval.created_at)}${approval.detalle_motivo_rechazo ? html` · «${approval.detalle_motivo_rechazo}»` : null}</p>`;
}
