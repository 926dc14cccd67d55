// Comprobantes: the list of issued receipts. Filters are part of the address, so Back and links work.
import { useEffect, useState } from "preact/hooks";
import { get, save } from "../api.js";
import { cell } from "../csv.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { count } from "../money.js";
import { ask, go, place, to } from "../router.js";
import { searched } from "../search.js";
import { buyerOf, STATES, TYPES, typeName, UNDER_WAY } from "../states.js";
import { civil, moment } from "../time.js";
import { Empty, Loaded, Money, Page, State, Table, Trouble, useAction, useLoad } from "../ui.js";
import { t } from "../words.js";

/** @typedef {import("../words.js").Word} Word */
/** @typedef {any} Receipt a row; members of later versions of the API may be missing */

const PAGE = 25;
/** What the chips select: one state, or several. @type {[string | null, Word][]} */
const CHIPS = [
  [null, "Todos"],
  ["rejected,failed", "Por atender"],
  [UNDER_WAY.join(), "En camino"],
  .../** @type {[string, Word][]} */ (["rejected", "failed", "submitted", "contingency", "accepted", "conditionally_accepted", "deferred", "signed", "received", "cancelled", "incapacity"].map((state) => [state, STATES[state].name])),
];

/** @param {URLSearchParams} query */
function filters(query) {
  return {
    status: query.get("estado"),
    ecf_type: query.get("tipo"),
    date_from: query.get("desde"),
    date_to: query.get("hasta"),
    ...searched(query.get("buscar") ?? ""),
  };
}

export function Receipts() {
  const { query } = place.value;
  const cursor = query.get("pagina") ?? "";
  const asked = { ...filters(query), limit: PAGE, cursor };
  const list = useLoad((signal) => get("client/documents", { query: asked, signal }), [asked], { every: cursor ? 0 : 15_000 });
  const isFiltered = Object.values(filters(query)).some(Boolean);
  const narrow = (/** @type {Record<string, string | null>} */ changes) => ask({ ...changes, pagina: null, fila: null });
  return html`
    <${Page} title=${t("Comprobantes")} actions=${html`<${Export} query=${filters(query)} /><a class="button main" href=${to("/emitir")}><${Icon} name="plus" />${t("Emitir")}</a>`}>
      <div class="chips" role="group" aria-label=${t("Estado")}>
        ${CHIPS.map(([states, word]) => html`<button type="button" class="chip" aria-pressed=${(query.get("estado") ?? null) === states} onClick=${() => narrow({ estado: states })}>${t(word)}</button>`)}
      </div>
      <${Filters} query=${query} narrow=${narrow} />
      <${Loaded} from=${list} rows=${8}>${(/** @type {any} */ data) =>
        data.items.length === 0
          ? isFiltered || cursor
            ? html`<${Empty}><p>${t("Ningún comprobante con estos filtros.")}</p>${query.get("buscar") && html`<p class="muted">${t("La búsqueda quiere el e-NCF, la referencia o el trackId completos.")}</p>`}<a class="button" href=${to("/comprobantes")}>${t("Quitar filtros")}</a><//>`
            : html`<${Empty}><${Icon} name="list" class="large muted" /><p>${t("Todavía no hay comprobantes.")}</p><a class="button main" href=${to("/emitir")}>${t("Emitir el primero")}</a><//>`
          : html`<${Rows} items=${data.items} stale=${list.stale} /><${Pages} data=${data} before=${Number(query.get("fila") ?? 0)} />`}<//>
    <//>
  `;
}

/** @param {{ query: URLSearchParams, narrow: (changes: Record<string, string | null>) => void }} props */
function Filters({ query, narrow }) {
  const [text, setText] = useState(query.get("buscar") ?? "");
  useEffect(() => setText(query.get("buscar") ?? ""), [query.get("buscar")]);
  const search = (/** @type {Event} */ event) => {
    event.preventDefault();
    narrow({ buscar: text.trim() });
  };
  const value = (/** @type {any} */ event) => event.target.value;
  return html`
    <div class="filters">
      <form role="search" onSubmit=${search}>
        <${Icon} name="search" />
        <input id="search" type="search" aria-label=${t("Buscar por e-NCF, su referencia o trackId")} placeholder=${t("e-NCF, su referencia o trackId")} value=${text} onInput=${(/** @type {any} */ event) => setText(value(event))} onChange=${(/** @type {any} */ event) => value(event) === "" && narrow({ buscar: null })} />
      </form>
      <select aria-label=${t("Tipo")} value=${query.get("tipo") ?? ""} onChange=${(/** @type {any} */ event) => narrow({ tipo: value(event) })}>
        <option value="">${t("Todos los tipos")}</option>
        ${TYPES.map((type) => html`<option value=${type}>${type} · ${typeName(type)}</option>`)}
      </select>
      <label class="inline"><span>${t("Desde")}</span><input type="date" value=${query.get("desde") ?? ""} onChange=${(/** @type {any} */ event) => narrow({ desde: value(event) })} /></label>
      <label class="inline"><span>${t("Hasta")}</span><input type="date" value=${query.get("hasta") ?? ""} onChange=${(/** @type {any} */ event) => narrow({ hasta: value(event) })} /></label>
    </div>
  `;
}

/** @param {{ items: Receipt[], stale: boolean }} props */
function Rows({ items, stale }) {
  const seen = new Set();
  const rows = items.filter(({ public_id }) => !seen.has(public_id) && seen.add(public_id));
  const hasTotals = rows.some((row) => "monto_total" in row);
  const heads = [t("Comprador"), "e-NCF", t("Tipo"), t("Estado"), ...(hasTotals ? [{ text: t("Total"), class: "number" }] : []), t("Emitido")];
  return html`<div class=${`card flush ${stale ? "stale" : ""}`} aria-busy=${stale}>
    <${Table} label=${t("Comprobantes")} heads=${heads}>${rows.map((row) => {
      const path = `/comprobantes/${row.public_id}`;
      const open = (/** @type {MouseEvent} */ event) => event.target instanceof Element && !event.target.closest("a") && !getSelection()?.toString() && go(path);
      return html`<tr key=${row.public_id} class="opens" onClick=${open}>
        <td class="lead"><a href=${to(path)}>${buyerOf(row) || row.external_id || row.encf || t("Sin número todavía")}</a>${buyerOf(row) && row.external_id && html`<small>${row.external_id}</small>`}</td>
        <td class="mono">${row.encf ?? "—"}</td>
        <td>${typeName(row.ecf_type)}</td>
        <td><${State} status=${row.status} /></td>
        ${hasTotals && html`<td class="number"><${Money} amount=${row.monto_total} /></td>`}
        <td title=${moment(row.created_at)}>${row.status === "deferred" ? moment(row.scheduled_for) : row.fecha_emision ? civil(row.fecha_emision) : moment(row.created_at)}</td>
      </tr>`;
    })}<//></div>`;
}

/** Pages are addressed by cursor, so they do not shift while receipts arrive. @param {{ data: any, before: number }} props */
function Pages({ data, before }) {
  const last = before + data.items.length;
  return html`<nav class="pages" aria-label=${t("Páginas")}>
    <span class="muted">${t("{first}–{last} de {total}", { first: count(before + 1), last: count(last), total: count(data.total) })}</span>
    <button type="button" class="button" disabled=${!before} onClick=${() => history.back()}>${t("Anterior")}</button>
    <button type="button" class="button" disabled=${!data.next_cursor || last >= data.total} onClick=${() => ask({ pagina: data.next_cursor, fila: String(last) })}>${t("Siguiente")}</button>
  </nav>`;
}

const COLUMNS = /** @type {const} */ (["encf", "ecf_type", "status", "external_id", "rnc_comprador", "razon_social_comprador", "monto_total", "fecha_emision", "created_at", "completed_at", "track_id", "public_id"]);

/** @param {{ query: import("../api.js").Query }} props */
function Export({ query }) {
  const [done, setDone] = useState(/** @type {{ rows: number, of: number } | null} */ (null));
  const [control, setControl] = useState(/** @type {AbortController | null} */ (null));
  const exporting = useAction(async () => {
    const stop = new AbortController();
    setControl(stop);
    try {
      const lines = [COLUMNS.map(cell).join(",")];
      let cursor = "";
      do {
        const page = /** @type {any} */ (await get("client/documents", { query: { ...query, limit: 100, cursor }, signal: stop.signal }));
        for (const row of page.items) lines.push(COLUMNS.map((name) => cell(row[name])).join(","));
        setDone({ rows: lines.length - 1, of: Math.max(page.total, lines.length - 1) });
        cursor = page.next_cursor ?? "";
      } while (cursor);
      save(new Blob(["\ufeff", lines.join("\r\n"), "\r\n"], { type: "text/csv" }), "comprobantes.csv");
    } catch (problem) {
      if (!stop.signal.aborted) throw problem;
    } finally {
      setControl(null);
      setDone(null);
    }
  });
  return html`
    ${exporting.problem && html`<${Trouble} problem=${exporting.problem} />`}
    ${
      exporting.busy
        ? html`<button type="button" class="button" onClick=${() => control?.abort(new DOMException("stopped", "AbortError"))}>${t("Detener ({n} de {of})", { n: count(done?.rows ?? 0), of: count(done?.of ?? 0) })}</button>`
        : html`<button type="button" class="button" onClick=${exporting.run}><${Icon} name="down" />${t("Exportar CSV")}</button>`
    }
  `;
}
