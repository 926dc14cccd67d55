// One receipt: verdict, history, content, files and actions.
import { useEffect, useRef, useState } from "preact/hooks";
import { file, get, save, send } from "../api.js";
import { Content } from "../content.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { plain } from "../money.js";
import { Print } from "../pdf.js";
import { place, to } from "../router.js";
import { environment } from "../session.js";
import { buyerOf, environmentWords, FINAL, rncText, STATES, stopped, typeName, VALID } from "../states.js";
import { civil, moment, signed } from "../time.js";
import { Card, Confirm, Copy, Loaded, may, Money, Page, State, Trouble, useAction, useLoad } from "../ui.js";
import { t } from "../words.js";

/** @typedef {any} Receipt members of later versions of the API may be missing */
/** @typedef {import("../words.js").Word} Word */

/** States whose next step comes within seconds. */
const AWAITED = ["received", "validated", "signed", "submitted"];
/** Seconds that the API waits for a verdict. */
const LONGEST_WAIT = 20;
/** Milliseconds between two reads of a receipt that waits for longer. */
const REPEATED = 30_000;

/** @param {{ id: string }} props */
export function Receipt({ id }) {
  const [every, setEvery] = useState(REPEATED);
  // The first answer comes at once, later ones with the verdict.
  const wait = useRef(0);
  const query = () => ({ payload: true, wait: wait.current });
  const from = useLoad((signal) => get("client/documents/{public_id}", { params: { public_id: id }, query: query(), signal }), [id], { every });
  const receipt = /** @type {Receipt | null} */ (from.data);
  const status = receipt?.status;
  useEffect(() => {
    wait.current = AWAITED.includes(status) ? LONGEST_WAIT : 0;
    setEvery(FINAL.includes(status) ? 0 : REPEATED);
    if (!wait.current || document.hidden) return;
    const timer = setTimeout(from.reload, 500);
    return () => clearTimeout(timer);
  }, [status, from.at]);
  return html`<${Loaded} from=${from} rows=${8}>${(/** @type {Receipt} */ receipt) => html`<${Shown} receipt=${receipt} content=${receipt.payload && new Content(receipt.payload)} reload=${from.reload} />`}<//>`;
}

/** @param {{ receipt: Receipt, content: Content | null, reload: () => void }} props */
function Shown({ receipt, content, reload }) {
  const buyer = buyerOf(receipt) || content?.text("Encabezado/Comprador/RazonSocialComprador") || "";
  const amount = receipt.monto_total ?? content?.text("Encabezado/Totales/MontoTotal");
  const crumbs = html`<nav class="crumbs" aria-label=${t("Camino")}><a href=${to("/comprobantes")}>${t("Comprobantes")}</a> / ${typeName(receipt.ecf_type)}</nav>`;
  return html`
    <${Page} above=${crumbs} title=${amount ? html`<${Money} amount=${amount} />` : typeName(receipt.ecf_type)} actions=${html`<${Actions} receipt=${receipt} reload=${reload} />`}>
      <p class="under"><${State} status=${receipt.status} /> ${receipt.encf && html`<span class="mono">${receipt.encf}</span><${Copy} text=${receipt.encf} label="e-NCF" />`} <strong>${buyer}</strong></p>
      ${place.value.query.has("difiere") && html`<div class="notice warn" role="status"><${Icon} name="alert" /><div>${t("Esta clave ya tenía su comprobante, con otros datos: es este. No se emitió otro.")}</div></div>`}
      <div class="two wide-left">
        <div class="stack">
          <${Verdict} receipt=${receipt} />
          <${Line} receipt=${receipt} />
          ${content && html`<${Lines} content=${content} />`}
          <${Data} receipt=${receipt} content=${content} />
          <${Files} receipt=${receipt} />
        </div>
        ${receipt.artifacts?.ri && html`<${Print} path="ecf/{public_id}/pdf" params=${{ public_id: receipt.public_id }} version=${receipt.status} name=${receipt.encf} />`}
      </div>
    <//>
  `;
}

const WITHDRAWABLE = ["received", "deferred", "validated", "signed", "contingency", "failed"];

/** @param {{ receipt: Receipt, reload: () => void }} props */
function Actions({ receipt, reload }) {
  const [asking, setAsking] = useState(false);
  const { status, ecf_type, public_id } = receipt;
  const words = environmentWords(environment.value);
  return html`
    ${VALID.includes(status) && may("issue") && !["33", "34", "43"].includes(ecf_type) && html`<a class="button" href=${to(`/emitir?tipo=34&desde=${public_id}`)}><${Icon} name="note" />${t("Nota de crédito")}</a>`}
    ${["rejected", "failed"].includes(status) && may("issue") && receipt.payload && html`<a class="button main" href=${to(`/emitir?tipo=${ecf_type}&desde=${public_id}`)}>${t("Corregir y emitir de nuevo")}</a>`}
    ${WITHDRAWABLE.includes(status) && !receipt.submitted_at && may("issue") && html`<button type="button" class="button danger" onClick=${() => setAsking(true)}>${t("Cancelar")}</button>`}
    ${asking && html`<${Confirm} danger title=${t("Cancelar este comprobante")} yes=${t("Cancelar el comprobante")} close=${() => setAsking(false)}
      action=${async () => {
        await send("POST", "ecf/{public_id}/cancel", { params: { public_id } });
        reload();
      }}>
      <p>${receipt.encf ?? receipt.external_id} · ${typeName(ecf_type)} · ${words?.name}</p>
      <p>${t("Se retira antes de enviarse a la DGII. No se puede deshacer.")}${receipt.encf && ` ${t("Después anule el número en Secuencias.")}`}</p>
    <//>`}
  `;
}

/** @param {{ receipt: Receipt }} props */
function Verdict({ receipt }) {
  const { status } = receipt;
  const state = STATES[status];
  const answer = receipt.taxauth_response ?? receipt.dgii_response;
  const messages = (answer?.mensajes ?? []).filter((/** @type {any} */ message) => message?.valor);
  const halted = status === "failed" || (status === "submitted" && receipt.error_code) ? stopped(receipt.error_code) : null;
  // The reason of a stop is told above, in the user's language.
  const explanations = (receipt.explanations ?? []).filter((/** @type {any} */ one) => !halted || one.field || one.rules.length > 0);
  const tone = halted ? "bad" : (state?.tone ?? "mute");
  const headings = /** @type {Record<string, Word>} */ ({ rejected: "La DGII lo rechazó", conditionally_accepted: "La DGII lo aceptó con observaciones", failed: "Se detuvo antes de tener veredicto" });
  return html`
    <section class=${`card verdict ${tone}`} aria-live="polite">
      <header><h2><${Icon} name=${state?.icon ?? "clock"} /> ${t(headings[status] ?? state?.name ?? "Estado")}</h2></header>
      ${halted ? html`<p>${halted.why} ${halted.fix}</p>` : html`<p>${status === "deferred" ? t("Se emitirá el {day}.", { day: moment(receipt.scheduled_for) }) : state ? t(state.says) : status}</p>`}
      ${halted && receipt.error_message && html`<blockquote>${receipt.error_message} <code>${receipt.error_code}</code></blockquote>`}
      ${
        explanations.length > 0
          ? explanations.map((/** @type {any} */ one) => html`<div class="explained">
              <blockquote>«${one.mensaje}» <code>${one.codigo}</code></blockquote>
              <dl class="pairs"><div><dt>${t("Qué significa")}</dt><dd>${one.cause}</dd></div><div><dt>${t("Qué hacer")}</dt><dd>${one.fix}</dd></div>
              ${one.field && html`<div><dt>${t("Campo")}</dt><dd class="mono">${broken(one.field)}${one.line ? ` · ${t("línea {n}", { n: one.line })}` : ""}</dd></div>`}</dl></div>`)
          : messages.map((/** @type {any} */ message) => html`<blockquote>«${message.valor}» ${message.codigo ? html`<code>${message.codigo}</code>` : null}</blockquote>`)
      }
      ${status === "rejected" && answer?.secuenciaUtilizada !== undefined && html`<p class="help">${answer.secuenciaUtilizada ? t("El número quedó usado: el nuevo comprobante lleva otro.") : t("El número no quedó usado.")}</p>`}
      ${receipt.error_code === "number_to_annul" && html`<p><a href=${to("/secuencias")}>${t("Anule el número {encf} en Secuencias.", { encf: receipt.encf })}</a></p>`}
    </section>
  `;
}

/** Allows line breaks after slashes. @param {string} path */
const broken = (path) => path.replaceAll("/", "/\u200b");

const DELIVERIES = /** @type {Record<string, Word>} */ ({
  not_listed: "No recibe e-CF: entréguele el impreso",
  received: "Recibido por el comprador",
  pending: "Entregando al comprador",
  not_received: "El sistema del comprador no lo tomó",
  unverified: "El comprador lo recibió, con un acuse que no vale",
  not_sent: "Solo va a la DGII",
  given_up: "No se pudo entregar",
});

/** The history in order, then the next expected step. @param {{ receipt: Receipt }} props */
function Line({ receipt }) {
  const { status } = receipt;
  /** @type {{ tone: string, icon: string, text: string, at?: string | null, says?: string | null }[]} */
  const steps = [{ tone: "ok", icon: "check", text: t("Recibido y validado"), at: receipt.created_at }];
  const push = (/** @type {string} */ tone, /** @type {string} */ icon, /** @type {string} */ text, /** @type {string | null} */ at, /** @type {string | null} */ says = null) => steps.push({ tone, icon, text, at, says });
  if (receipt.sign_date) push("ok", "check", `${t("Firmado")} · ${receipt.encf ?? ""}`, signed(receipt.sign_date));
  const held = (receipt.history ?? []).find((/** @type {any} */ step) => step.state === "contingency");
  if (held && status !== "contingency") push("warn", "pause", t("En contingencia"), held.at);
  if (status === "contingency") push("warn", "pause", t("En contingencia"), held?.at ?? null, receipt.delivery_alarm_hours ? t("Hace {n} horas; hay 72 para enviarlo.", { n: receipt.delivery_alarm_hours }) : t("Hay 72 horas para enviarlo."));
  if (receipt.submitted_at) push("ok", "check", t("Enviado a la DGII"), receipt.submitted_at, receipt.track_id ?? null);
  if (FINAL.includes(status) || status === "failed") {
    const { tone, icon, name } = STATES[status];
    push(tone, icon, t(name), receipt.completed_at ?? receipt.updated_at);
  }
  for (const stage of receipt.stages ?? []) if (stage.name === "notified") push("ok", "hook", t("Su sistema recibió el aviso"), stage.at);
  const delivery = receipt.buyer_delivery;
  if (delivery) {
    const isDone = ["received", "not_listed", "not_sent"].includes(delivery.status);
    push(isDone ? "ok" : delivery.status === "pending" ? "busy" : "warn", isDone ? "check" : "clock", delivery.status in DELIVERIES ? t(DELIVERIES[delivery.status]) : delivery.status, delivery.updated_at, delivery.reason);
  }
  const answer = receipt.buyer_answer;
  if (answer) push(answer.status === "approved" ? "ok" : "bad", answer.status === "approved" ? "check" : "cross", answer.status === "approved" ? t("El comprador lo aprobó") : t("El comprador lo rechazó"), answer.received_at, answer.reason);
  const next = { received: t("Firma"), validated: t("Firma"), deferred: t("Firma"), signed: t("Envío a la DGII"), contingency: t("Envío a la DGII"), submitted: t("Veredicto de la DGII") }[/** @type {"signed"} */ (status)];
  return html`<${Card} title=${t("Recorrido")}><ol class="line">
    ${steps.map((step) => html`<li class=${step.tone}><${Icon} name=${step.icon} /><div><strong>${step.text}</strong>${step.says && html`<span class="muted break">${step.says}</span>`}</div>${step.at && html`<time>${moment(step.at)}</time>`}</li>`)}
    ${next && html`<li class="next"><${Icon} name="clock" /><div>${next}</div></li>`}
  </ol><//>`;
}

const TOTALS = /** @type {[string, Word][]} */ ([
  ["MontoGravadoTotal", "Gravado"],
  ["MontoExento", "Exento"],
  ["TotalITBIS", "ITBIS"],
  ["MontoImpuestoAdicional", "Otros impuestos"],
  ["MontoNoFacturable", "No facturable"],
]);
const RETAINED = /** @type {[string, Word][]} */ ([
  ["TotalITBISRetenido", "ITBIS retenido"],
  ["TotalISRRetencion", "ISR retenido"],
]);

/** @param {{ content: import("../content.js").Tree }} props */
export function Lines({ content }) {
  const total = (/** @type {string} */ name) => content.text(`Encabezado/Totales/${name}`);
  const items = content.all("DetallesItems/Item");
  const [all, setAll] = useState(items.length <= 30);
  return html`<${Card} class="flush" title=${t("Líneas y totales")}>
    <div class="table plain" tabindex="0" role="region" aria-label=${t("Líneas y totales")}><table aria-label=${t("Líneas y totales")}><thead><tr><th scope="col">${t("Descripción")}</th><th scope="col" class="number">${t("Cantidad")}</th><th scope="col" class="number">${t("Precio")}</th><th scope="col" class="number">${t("Monto")}</th></tr></thead>
      <tbody>${items.slice(0, all ? undefined : 30).map((item) => html`<tr><td>${item.text("NombreItem")}${item.text("DescripcionItem") && html`<small>${item.text("DescripcionItem")}</small>`}</td><td class="number">${plain(item.text("CantidadItem"))}</td><td class="number">${plain(item.text("PrecioUnitarioItem"), 2)}</td><td class="number"><${Money} amount=${item.text("MontoItem")} /></td></tr>`)}</tbody>
      <tfoot>${TOTALS.filter(([name]) => total(name)).map(([name, word]) => html`<tr><th scope="row" colspan="3">${t(word)}</th><td class="number"><${Money} amount=${total(name)} /></td></tr>`)}
        <tr class="total"><th scope="row" colspan="3">${t("Total")}</th><td class="number"><${Money} amount=${total("MontoTotal")} /></td></tr>
        ${RETAINED.filter(([name]) => total(name)).map(([name, word]) => html`<tr><th scope="row" colspan="3">${t(word)}</th><td class="number"><${Money} amount=${total(name)} /></td></tr>`)}</tfoot></table></div>
    ${!all && html`<div class="actions pad"><button type="button" class="button" onClick=${() => setAll(true)}>${t("Ver las {n} líneas", { n: items.length })}</button></div>`}
  <//>`;
}

/** @param {{ receipt: Receipt, content: Content | null }} props */
function Data({ receipt, content }) {
  const rnc = receipt.rnc_comprador ?? content?.text("Encabezado/Comprador/RNCComprador");
  /** @type {[Word, any, string?][]} */
  const rows = [
    ["RNC del comprador", rnc && rncText(rnc), rnc],
    ["Fecha de emisión", receipt.fecha_emision ? civil(receipt.fecha_emision) : content && civil(content.text("Encabezado/Emisor/FechaEmision"))],
    ["Modifica", content?.text("InformacionReferencia/NCFModificado"), content?.text("InformacionReferencia/NCFModificado")],
    ["Su referencia", receipt.external_id, receipt.external_id],
    ["trackId", receipt.track_id, receipt.track_id],
    ["Código de seguridad", receipt.security_code, receipt.security_code],
    ["Clave de idempotencia", receipt.idempotency_key, receipt.idempotency_key],
    ["Identificador", receipt.public_id, receipt.public_id],
  ];
  return html`<${Card} title=${t("Datos")}><dl class="pairs">${rows
    .filter(([, value]) => value)
    .map(([word, value, copied]) => html`<div><dt>${t(word)}</dt><dd class=${copied ? "mono break" : ""}>${value}${copied && html`<${Copy} text=${copied} label=${t(word)} />`}</dd></div>`)}</dl><//>`;
}

const FILES = /** @type {Record<string, [string, Word]>} */ ({
  signed_xml: ["signed-xml", "XML firmado"],
  rfce: ["rfce", "Resumen (RFCE)"],
  taxauth_response: ["taxauth-response", "Respuesta de la DGII"],
  arecf: ["arecf", "Acuse del comprador"],
  acecf: ["acecf", "Aprobación del comprador"],
});

/** @param {{ receipt: Receipt }} props */
function Files({ receipt }) {
  const links = receipt.artifacts?.links ?? {};
  const shown = Object.entries(FILES).filter(([name]) => name in links || receipt.artifacts?.[name] === true);
  const getting = useAction(async (/** @type {string} */ type) => {
    const { name, answer } = await file("client/documents/{public_id}/artifacts/{artifact_type}", { params: { public_id: receipt.public_id, artifact_type: type } });
    save(await answer.blob(), name || `${receipt.encf}-${type}`);
  });
  if (shown.length === 0) return null;
  return html`<${Card} title=${t("Archivos")} aside=${html`<span class="help">${t("Se guardan {n} años", { n: receipt.artifacts.retention_years })}</span>`}>
    ${getting.problem && html`<${Trouble} problem=${getting.problem} />`}
    <div class="actions left">${shown.map(([, [type, word]]) => html`<button type="button" class="button" disabled=${getting.busy} onClick=${() => getting.run(type)}><${Icon} name="down" />${t(word)}</button>`)}</div>
  <//>`;
}
