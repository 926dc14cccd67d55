// Certificación: runs the data tests of the DGII's workbooks and the simulation, and shows each row on its way.
import { useEffect, useState } from "preact/hooks";
import { file, get, save, send } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { to } from "../router.js";
import { environment } from "../session.js";
import { environmentWords, typeName } from "../states.js";
import { moment } from "../time.js";
import { Card, Confirm, Empty, Field, Loaded, may, Page, Table, Trouble, useAction, useLoad } from "../ui.js";
import { t } from "../words.js";
import { Simulate } from "./simulation.js";

/** @typedef {any} Run */
/** @typedef {import("../words.js").Word} Word */

const RUNS = /** @type {Record<string, { tone: string, name: Word }>} */ ({
  running: { tone: "busy", name: "En curso" },
  awaits_uploads: { tone: "warn", name: "Espera cargas" },
  stopped: { tone: "bad", name: "Detenida" },
  finished: { tone: "ok", name: "Terminada" },
  abandoned: { tone: "mute", name: "Abandonada" },
});
const ROWS = /** @type {Record<string, { tone: string, name: Word }>} */ ({
  waiting: { tone: "mute", name: "En espera" },
  sent: { tone: "busy", name: "Enviada" },
  accepted: { tone: "ok", name: "Aceptada" },
  rejected: { tone: "bad", name: "Rechazada" },
  not_sent: { tone: "bad", name: "No enviada" },
  outcome_unknown: { tone: "warn", name: "Sin respuesta" },
});
const CONDITIONAL = { tone: "warn", name: /** @type {Word} */ ("Aceptado condicional") };
const DOCUMENTS = /** @type {Record<string, Word>} */ ({ ecf: "e-CF", rfce: "Resumen", upload: "Carga a mano", acecf: "Aprobación comercial" });
const EVERY = 3000;

export function Certification() {
  const list = useLoad((signal) => get("client/certification/runs", { signal }), []);
  return html`<${Page} title=${t("Certificación")}>
    <p class="muted">${t("Las pruebas de datos de la DGII: cada fila de sus libros se envía exactamente como está, en el orden del portal. Después, la simulación con sus propios datos.")} ${environmentWords(environment.value)?.name}</p>
    <${Loaded} from=${list}>${(/** @type {any} */ data) => {
      const newest = data.items[0];
      const isOpen = newest && ["running", "awaits_uploads"].includes(newest.status);
      return html`
        ${newest ? html`<${One} key=${newest.run_id} id=${newest.run_id} listed=${newest.status} changed=${list.reload} />` : html`<${Empty}><${Icon} name="archive" class="large muted" /><p>${t("Todavía no hay corridas.")}</p><//>`}
        ${may("full") && !isOpen && html`<${Begin} reload=${list.reload} /><${Simulate} reload=${list.reload} />`}
        ${may("full") && html`<${Sign} />`}`;
    }}<//>
  <//>`;
}

/** @param {{ reload: () => void }} props */
function Begin({ reload }) {
  const [key, setKey] = useState(() => `consola-${crypto.randomUUID()}`);
  const beginning = useAction(async (/** @type {HTMLFormElement} */ form) => {
    const body = new FormData(form);
    body.append("idempotency_key", key);
    const approvals = body.get("approvals");
    if (approvals instanceof File && approvals.size === 0) body.delete("approvals");
    await send("POST", "client/certification/runs", { body });
    setKey(`consola-${crypto.randomUUID()}`);
    reload();
  });
  const submit = (/** @type {any} */ event) => (event.preventDefault(), beginning.run(event.target));
  return html`<${Card} title=${t("Iniciar una corrida")}>
    <form onSubmit=${submit}><div class="fields">
      <${Field} label=${t("Libro de e-CF (.xlsx)")}>${(/** @type {any} */ ids) => html`<input ...${ids} type="file" name="workbook" accept=".xlsx" required />`}<//>
      <${Field} label=${t("Libro de aprobaciones (.xlsx, opcional)")}>${(/** @type {any} */ ids) => html`<input ...${ids} type="file" name="approvals" accept=".xlsx" />`}<//>
    </div>
    ${beginning.problem && html`<${Places} problem=${beginning.problem} />`}
    <div class="actions left"><button class="button main" disabled=${beginning.busy}>${beginning.busy ? t("Revisando todas las filas…") : t("Iniciar")}</button></div></form>
  <//>`;
}

/** Signs the application of step 1 and the sworn statement of step 13. */
function Sign() {
  const [signed, setSigned] = useState("");
  const signing = useAction(async (/** @type {HTMLFormElement} */ form) => {
    setSigned("");
    const body = new FormData(form);
    const given = /** @type {File} */ (body.get("xml"));
    const { answer } = await file("client/tools/sign-xml", { body });
    const name = `${given.name.replace(/\.xml$/i, "")}-signed.xml`;
    save(await answer.blob(), name);
    setSigned(name);
  });
  const submit = (/** @type {any} */ event) => (event.preventDefault(), signing.run(event.target));
  return html`<${Card} title=${t("Firmar un XML del portal")}>
    <p class="muted">${t("La solicitud del paso 1 y la declaración jurada del paso 13: descargue el XML del portal, fírmelo aquí y cargue el archivo firmado sin abrirlo con otro programa.")}</p>
    <form onSubmit=${submit}><div class="fields">
      <${Field} label=${t("Archivo XML")}>${(/** @type {any} */ ids) => html`<input ...${ids} type="file" name="xml" accept=".xml" required onChange=${() => (setSigned(""), signing.clear())} />`}<//>
    </div>
    ${signing.problem && html`<${Trouble} problem=${signing.problem} />`}
    ${signed && html`<div class="notice ok" role="status"><${Icon} name="check" /><div>${t("Firmado y descargado: {name}", { name: signed })}</div></div>`}
    <div class="actions left"><button class="button main" disabled=${signing.busy}>${signing.busy ? t("Un momento…") : t("Firmar y descargar")}</button></div></form>
  <//>`;
}

/** The findings in a workbook, each with its place. @param {{ problem: any }} props */
function Places({ problem }) {
  const findings = (problem.findings ?? []).filter((/** @type {any} */ finding) => finding.ctx?.sheet);
  if (findings.length === 0) return html`<${Trouble} problem=${problem} />`;
  return html`<div class="notice bad" role="alert"><${Icon} name="alert" /><div><strong>${t("No se envió nada: hay filas que no pueden pasar.")}</strong>
    <ul>${findings.map((/** @type {any} */ { ctx, msg }) => html`<li><code>${[ctx.sheet, `${ctx.column ?? ""}${ctx.row ?? ""}`, ctx.header].filter(Boolean).join(" › ")}</code> ${msg}</li>`)}</ul></div></div>`;
}

/** @param {{ id: string, listed: string, changed: () => void }} props */
function One({ id, listed, changed }) {
  const from = useLoad((signal) => get("client/certification/runs/{run_id}", { params: { run_id: id }, signal }), [id], { every: EVERY });
  const [asking, setAsking] = useState("");
  useEffect(() => {
    if (from.data && from.data.status !== listed) changed();
  }, [from.data?.status]);
  const command = async (/** @type {string} */ what) => {
    from.set((await send("POST", `client/certification/runs/{run_id}/${what}`, { params: { run_id: id } })).data);
    changed();
  };
  const loading = useAction(async () => {
    const { name, answer } = await file("client/certification/runs/{run_id}/files", { params: { run_id: id } });
    save(await answer.blob(), name);
  });
  const going = useAction(() => command("continue"));
  return html`<${Loaded} from=${from} rows=${8}>${(/** @type {Run} */ run) => {
    const words = RUNS[run.status];
    return html`<${Card} title=${t(run.kind === "simulation" ? "Simulación del {time}" : "Corrida del {time}", { time: moment(run.begun_at) })} aside=${html`<span class=${`badge ${words?.tone ?? "mute"}`}>${words ? t(words.name) : run.status}</span>`}>
      <div class="used"><meter min="0" max="100" value=${run.progress} aria-label=${t("Avance")}></meter><small>${t("{accepted} de {rows} filas aceptadas", { accepted: run.counts.accepted, rows: run.counts.rows })}</small></div>
      <p role="status">${run.next}</p>
      ${run.stop?.message && html`<p class="muted">${run.stop.message}</p>`}
      ${loading.problem && html`<${Trouble} problem=${loading.problem} />`}${going.problem && html`<${Trouble} problem=${going.problem} />`}
      <div class="actions left">
        ${["awaits_uploads", "finished"].includes(run.status) && run.rows.some((/** @type {any} */ row) => row.document === "upload") && html`<button type="button" class="button" disabled=${loading.busy} onClick=${loading.run}><${Icon} name="down" />${t("Descargar los archivos")}</button>`}
        ${may("full") && run.status === "awaits_uploads" && html`<button type="button" class="button main" onClick=${() => setAsking("confirm-uploads")}>${t("Confirmar las cargas")}</button>`}
        ${may("full") && run.stop?.can_continue && html`<button type="button" class="button main" disabled=${going.busy} onClick=${going.run}>${t("Continuar la corrida")}</button>`}
        ${may("full") && ["running", "awaits_uploads", "stopped"].includes(run.status) && html`<button type="button" class="button" onClick=${() => setAsking("abandon")}>${t("Abandonar")}</button>`}
      </div>
      <${Table} label=${t("Filas")} heads=${[t("Documento"), t("e-NCF"), t("Fila"), t("Estado")]}>${run.rows.map((/** @type {any} */ row) => html`<${Row} key=${`${row.document}${row.row}`} row=${row} />`)}<//>
      ${asking === "abandon" && html`<${Confirm} title=${t("Abandonar la corrida")} yes=${t("Abandonar")} danger close=${() => setAsking("")} action=${() => command("abandon")}><p>${t("No se envía nada más. Lo que está en camino recibe su veredicto.")}</p><//>`}
      ${asking === "confirm-uploads" && html`<${Confirm} title=${t("Confirmar las cargas")} yes=${t("Confirmar")} close=${() => setAsking("")} action=${() => command("confirm-uploads")}><p>${t("El portal muestra todas las facturas cargadas como aceptadas. Ahora se envían las aprobaciones.")}</p><//>`}
    <//>`;
  }}<//>`;
}

/** @param {{ row: any }} props */
function Row({ row }) {
  const isConditional = row.status === "conditionally_accepted";
  const state = row.document === "upload" ? null : isConditional ? CONDITIONAL : ROWS[row.row_state];
  const why = row.row_state === "accepted" && !isConditional ? "" : (row.explanations?.[0]?.fix ?? row.error_message ?? "");
  return html`<tr>
    <td>${DOCUMENTS[row.document] ? t(DOCUMENTS[row.document]) : row.document}</td>
    <td class=${row.encf ? "mono" : "muted"}>${row.public_id && row.document !== "acecf" ? html`<a href=${to(`/comprobantes/${row.public_id}`)}>${row.encf ?? typeName(row.ecf_type)}</a>` : (row.encf ?? typeName(row.ecf_type))}</td>
    <td>${row.row}</td>
    <td>${state && html`<span class=${`badge ${state.tone}`}>${t(state.name)}</span>`}${why && html` <small class="muted">${why}</small>`}</td>
  </tr>`;
}
