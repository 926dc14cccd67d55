// The printed representation in the page. The request needs the key, so the PDF is fetched and shown from a blob.
import { useEffect, useState } from "preact/hooks";
import { file, save } from "./api.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";
import { Skeleton, Trouble, useLoad } from "./ui.js";
import { t } from "./words.js";

/** @typedef {import("./words.js").Word} Word */
/** @type {[string, Word][]} */
const PAPERS = [
  ["letter", "Carta"],
  ["roll80", "Rollo 80 mm"],
  ["roll58", "Rollo 58 mm"],
];

/**
 * A new `version` loads the PDF again: marks and legends depend on the state.
 * @param {{ path: string, params: Record<string, string>, version: string, name: string, papers?: boolean, refresh?: boolean }} props
 */
export function Print({ path, params, version, name, papers = true, refresh = false }) {
  const [format, setFormat] = useState("letter");
  const from = useLoad(async (signal) => {
    const { answer } = await file(path, { params, query: { ...(papers && { format }), ...(refresh && { refresh }) }, signal });
    return new Blob([await answer.arrayBuffer()], { type: "application/pdf" });
  }, [path, params, version, format]);
  const [url, setUrl] = useState("");
  useEffect(() => {
    if (!from.data) return;
    const made = URL.createObjectURL(from.data);
    setUrl(made);
    // Revoke it later: a frame that still shows it would turn black.
    return () => void setTimeout(() => URL.revokeObjectURL(made), 10_000);
  }, [from.data]);
  const title = `${t("Impreso")} ${name}`;
  return html`
    <section class="card print" aria-label=${t("Impreso")}>
      <header><h2>${t("Impreso")}</h2>
        ${papers && html`<select aria-label=${t("Papel")} value=${format} onChange=${(/** @type {any} */ event) => setFormat(event.target.value)}>${PAPERS.map(([value, word]) => html`<option value=${value}>${t(word)}</option>`)}</select>`}
      </header>
      ${from.problem && html`<${Trouble} problem=${from.problem} retry=${from.reload} />`}
      ${
        url
          ? html`<iframe key=${url} src=${url} title=${title} class=${from.stale ? "stale" : ""}></iframe>
              <div class="actions"><a class="button" href=${url} target="_blank" rel="noopener"><${Icon} name="print" />${t("Abrir e imprimir")}</a>
              <button type="button" class="button" onClick=${() => from.data && save(from.data, `${name}.pdf`)}><${Icon} name="down" />${t("Guardar PDF")}</button></div>`
          : !from.problem && html`<${Skeleton} rows=${8} />`
      }
    </section>
  `;
}
