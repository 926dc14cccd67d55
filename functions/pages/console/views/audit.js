// Auditoría: downloads the evidence between two dates as one archive.
import { useRef, useState } from "preact/hooks";
import { file, Problem, save } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { civil, day, today } from "../time.js";
import { Card, Field, Page, Trouble, useAction } from "../ui.js";
import { t } from "../words.js";

/** @param {number} bytes */
const size = (bytes) => (bytes < 1_000_000 ? `${Math.ceil(bytes / 1000)} KB` : `${Math.floor(bytes / 1_000_000)}.${Math.floor((bytes % 1_000_000) / 100_000)} MB`);

export function Audit() {
  const [span, setSpan] = useState({ date_from: `${today().slice(0, 8)}01`, date_to: today() });
  const [bytes, setBytes] = useState(0);
  const [done, setDone] = useState("");
  const control = useRef(/** @type {AbortController | null} */ (null));
  const exporting = useAction(async (/** @type {typeof span} */ of) => {
    control.current = new AbortController();
    setBytes(0);
    setDone("");
    try {
      const { name, answer } = await file("client/audit-export", { query: of, signal: control.current.signal });
      const parts = [];
      let read = 0;
      const reader = /** @type {ReadableStream<Uint8Array>} */ (answer.body).getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        parts.push(/** @type {BlobPart} */ (part.value));
        setBytes((read += part.value.length));
      }
      save(new Blob(parts, { type: "application/zip" }), name || `evidencia-${of.date_from}-${of.date_to}.zip`);
      setDone(size(read));
    } catch (problem) {
      if (!control.current.signal.aborted) throw problem instanceof Problem ? problem : new Problem(0, "", null, null);
    }
  });
  const tooLarge = exporting.problem instanceof Problem ? exporting.problem.findings.find(({ ctx }) => Array.isArray(ctx?.ranges)) : undefined;
  const submit = (/** @type {Event} */ event) => (event.preventDefault(), exporting.run(span));
  const input = (/** @type {keyof typeof span} */ name) => (/** @type {any} */ event) => setSpan({ ...span, [name]: event.target.value });
  return html`<${Page} title=${t("Auditoría")}>
    <${Card} title=${t("Exportar la evidencia")}>
      <p class="muted">${t("Un archivo ZIP con cada XML firmado, su resumen, su impreso, la respuesta de la DGII, lo recibido y sus acuses. Lleva un índice y las huellas de todos los archivos, firmadas.")}</p>
      <form onSubmit=${submit}><div class="fields">
        <${Field} label=${t("Desde")} help=${civil(span.date_from)}>${(/** @type {any} */ ids) => html`<input ...${ids} type="date" required max=${span.date_to} value=${span.date_from} onInput=${input("date_from")} />`}<//>
        <${Field} label=${t("Hasta")} help=${civil(span.date_to)}>${(/** @type {any} */ ids) => html`<input ...${ids} type="date" required min=${span.date_from} value=${span.date_to} onInput=${input("date_to")} />`}<//>
      </div>
      <div class="actions left">
        ${
          exporting.busy
            ? html`<span role="status">${bytes ? t("Descargado: {size}", { size: size(bytes) }) : t("Preparando el archivo…")}</span><button type="button" class="button" onClick=${() => control.current?.abort()}>${t("Detener")}</button>`
            : html`<button class="button main"><${Icon} name="down" />${t("Exportar")}</button>`
        }
      </div></form>
      ${done && html`<div class="notice ok" role="status"><${Icon} name="check" /><div>${t("Listo: {size}.", { size: done })}</div></div>`}
      ${
        tooLarge
          ? html`<div class="notice warn" role="alert"><${Icon} name="alert" /><div><strong>${t("Es demasiado para un solo archivo. Descárguelo por partes:")}</strong>
              <div class="actions left">${tooLarge.ctx.ranges.map((/** @type {any} */ range) => {
                const of = Array.isArray(range) ? { date_from: range[0], date_to: range[1] } : range;
                return html`<button type="button" class="button" disabled=${exporting.busy} onClick=${() => exporting.run({ date_from: of.date_from, date_to: of.date_to })}>${day(of.date_from)} – ${day(of.date_to)}</button>`;
              })}</div></div></div>`
          : exporting.problem && html`<${Trouble} problem=${exporting.problem} />`
      }
    <//>
  <//>`;
}
