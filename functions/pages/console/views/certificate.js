// Certificado: the certificates, and an upload that examines the file first.
import { useState } from "preact/hooks";
import { get, send } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { refresh } from "../summary.js";
import { day } from "../time.js";
import { Card, Empty, Field, Loaded, may, Page, Trouble, useAction, useLoad } from "../ui.js";
import { many, t } from "../words.js";

export function Certificate() {
  const from = useLoad((signal) => get("client/certificates", { signal }), []);
  return html`<${Page} title=${t("Certificado")}>
    <${Loaded} from=${from} rows=${3}>${(/** @type {any[]} */ list) => (list.length === 0 ? html`<${Empty}><${Icon} name="seal" class="large muted" /><p>${t("No hay certificado: sin él no se puede firmar.")}</p><//>` : list.map((one) => html`<${One} key=${one.public_id} certificate=${one} />`))}<//>
    ${may("full") && html`<${Upload} reload=${() => (from.reload(), refresh())} />`}
  <//>`;
}

/** @param {{ certificate: any }} props */
function One({ certificate }) {
  const { days_until_expiry: left, is_active } = certificate;
  const tone = left < 0 ? "bad" : left <= 30 ? "warn" : "ok";
  return html`<${Card} class=${is_active ? "" : "faded"} title=${certificate.subject_cn} aside=${is_active ? html`<span class=${`badge ${tone}`}><${Icon} name=${tone === "ok" ? "check" : "alert"} />${left < 0 ? t("Vencido") : many(left, "Queda {n} día", "Quedan {n} días")}</span>` : html`<span class="badge mute">${t("Anterior")}</span>`}>
    <dl class="pairs">
      <div><dt>${t("Vale")}</dt><dd>${day(certificate.not_before)} – ${day(certificate.not_after)}</dd></div>
      <div><dt>${t("Emitido por")}</dt><dd>${certificate.issuer}</dd></div>
      <div><dt>${t("Número de serie")}</dt><dd class="mono break">${certificate.serial_number}</dd></div>
      <div><dt>${t("Subido")}</dt><dd>${day(certificate.uploaded_at)}</dd></div>
    </dl><//>`;
}

/** @param {{ reload: () => void }} props */
function Upload({ reload }) {
  const [chosen, setChosen] = useState(/** @type {File | null} */ (null));
  const [pin, setPin] = useState("");
  const [report, setReport] = useState(/** @type {any} */ (null));
  const [done, setDone] = useState(false);
  const form = () => {
    const form = new FormData();
    if (chosen) form.append("certificate", chosen);
    form.append("pin", pin);
    return form;
  };
  const looking = useAction(async () => {
    setReport(null);
    setDone(false);
    setReport((await send("POST", "client/tools/inspect-p12", { body: form() })).data);
  });
  const sending = useAction(async () => {
    await send("POST", "client/certificates", { body: form() });
    setReport(null);
    setChosen(null);
    setPin("");
    setDone(true);
    reload();
  });
  const look = (/** @type {Event} */ event) => (event.preventDefault(), looking.run());
  return html`<${Card} title=${t("Subir un certificado")}>
    <p class="muted">${t("El archivo .p12 o .pfx que le dio su entidad certificadora. Primero lo revisamos; nada se guarda hasta que usted lo decida.")}</p>
    ${done && html`<div class="notice ok" role="status"><${Icon} name="check" /><div>${t("El certificado está activo: desde ahora se firma con él.")}</div></div>`}
    <form onSubmit=${look}><div class="fields">
      <${Field} label=${t("Archivo")}>${(/** @type {any} */ ids) => html`<input ...${ids} type="file" required accept=".p12,.pfx" onChange=${(/** @type {any} */ event) => (setChosen(event.target.files[0] ?? null), setReport(null))} />`}<//>
      <${Field} label=${t("Contraseña del archivo")}>${(/** @type {any} */ ids) => html`<input ...${ids} type="password" autocomplete="off" value=${pin} onInput=${(/** @type {any} */ event) => (setPin(event.target.value), setReport(null))} />`}<//>
    </div>
    ${looking.problem && html`<${Trouble} problem=${looking.problem} />`}
    <button class=${`button ${report ? "" : "main"}`} disabled=${!chosen || looking.busy}>${looking.busy ? t("Un momento…") : t("Revisar el archivo")}</button></form>
    ${report && html`<div class="report" role="status">
      <p class=${report.would_be_taken ? "good" : "bad"}><${Icon} name=${report.would_be_taken ? "check" : "cross"} /> <strong>${report.pin_fits === false ? t("La contraseña no abre el archivo.") : report.would_be_taken ? t("Sirve para firmar.") : t("Así no sirve para firmar.")}</strong></p>
      ${report.certificates?.filter((/** @type {any} */ one) => one.has_key).map((/** @type {any} */ one) => html`<p>${one.subject}<br /><span class="muted">${day(one.not_before)} – ${day(one.not_after)}</span></p>`)}
      ${report.problems.length > 0 && html`<ul class="findings">${report.problems.map((/** @type {any} */ problem) => html`<li><${Icon} name="alert" class=${problem.fatal ? "bad" : "warn"} /> <span>${problem.message}${problem.what_to_do && html`<br /><strong>${problem.what_to_do}</strong>`}</span></li>`)}</ul>`}
      ${sending.problem && html`<${Trouble} problem=${sending.problem} />`}
      ${report.would_be_taken && html`<button type="button" class="button main" disabled=${sending.busy} onClick=${sending.run}>${sending.busy ? t("Un momento…") : t("Subir y firmar con este")}</button>`}
    </div>`}
  <//>`;
}
