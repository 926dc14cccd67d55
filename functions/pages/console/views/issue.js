// Emitir: a form that is validated while the user types, and that never issues a receipt twice.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { get, Problem, send } from "../api.js";
import { Content } from "../content.js";
import { keepDraft, keptDraft } from "../draft.js";
import { hint, labelOf, pathOf } from "../findings.js";
import { applies, body, BUYER, drafted, example, freshDraft, freshLine, isBegun, LINE, NAME, PAYING, ratesOf, REFERENCE, retains, WITH_TAX } from "../forms.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { useRegister } from "../register.js";
import { go, place, to } from "../router.js";
import { company, environment, key } from "../session.js";
import { environmentWords, TYPES, typeName } from "../states.js";
import { refresh } from "../summary.js";
import { civil } from "../time.js";
import { Card, Confirm, Dialog, Field, Loaded, may, Money, Page, Trouble, useCountdown, useLoad } from "../ui.js";
import { many, t } from "../words.js";

/** @typedef {import("../forms.js").Draft} Draft */
/** @typedef {import("../forms.js").FormField} FormField */
/** @typedef {import("../api.js").Finding} Finding */

const FIRST = ["31", "32", "34", "45", "44"];
const QUIET = 450;

export function Issue() {
  const from = useLoad(async (signal) => (company.value ??= await get("client/company", { signal })), [key.value]);
  if (!may("issue")) return html`<${Page} title=${t("Emitir")}><div class="notice warn"><${Icon} name="key" /><div>${t("Esta clave no puede emitir. Entre con una de alcance completo o de emisión.")}</div></div><//>`;
  return html`<${Loaded} from=${from} rows=${8}>${(/** @type {any} */ issuer) => html`<${Form} issuer=${issuer} />`}<//>`;
}

/**
 * Validates the draft 450 ms after the last change and aborts the request before. The last totals remain while there
 * are findings.
 * @param {Draft} draft @param {any} issuer
 */
function useJudgement(draft, issuer) {
  const request = useMemo(() => body(draft, issuer), [draft, issuer]);
  const text = JSON.stringify(request);
  const [state, setState] = useState(/** @type {{ of: string, forecast: any, findings: Finding[], problem: unknown, totals: any }} */ ({ of: "", forecast: null, findings: [], problem: null, totals: null }));
  /** @param {AbortSignal} [signal] */
  const judge = async (signal) => {
    try {
      const { data } = await send("POST", "ecf", { query: { validate_only: true }, body: request, signal });
      setState({ of: text, forecast: data, findings: [], problem: null, totals: data.totals });
      return { forecast: data, findings: [], problem: null };
    } catch (problem) {
      if (signal?.aborted) return null;
      const findings = problem instanceof Problem ? problem.findings : [];
      setState((old) => ({ ...old, of: text, forecast: null, findings, problem: findings.length ? null : problem }));
      return { forecast: null, findings, problem: findings.length ? null : problem };
    }
  };
  const waits = isBegun(draft) && !draft.sent && state.of !== text;
  useEffect(() => {
    if (!waits) return;
    const control = new AbortController();
    const timer = setTimeout(() => judge(control.signal), QUIET);
    return () => (clearTimeout(timer), control.abort());
  }, [text, waits]);
  return { ...state, isCurrent: state.of === text, request, judge };
}

/** @param {{ issuer: any }} props */
function Form({ issuer }) {
  const [draft, setDraft] = useState(keptDraft);
  const [touched, setTouched] = useState(/** @type {Record<string, boolean>} */ ({}));
  const [tried, setTried] = useState(false);
  const [asking, setAsking] = useState(false);
  const [checking, setChecking] = useState(false);
  const [dropping, setDropping] = useState(false);
  const judged = useJudgement(draft, issuer);
  const form = useRef(/** @type {HTMLElement | null} */ (null));

  useEffect(() => keepDraft(draft), [draft]);

  const change = (/** @type {Partial<Draft>} */ changes) => setDraft((old) => (old.sent ? old : { ...old, ...changes }));
  const begin = (/** @type {Draft} */ fresh) => {
    setDraft(fresh);
    setTouched({});
    setTried(false);
  };
  const anew = () => {
    begin(freshDraft(draft.type));
    go("/emitir", { replace: true });
  };
  const setType = (/** @type {string} */ type) => {
    const rates = ratesOf(type).map(([value]) => value);
    change({ type, lines: draft.lines.map((line) => (rates.includes(line.rate) ? line : { ...line, rate: rates[0] })) });
  };

  const visible = [...REFERENCE, ...BUYER, ...PAYING, WITH_TAX].filter((field) => applies(field, draft)).map(({ path }) => path);
  const onForm = (/** @type {string} */ path) => visible.includes(path) || isLineField(path, draft);
  /** @param {string} path */
  const errorAt = (path) => {
    if (!judged.isCurrent || !(tried || touched[path])) return undefined;
    const finding = judged.findings.find((finding) => pathOf(finding) === path);
    return finding && hint(finding);
  };
  const context = { draft, touch: (/** @type {string} */ path) => setTouched((old) => ({ ...old, [path]: true })), errorAt, set: (/** @type {string} */ path, /** @type {string} */ value) => change({ values: { ...draft.values, [path]: value } }) };

  /** @param {string} path */
  const focus = (path) => {
    const field = form.current?.querySelector(`[data-path="${CSS.escape(path)}"]`);
    if (field instanceof HTMLElement) field.focus();
  };
  const review = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (draft.sent || checking) return;
    setTried(true);
    setChecking(true);
    const result = judged.isCurrent && judged.forecast ? judged : await judged.judge();
    setChecking(false);
    if (result?.forecast) return setAsking(true);
    const first = result?.findings.map(pathOf).find(onForm);
    if (first) setTimeout(() => focus(first));
  };
  const issuing = useIssuing(draft, setDraft, judged.request);
  const isFrozen = draft.sent !== null;

  return html`
    <${Page} title=${t("Emitir")} actions=${!isFrozen && html`
      ${environment.value === "TesteCF" && html`<button type="button" class="button" onClick=${() => begin({ ...example(draft.type, issuer), key: draft.key, from: draft.from })}>${t("Llenar con un ejemplo")}</button>`}
      <button type="button" class="button" onClick=${() => (isBegun(draft) ? setDropping(true) : anew())}>${t("Empezar de nuevo")}</button>`}>
      <${Prefill} draft=${draft} begin=${begin} />
      ${isFrozen && html`<${Unclear} draft=${draft} issuing=${issuing} drop=${() => setDropping(true)} />`}
      <form ref=${form} class="two issue" onSubmit=${review} novalidate>
        <fieldset class="stack bare" disabled=${isFrozen}>
          <legend class="unseen">${t("Datos del comprobante")}</legend>
          <${Types} type=${draft.type} set=${setType} />
          ${REFERENCE[0].types.includes(draft.type) && html`<${Group} title=${t("Comprobante que modifica")} fields=${REFERENCE} context=${context} />`}
          ${draft.type !== "43" && html`<${Buyer} context=${context} />`}
          <${Lines} context=${context} change=${change} />
          <${Group} title=${t("Pago y referencia")} fields=${PAYING} context=${context}>
            <${Field} label=${t("Su referencia (opcional)")} help=${t("El número que usted le da, por ejemplo el de su factura.")}>
              ${(/** @type {any} */ ids) => html`<input ...${ids} maxlength="100" value=${draft.reference} onInput=${(/** @type {any} */ event) => change({ reference: event.target.value })} />`}
            <//>
          <//>
        </fieldset>
        <${Total} draft=${draft} judged=${judged} tried=${tried} checking=${checking} onForm=${onForm} focus=${focus} isFrozen=${isFrozen} />
      </form>
      ${asking && html`<${Ask} draft=${draft} judged=${judged} issuing=${issuing} close=${() => setAsking(false)} />`}
      ${dropping && html`<${Confirm} danger title=${t("Empezar de nuevo")} yes=${t("Descartar el borrador")} close=${() => setDropping(false)} action=${async () => anew()}>
        <p>${isFrozen ? t("No sabemos si este comprobante se emitió. Búsquelo antes en Comprobantes: si lo emite otra vez desde un borrador nuevo, serán dos.") : t("Se borra lo que escribió en este formulario.")}</p><//>`}
    <//>
  `;
}

/** @param {string} path @param {Draft} draft */
function isLineField(path, draft) {
  const match = /^DetallesItems\/Item\/(\d+)\/(.+)$/.exec(path);
  if (!match || Number(match[1]) >= draft.lines.length) return false;
  const retained = retains(draft.type);
  if (match[2] === LINE.itbis) return retained.itbis;
  if (match[2] === LINE.isr) return retained.isr;
  return Object.values(LINE).includes(match[2]);
}

/**
 * Issues the draft. The body is stored before it is sent: until a definite answer arrives, only the same body with the
 * same key can be sent again.
 * @param {Draft} draft @param {(change: (old: Draft) => Draft) => void} setDraft @param {any} request
 */
function useIssuing(draft, setDraft, request) {
  const [state, setState] = useState(/** @type {{ busy: boolean, problem: unknown }} */ ({ busy: false, problem: null }));
  const running = useRef(false);
  const run = async () => {
    if (running.current) return;
    running.current = true;
    setState({ busy: true, problem: null });
    const sent = draft.sent ?? request;
    const frozen = { ...draft, sent };
    keepDraft(frozen);
    try {
      const { data, headers } = await send("POST", "ecf", { body: sent });
      keepDraft(null);
      refresh();
      go(`/comprobantes/${data.public_id}${headers.get("idempotency-payload-differs") === "true" ? "?difiere=1" : ""}`, { replace: true });
    } catch (problem) {
      const isUnclear = !(problem instanceof Problem) || problem.isUnclear;
      // 503 means that nothing was stored, but the outcome of an earlier attempt with the same body may still be unknown.
      const next = isUnclear || draft.sent ? frozen : draft;
      const settled = problem instanceof Problem && [409, 413, 422].includes(problem.status) && !problem.isSignedOut ? { ...draft, sent: null } : next;
      keepDraft(settled);
      setDraft(() => settled);
      setState({ busy: false, problem });
    } finally {
      running.current = false;
    }
  };
  return { ...state, run };
}

/** @param {{ draft: Draft, issuing: any, drop: () => void }} props */
function Unclear({ draft, issuing, drop }) {
  const after = issuing.problem instanceof Problem && issuing.problem.after ? issuing.problem.after : 0;
  const until = useMemo(() => Date.now() + after * 1000, [issuing.problem]);
  const left = useCountdown(until);
  const reference = draft.sent?.external_id;
  return html`<div class="notice warn" role="alert"><${Icon} name="alert" />
    <div><strong>${t("No sabemos si se emitió.")}</strong><p>${t("Intente de nuevo sin cambiar nada: lleva la misma clave y no se emite dos veces.")}</p>
      ${issuing.problem instanceof Problem && issuing.problem.id && html`<p class="help">${t("Solicitud {id}", { id: issuing.problem.id })}</p>`}
      <p><a href=${to(reference ? `/comprobantes?buscar=${encodeURIComponent(reference)}` : "/comprobantes")}>${t("Buscarlo en Comprobantes")}</a> · <button type="button" class="link" onClick=${drop}>${t("Empezar de nuevo")}</button></p></div>
    <button type="button" class="button main" disabled=${issuing.busy || left > 0} onClick=${issuing.run}>${issuing.busy ? t("Un momento…") : left > 0 ? t("En {n} s", { n: left }) : t("Intentar de nuevo")}</button>
  </div>`;
}

/** `?tipo=` selects the type, `?desde=` fills the form from a receipt. @param {{ draft: Draft, begin: (draft: Draft) => void }} props */
function Prefill({ draft, begin }) {
  const { query } = place.value;
  const from = query.get("desde");
  const type = query.get("tipo");
  const [lost, setLost] = useState(/** @type {string[]} */ ([]));
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const [other, setOther] = useState(isBegun(draft) && (draft.from ?? "") !== (from ?? "") && from !== null);
  const wants = from && draft.from !== from && !draft.sent && !other;
  useEffect(() => {
    if (!wants) return;
    const control = new AbortController();
    get("client/documents/{public_id}", { params: { public_id: from }, query: { payload: true }, signal: control.signal })
      .then(({ payload }) => {
        const made = drafted(new Content(payload), TYPES.includes(type ?? "") ? String(type) : "31", from);
        begin(made.draft);
        setLost(made.lost);
      })
      .catch((error) => control.signal.aborted || setProblem(error));
    return () => control.abort();
  }, [wants]);
  useEffect(() => {
    if (!from && type && TYPES.includes(type) && type !== draft.type && !isBegun(draft) && !draft.sent) begin(freshDraft(type));
  }, [type]);
  return html`
    ${problem && html`<${Trouble} problem=${problem} />`}
    ${lost.length > 0 && html`<div class="notice warn" role="status"><${Icon} name="alert" /><div>${t("Este formulario no lleva:")} <span class="mono break">${lost.map((path) => path.split("/").pop()).join(", ")}</span>. ${t("Si hacen falta, emítalo por el API.")}</div></div>`}
    ${other && !draft.sent && html`<${Dialog} title=${t("Hay un borrador sin emitir")} close=${() => go("/emitir", { replace: true })}>
      <p>${typeName(draft.type)} · ${draft.values[NAME] || draft.lines[0]?.name}</p>
      <div class="actions"><button type="button" class="button" onClick=${() => (setOther(false), go("/emitir", { replace: true }))}>${t("Seguir con él")}</button>
      <button type="button" class="button main" onClick=${() => setOther(false)}>${t("Descartarlo y empezar este")}</button></div><//>`}
  `;
}

/** @param {{ type: string, set: (type: string) => void }} props */
function Types({ type, set }) {
  const rest = TYPES.filter((one) => !FIRST.includes(one));
  return html`<${Card} title=${t("Tipo")}>
    <div class="tiles" role="group" aria-label=${t("Tipo")}>
      ${FIRST.map((one) => html`<button type="button" class="tile" aria-pressed=${one === type} onClick=${() => set(one)}><b>${one}</b>${typeName(one)}</button>`)}
      <select class=${rest.includes(type) ? "chosen" : ""} aria-label=${t("Otros tipos")} value=${rest.includes(type) ? type : ""} onChange=${(/** @type {any} */ event) => event.target.value && set(event.target.value)}>
        <option value="">${t("Otros tipos")}</option>${rest.map((one) => html`<option value=${one}>${one} · ${typeName(one)}</option>`)}
      </select>
    </div><//>`;
}

/** @param {{ title: string, fields: FormField[], context: any, children?: any }} props */
const Group = ({ title, fields, context, children }) => html`<${Card} title=${title}><div class="fields">
  ${fields.filter((field) => applies(field, context.draft)).map((field) => html`<${Input} key=${field.path} field=${field} context=${context} />`)}${children}</div><//>`;

/** @param {{ field: FormField, context: any, help?: any, label?: string }} props */
function Input({ field, context, help, label }) {
  const { path, kind, choices } = field;
  const value = context.draft.values[path] ?? "";
  const common = { "data-path": path, value, onBlur: () => value && context.touch(path) };
  const input = (/** @type {any} */ event) => context.set(path, event.target.value);
  const said = help ?? (kind === "date" && value ? civil(value) : field.help && t(field.help));
  return html`<${Field} label=${label ?? t(field.label)} help=${said} error=${context.errorAt(path)}>
    ${(/** @type {any} */ ids) =>
      kind === "choice"
        ? html`<select ...${ids} ...${common} onChange=${input}>${choices?.map(([value, word]) => html`<option value=${value}>${t(word)}</option>`)}</select>`
        : html`<input ...${ids} ...${common} type=${kind === "date" ? "date" : "text"} inputmode=${kind === "rnc" ? "numeric" : undefined} autocomplete="off" onInput=${input} />`}
  <//>`;
}

/** @param {{ context: any }} props */
function Buyer({ context }) {
  const { draft } = context;
  const rnc = BUYER[0].types.includes(draft.type) ? (draft.values[BUYER[0].path] ?? "") : "";
  const help = useRegister(rnc, draft.values[NAME] ?? "", (name) => context.set(NAME, name));
  const title = draft.type === "41" || draft.type === "47" ? t("Proveedor") : t("Comprador");
  return html`<${Card} title=${title} aside=${draft.type === "32" && html`<span class="help">${t("Opcional: sin datos es consumidor final.")}</span>`}><div class="fields">
    ${BUYER.filter((field) => applies(field, draft)).map((field) => html`<${Input} key=${field.path} field=${field} context=${context} help=${field.kind === "rnc" ? help : undefined} />`)}</div><//>`;
}

/** @param {{ context: any, change: (changes: Partial<Draft>) => void }} props */
function Lines({ context, change }) {
  const { draft } = context;
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const rates = ratesOf(draft.type);
  const retained = retains(draft.type);
  const set = (/** @type {number} */ at, /** @type {Partial<import("../forms.js").Line>} */ changes) => change({ lines: draft.lines.map((/** @type {any} */ line, /** @type {number} */ index) => (index === at ? { ...line, ...changes } : line)) });
  const add = () => {
    change({ lines: [...draft.lines, { ...freshLine(draft.type), rate: draft.lines.at(-1)?.rate ?? rates[0][0], kind: draft.lines.at(-1)?.kind ?? "1" }] });
    setTimeout(() => /** @type {HTMLElement | null} */ (list.current?.querySelector("li:last-child input"))?.focus());
  };
  /** @param {number} at @param {keyof typeof LINE} member @param {string} label @param {any} [more] */
  const input = (at, member, label, more = {}) => {
    const path = `DetallesItems/Item/${at}/${LINE[member]}`;
    const value = draft.lines[at][member];
    const enter = (/** @type {KeyboardEvent} */ event) => {
      if (event.key !== "Enter" || at !== draft.lines.length - 1) return;
      event.preventDefault();
      add();
    };
    return html`<${Field} label=${label} class=${member} error=${context.errorAt(path)}>
      ${(/** @type {any} */ ids) => html`<input ...${ids} ...${more} data-path=${path} autocomplete="off" value=${value} onInput=${(/** @type {any} */ event) => set(at, { [member]: event.target.value })} onBlur=${() => value && context.touch(path)} onKeyDown=${enter} />`}<//>`;
  };
  /** @param {number} at @param {"rate" | "kind"} member @param {string} label @param {[string, string][]} options */
  const select = (at, member, label, options) => {
    const path = `DetallesItems/Item/${at}/${LINE[member]}`;
    return html`<${Field} label=${label} class=${member} error=${context.errorAt(path)}>
      ${(/** @type {any} */ ids) => html`<select ...${ids} data-path=${path} value=${draft.lines[at][member]} onChange=${(/** @type {any} */ event) => set(at, { [member]: event.target.value })}>${options.map(([value, text]) => html`<option value=${value}>${text}</option>`)}</select>`}<//>`;
  };
  const aside = applies(WITH_TAX, draft)
    ? html`<select data-path=${WITH_TAX.path} aria-label=${t("Los precios")} value=${draft.values[WITH_TAX.path] ?? "0"} onChange=${(/** @type {any} */ event) => context.set(WITH_TAX.path, event.target.value)}>${WITH_TAX.choices?.map(([value, word]) => html`<option value=${value}>${`${t("Los precios")}: ${t(word).toLowerCase().replace("itbis", "ITBIS")}`}</option>`)}</select>`
    : null;
  return html`<${Card} title=${t("Líneas")} aside=${aside}>
    <ol class="lines" ref=${list}>
      ${draft.lines.map((/** @type {any} */ _, /** @type {number} */ at) => html`<li key=${at}>
        ${input(at, "name", t("Descripción"), { maxlength: 80 })}
        ${input(at, "quantity", t("Cantidad"), { inputmode: "decimal", class: "number" })}
        ${input(at, "price", t("Precio RD$"), { inputmode: "decimal", class: "number" })}
        ${select(at, "rate", "ITBIS", rates.map(([value, word]) => [value, t(word)]))}
        ${select(at, "kind", t("Es un"), [["1", t("Bien")], ["2", t("Servicio")]])}
        ${retained.itbis && input(at, "itbis", t("ITBIS retenido"), { inputmode: "decimal", class: "number" })}
        ${retained.isr && input(at, "isr", t("ISR retenido"), { inputmode: "decimal", class: "number" })}
        <button type="button" class="icon-button" disabled=${draft.lines.length === 1} aria-label=${t("Quitar la línea {n}", { n: at + 1 })} title=${t("Quitar")} onClick=${() => change({ lines: draft.lines.filter((/** @type {any} */ _, /** @type {number} */ index) => index !== at) })}><${Icon} name="trash" /></button>
      </li>`)}
    </ol>
    <button type="button" class="button" onClick=${add}><${Icon} name="plus" />${t("Agregar línea")}</button>
  <//>`;
}

const SUMS = /** @type {[string, import("../words.js").Word][]} */ ([
  ["MontoGravadoTotal", "Gravado"],
  ["MontoExento", "Exento"],
  ["TotalITBIS", "ITBIS"],
  ["TotalITBISRetenido", "ITBIS retenido"],
  ["TotalISRRetencion", "ISR retenido"],
]);

/** @param {{ draft: Draft, judged: any, tried: boolean, checking: boolean, onForm: (path: string) => boolean, focus: (path: string) => void, isFrozen: boolean }} props */
function Total({ draft, judged, tried, checking, onForm, focus, isFrozen }) {
  const { forecast, findings, problem, totals, isCurrent } = judged;
  const notices = (forecast?.warnings ?? []).filter((/** @type {Finding} */ finding) => finding.type !== "value_added");
  const isOld = !isCurrent || !forecast;
  return html`<aside class="judged">
    <section class="card" aria-label=${t("Total")}>
      <dl class=${`sums ${totals && isOld ? "stale" : ""}`}>
        ${SUMS.filter(([name]) => totals?.[name]).map(([name, word]) => html`<div><dt>${t(word)}</dt><dd><${Money} amount=${totals[name]} /></dd></div>`)}
        <div class="sum"><dt>${t("Total")}</dt><dd>${totals ? html`<${Money} amount=${totals.MontoTotal} />` : html`<span class="muted">—</span>`}</dd></div>
      </dl>
      <button class="button main wide" disabled=${checking || isFrozen}>${checking ? t("Un momento…") : t("Revisar y emitir")}</button>
    </section>
    <section class="card forecast" aria-live="polite">
      ${
        !isBegun(draft) && !tried
          ? html`<p class="muted">${t("Escriba una línea: mientras escribe, revisamos el comprobante como lo haría la DGII.")}</p>`
          : problem
            ? html`<${Trouble} problem=${problem} retry=${() => judged.judge()} />`
            : forecast
              ? html`<p class=${forecast.verdict_forecast === "accepted" ? "good" : "warn"}><${Icon} name="check" /> <strong>${forecast.verdict_forecast === "accepted" ? t("La DGII lo aceptaría") : t("La DGII lo aceptaría con observaciones")}</strong></p>
                  ${forecast.encf && html`<p class="help">${t("Próximo número: {encf} (se asigna al emitir)", { encf: forecast.encf })}</p>`}
                  ${notices.length > 0 && html`<ul class="findings">${notices.map((/** @type {Finding} */ finding) => html`<${Found} finding=${finding} onForm=${onForm} focus=${focus} />`)}</ul>`}`
              : findings.length > 0
                ? html`<p><${Icon} name="alert" class="warn" /> <strong>${many(findings.length, "Falta corregir {n} dato", "Falta corregir {n} datos")}</strong></p>
                    <ul class="findings">${findings.map((/** @type {Finding} */ finding) => html`<${Found} finding=${finding} onForm=${onForm} focus=${focus} />`)}</ul>`
                : html`<p class="muted">${t("Revisando…")}</p>`
      }
    </section>
  </aside>`;
}

/** @param {{ finding: Finding, onForm: (path: string) => boolean, focus: (path: string) => void }} props */
function Found({ finding, onForm, focus }) {
  const path = pathOf(finding);
  const label = labelOf(path);
  return html`<li>${onForm(path) ? html`<button type="button" class="link" onClick=${() => focus(path)}>${label}</button>` : html`<strong>${label}</strong>`} <span>${hint(finding)}</span></li>`;
}

/** @param {{ draft: Draft, judged: any, issuing: any, close: () => void }} props */
function Ask({ draft, judged, issuing, close }) {
  useEffect(() => {
    if (draft.sent) close();
  }, [draft.sent]);
  const total = judged.totals?.MontoTotal;
  const words = environmentWords(environment.value);
  const buyer = draft.values[NAME] || "";
  return html`<${Dialog} title=${html`${t("Emitir por")} <${Money} amount=${total} />`} close=${() => issuing.busy || close()}>
    <p><strong>${typeName(draft.type)}</strong>${buyer && ` · ${buyer}`}</p>
    <p class=${`stamp ${environment.value}`}>${words?.name} · ${words?.says}</p>
    <p>${t("Después de enviado no se puede borrar: se corrige con una nota.")}</p>
    ${issuing.problem && html`<${Trouble} problem=${issuing.problem} />`}
    <div class="actions"><button type="button" class="button" disabled=${issuing.busy} onClick=${close}>${t("Seguir editando")}</button>
    <button type="button" class="button main" disabled=${issuing.busy} onClick=${issuing.run}>${issuing.busy ? t("Emitiendo…") : t("Emitir")}</button></div>
  <//>`;
}
