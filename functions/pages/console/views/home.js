// Inicio: sales, receipts under way, and what needs attention.
import { useEffect } from "preact/hooks";
import { Days } from "../chart.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { count, percent, cents } from "../money.js";
import { to } from "../router.js";
import { summary } from "../session.js";
import { saleSign, typeName, TYPES, UNDER_WAY, VALID } from "../states.js";
import { readAt, refresh, unread } from "../summary.js";
import { civil, month } from "../time.js";
import { Card, Empty, Loaded, Money, Page } from "../ui.js";
import { many, t } from "../words.js";

/** @typedef {import("../types").Gets["client/summary"]} Summary */
/** @typedef {Summary["receipts"]["month"]} Period */
/** @typedef {{ rejected: number, failed: number, way: number, since: string }} Open */

/** The accepted sales of a period: credit notes subtracted, purchases and expenses not counted. @param {Period} period */
function sold(period) {
  let sum = 0n;
  for (const [type, { amounts }] of Object.entries(period.types)) {
    for (const state of VALID) sum += saleSign(type) * cents(amounts?.[state]);
  }
  return sum;
}

/** @param {Period} period @param {string[]} states */
const ended = (period, ...states) => states.reduce((sum, state) => sum + (period.states[state] ?? 0), 0);

/** What is under way, and what waits for a person: rejected receipts of the days of the summary, and all failed ones. @param {Summary["receipts"]} receipts @returns {Open} */
function opened({ days, open }) {
  const rejected = days.reduce((sum, { states }) => sum + (states.rejected ?? 0), 0);
  const way = UNDER_WAY.reduce((sum, state) => sum + open[state], 0);
  return { rejected, failed: open.failed, way, since: days[0]?.date ?? "" };
}

export function Home() {
  useEffect(() => void (Date.now() - readAt.peek() > 5_000 && readAt.peek() && refresh()), []);
  const from = { data: summary.value, problem: unread.value, at: readAt.value, reload: () => refresh() };
  return html`
    <${Page} title=${t("Inicio")} actions=${html`<a class="button main" href=${to("/emitir")}><${Icon} name="plus" />${t("Emitir comprobante")}</a>`}>
      <${Loaded} from=${from} rows=${6}>${(/** @type {Summary} */ data) => html`<${Figures} data=${data} open=${opened(data.receipts)} />`}<//>
    <//>
  `;
}

/** @param {{ data: Summary, open: Open }} props */
function Figures({ data, open }) {
  const { month: of, today: day } = data.receipts;
  const judged = ended(of, "accepted", "conditionally_accepted", "rejected");
  return html`
    <div class="figures">
      <${Figure} label=${t("Ventas de {month}", { month: month(of.from) })} value=${html`<${Money} amount=${sold(of)} />`} />
      <${Figure} label=${t("Ventas de hoy")} value=${html`<${Money} amount=${sold(day)} />`} />
      <${Figure} label=${t("Aceptados")} value=${percent(BigInt(ended(of, ...VALID)), BigInt(judged))} help=${t("de {n} con veredicto", { n: count(judged) })} />
      <${Figure} label=${t("En camino")} value=${count(open.way)} to=${open.way ? `/comprobantes?estado=${UNDER_WAY}` : undefined} />
    </div>
    <div class="two">
      <div class="stack">
        <${Card} title=${t("Últimos 30 días")}><${Days} days=${data.receipts.days} /><//>
        <${ByType} period=${of} />
      </div>
      <${Attention} data=${data} open=${open} />
    </div>
  `;
}

/** @param {{ label: string, value: any, help?: string, to?: string }} props */
const Figure = ({ label, value, help, to: path }) => html`
  <div class="card figure"><span class="label">${label}</span>
    <strong>${path ? html`<a href=${to(path)}>${value}</a>` : value}</strong>${help && html`<span class="help">${help}</span>`}</div>
`;

/** @param {{ period: Period }} props */
function ByType({ period }) {
  const rows = TYPES.filter((type) => period.types[type]).map((type) => ({ type, ...period.types[type] }));
  const most = rows.reduce((most, row) => (cents(row.amount) > most ? cents(row.amount) : most), 1n);
  return html`<${Card} class="flush" title=${t("Por tipo en {month}", { month: month(period.from) })}>
    ${
      rows.length === 0
        ? html`<${Empty}><p>${t("Todavía no hay comprobantes este mes.")}</p><a class="button main" href=${to("/emitir")}>${t("Emitir el primero")}</a><//>`
        : html`<div class="table"><table aria-label=${t("Por tipo")}><thead><tr>
            <th scope="col">${t("Tipo")}</th><th scope="col" class="number">${t("Emitidos")}</th><th scope="col" class="number">${t("Aceptados")}</th><th scope="col" class="number">${t("Rechazados")}</th><th scope="col" class="number">${t("Monto")}</th></tr></thead>
          <tbody>${rows.map(({ type, created, states, amount }) => html`<tr key=${type}>
            <td><a href=${to(`/comprobantes?tipo=${type}&desde=${period.from}`)}>${typeName(type)}</a><${Share} of=${cents(amount)} most=${most} /></td>
            <td class="number" data-label=${t("Emitidos")}>${count(created)}</td>
            <td class="number" data-label=${t("Aceptados")}>${count((states.accepted ?? 0) + (states.conditionally_accepted ?? 0))}</td>
            <td class="number" data-label=${t("Rechazados")}>${count(states.rejected ?? 0)}</td>
            <td class="number" data-label=${t("Monto")}><${Money} amount=${amount} /></td></tr>`)}</tbody></table></div>`
    }
  <//>`;
}

/** @param {{ of: bigint, most: bigint }} props */
const Share = ({ of, most }) => html`<svg class="share" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect width=${Number((of * 100n) / most)} height="4" rx="2" /></svg>`;

/** @param {{ data: Summary, open: Open }} props */
function Attention({ data, open }) {
  /** @type {{ tone: string, icon: string, text: string, to: string, says?: string }[]} */
  const needs = [];
  const { certificate, sequences, inbox, webhooks, taxauth } = data;
  if (open.rejected)
    needs.push({ tone: "bad", icon: "cross", text: many(open.rejected, "{n} rechazado", "{n} rechazados"), says: t("en los últimos 30 días"), to: `/comprobantes?estado=rejected&desde=${open.since}` });
  if (open.failed) needs.push({ tone: "bad", icon: "alert", text: many(open.failed, "{n} detenido", "{n} detenidos"), says: t("Se detuvo sin veredicto. Hace falta corregir algo."), to: "/comprobantes?estado=failed" });
  if (!certificate?.active) needs.push({ tone: "bad", icon: "seal", text: t("No hay certificado"), says: t("Sin él no se puede firmar."), to: "/certificado" });
  else if (certificate.days_until_expiry <= 30)
    needs.push({
      tone: certificate.days_until_expiry <= 10 ? "bad" : "warn",
      icon: "seal",
      text: certificate.days_until_expiry < 0 ? t("El certificado venció") : many(certificate.days_until_expiry, "Al certificado le queda {n} día", "Al certificado le quedan {n} días"),
      to: "/certificado",
    });
  if (taxauth.recommend_contingency || taxauth.receipts !== "sent")
    needs.push({ tone: "warn", icon: "pulse", text: t("La DGII no responde"), says: t("Lo que emita se enviará solo."), to: "/dgii" });
  for (const { ecf_type, low, expiring, remaining, valid_until } of sequences) {
    if (low) needs.push({ tone: "warn", icon: "numbers", text: many(remaining ?? 0, "{n} número de ", "{n} números de ") + typeName(ecf_type), says: t("Pida más a la DGII."), to: "/secuencias" });
    else if (expiring) needs.push({ tone: "warn", icon: "numbers", text: t("Secuencia de {type}", { type: typeName(ecf_type) }), says: t("vence el {day}", { day: civil(valid_until) }), to: "/secuencias" });
  }
  if (webhooks.failing) needs.push({ tone: "warn", icon: "hook", text: many(webhooks.failing, "{n} webhook sin respuesta", "{n} webhooks sin respuesta"), to: "/webhooks" });
  if (inbox.unread) needs.push({ tone: "busy", icon: "inbox", text: many(inbox.unread, "{n} recibido por responder", "{n} recibidos por responder"), to: "/recibidos" });
  return html`<${Card} class="flush attention" title=${t("Necesita atención")} aside=${needs.length > 0 && html`<b class="count">${needs.length}</b>`}>
    ${
      needs.length === 0
        ? html`<${Empty}><${Icon} name="check" class="large good" /><p>${t("Todo al día. Nada espera por usted.")}</p><//>`
        : html`<ul class="links">${needs.map((need) => html`<li><a href=${to(need.to)}><${Icon} name=${need.icon} class=${need.tone} /><span><strong>${need.text}</strong>${need.says && html`<small>${need.says}</small>`}</span><${Icon} name="right" class="muted" /></a></li>`)}</ul>`
    }
  <//>`;
}
