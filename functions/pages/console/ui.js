// The components that views share.
import { Component } from "preact";
import { useEffect, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Problem } from "./api.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";
import { cents, grouped } from "./money.js";
import { scope } from "./session.js";
import { STATES } from "./states.js";
import { moment } from "./time.js";
import { t } from "./words.js";

/** @typedef {import("./words.js").Word} Word */

/** @param {{ status: string }} props */
export function State({ status }) {
  const known = STATES[status];
  return html`<span class=${`badge ${known?.tone ?? "mute"}`}><${Icon} name=${known?.icon ?? "clock"} />${known ? t(known.name) : status}</span>`;
}

/** @param {{ amount: string | bigint | null | undefined, class?: string }} props */
export function Money({ amount, class: more = "" }) {
  if (amount == null || amount === "") return html`<span class="muted">—</span>`;
  const [whole, part] = grouped(typeof amount === "bigint" ? amount : cents(amount)).split(".");
  return html`<span class=${`money ${more}`}><small>RD$ </small>${whole}<small>.${part}</small></span>`;
}

/** @param {{ title: string, actions?: any, above?: any, children?: any }} props */
export const Page = ({ title, actions, above, children }) => html`
  <header class="head">
    <div>${above}<h1>${title}</h1></div>
    ${actions && html`<div class="actions">${actions}</div>`}
  </header>
  ${children}
`;

/** @param {{ title?: any, aside?: any, class?: string, children?: any }} props */
export const Card = ({ title, aside, class: more = "", children }) => html`
  <section class=${`card ${more}`}>
    ${title && html`<header><h2>${title}</h2>${aside}</header>`}
    ${children}
  </section>
`;

/** Grey blocks while data load. They appear after 150 ms. @param {{ rows?: number, class?: string }} props */
export const Skeleton = ({ rows = 4, class: more = "" }) => html`
  <div class=${`skeleton ${more}`} role="status"><span class="unseen">${t("Cargando…")}</span>
    ${Array.from({ length: rows }, () => html`<i></i>`)}
  </div>
`;

/** @param {{ children?: any }} props */
export const Empty = ({ children }) => html`<div class="empty">${children}</div>`;

/** @param {{ text: string, label: string }} props */
export function Copy({ text, label }) {
  const [done, setDone] = useState(false);
  const copy = () =>
    navigator.clipboard?.writeText(text).then(() => {
      setDone(true);
      setTimeout(() => setDone(false), 2000);
    });
  return html`<button type="button" class="icon-button" onClick=${copy} aria-label=${`${t("Copiar")}: ${label}`} title=${t("Copiar")}>
    <${Icon} name=${done ? "check" : "copy"} />${done && html`<span class="unseen" role="status">${t("Copiado")}</span>`}
  </button>`;
}

/** The message for an error. @param {unknown} problem @returns {string} */
export function told(problem) {
  if (!(problem instanceof Problem)) return t("Algo falló en esta página.");
  const { status, code } = problem;
  if (status === 0) return t("No hay conexión con el servicio.");
  if (status === 401) return t("La clave ya no sirve: es desconocida, venció o fue revocada.");
  if (status === 403) return t("Esta clave no puede hacer eso.");
  if (status === 404) return t("No existe, o es de otra empresa o ambiente.");
  if (status === 413) return t("El archivo es demasiado grande.");
  if (status === 429) return t("Demasiadas consultas seguidas. Espere un momento.");
  if (code === "register_not_loaded") return t("Este servicio no tiene el padrón de la DGII.");
  if (status >= 500) return t("El servicio no pudo responder. Sus datos siguen aquí.");
  if (status === 409) return t("El estado actual no lo permite.");
  return t("Hay datos que corregir.");
}

/** @param {{ problem: unknown, retry?: () => void }} props */
export function Trouble({ problem, retry }) {
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  const known = problem instanceof Problem ? problem : null;
  return html`
    <div class="notice bad" role="alert">
      <${Icon} name="alert" />
      <div>
        <strong ref=${heading}>${told(problem)}</strong>
        ${known?.status !== 401 && known?.message && html`<p>${known.message}</p>`}
        ${known && known.findings.length > 0 && html`<ul>${known.findings.map((finding) => html`<li><code>${finding.loc.slice(1).join(" › ")}</code> ${finding.msg}</li>`)}</ul>`}
        ${known?.id && html`<p class="help">${t("Solicitud {id}", { id: known.id })} <${Copy} text=${known.id} label=${t("solicitud")} /></p>`}
      </div>
      ${retry && html`<button type="button" class="button" onClick=${retry}>${t("Intentar de nuevo")}</button>`}
    </div>
  `;
}

/** An error boundary: an exception in a view is shown in its place, and the rest of the page keeps working. */
export class Boundary extends Component {
  /** @type {{ error: unknown }} */
  state = { error: null };

  static getDerivedStateFromError = (/** @type {unknown} */ error) => ({ error });

  render() {
    if (!this.state.error) return this.props.children;
    return html`<div class="notice bad" role="alert"><${Icon} name="alert" />
      <div><strong>${t("Algo falló en esta página.")}</strong><p>${t("Lo que escribió en Emitir sigue guardado.")}</p></div>
      <button type="button" class="button" onClick=${() => location.reload()}>${t("Recargar")}</button></div>`;
  }
}

/**
 * Repeats an action every `every` ms while the tab is visible, and at once when it becomes visible again.
 * @param {() => unknown} action @param {number} every @returns {() => void} what ends it
 */
export function whileVisible(action, every) {
  const turn = () => document.hidden || action();
  const timer = setInterval(turn, every);
  document.addEventListener("visibilitychange", turn);
  return () => (clearInterval(timer), document.removeEventListener("visibilitychange", turn));
}

/**
 * Loads data, and reloads them when `on` changes, on `reload()`, and with `every` as `whileVisible` does. Old data
 * remain until new data arrive. Leaving the view aborts the request.
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} load @param {any[]} on @param {{ every?: number }} [options]
 */
export function useLoad(load, on, { every = 0 } = {}) {
  const [state, setState] = useState(/** @type {{ data: T | null, problem: unknown, at: number, of: string }} */ ({ data: null, problem: null, at: 0, of: "" }));
  const [turn, setTurn] = useState(0);
  const of = JSON.stringify(on);
  useEffect(() => {
    const control = new AbortController();
    load(control.signal).then(
      (data) => control.signal.aborted || setState({ data, problem: null, at: Date.now(), of }),
      (problem) => control.signal.aborted || setState((old) => ({ ...old, problem })),
    );
    return () => control.abort(new DOMException("left", "AbortError"));
  }, [of, turn]);
  useEffect(() => {
    if (every) return whileVisible(() => setTurn((n) => n + 1), every);
  }, [every]);
  return {
    ...state,
    /** Whether the data belong to an earlier value of `on`. */
    stale: state.data !== null && state.of !== of,
    reload: () => setTurn((n) => n + 1),
    /** @param {T} data */
    set: (data) => setState({ data, problem: null, at: Date.now(), of }),
  };
}

/**
 * Renders the data of `useLoad`, or a skeleton, or the error.
 * @param {{ from: { data: any, problem: unknown, at: number, reload: () => void }, rows?: number, children: (data: any) => any }} props
 */
export function Loaded({ from, rows, children }) {
  if (from.data === null) return from.problem ? html`<${Trouble} problem=${from.problem} retry=${from.reload} />` : html`<${Skeleton} rows=${rows} />`;
  return html`
    ${from.problem && html`<div class="notice warn" role="status"><${Icon} name="clock" /><div>${told(from.problem)} ${t("Lo que ve es de las {time}.", { time: moment(from.at) })}</div>
      <button type="button" class="button" onClick=${from.reload}>${t("Intentar de nuevo")}</button></div>`}
    ${children(from.data)}
  `;
}

/**
 * Runs an action, one call at a time: `busy` while it runs, `problem` after it failed.
 * @param {(...args: any[]) => Promise<any>} action
 */
export function useAction(action) {
  const [state, setState] = useState(/** @type {{ busy: boolean, problem: unknown }} */ ({ busy: false, problem: null }));
  const running = useRef(false);
  const run = async (/** @type {any[]} */ ...args) => {
    if (running.current) return;
    running.current = true;
    setState({ busy: true, problem: null });
    try {
      await action(...args);
      setState({ busy: false, problem: null });
    } catch (problem) {
      setState({ busy: false, problem });
    } finally {
      running.current = false;
    }
  };
  return { ...state, run, clear: () => setState({ busy: false, problem: null }) };
}

/** Whether the key may write. @param {"issue" | "full"} needs */
export const may = (needs) => scope.value === "full" || (needs === "issue" && scope.value === "issue");

/**
 * A field with its label, help and finding.
 * @param {{ label: string, help?: any, error?: string, class?: string, children: (ids: any) => any }} props
 */
export function Field({ label, help, error, class: more = "", children }) {
  const id = useId();
  const described = [help && `${id}-help`, error && `${id}-error`].filter(Boolean).join(" ") || undefined;
  return html`
    <div class=${`field ${more} ${error ? "wrong" : ""}`}>
      <label for=${id}>${label}</label>
      ${children({ id, "aria-describedby": described, "aria-invalid": error ? "true" : undefined })}
      ${help && html`<p class="help" id=${`${id}-help`}>${help}</p>`}
      ${error && html`<p class="error" id=${`${id}-error`}><${Icon} name="alert" />${error}</p>`}
    </div>
  `;
}

/** @param {{ title: any, close: () => void, children: any, class?: string }} props */
export function Dialog({ title, close, children, class: more = "" }) {
  const dialog = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId();
  useLayoutEffect(() => {
    const back = document.activeElement;
    dialog.current?.showModal();
    return () => {
      dialog.current?.close();
      if (back instanceof HTMLElement) back.focus();
    };
  }, []);
  const cancel = (/** @type {Event} */ event) => {
    event.preventDefault();
    close();
  };
  return html`<dialog ref=${dialog} class=${more} aria-labelledby=${id} onCancel=${cancel}><h2 id=${id}>${title}</h2>${children}</dialog>`;
}

/**
 * Asks for confirmation before an action that cannot be undone.
 * @param {{ title: any, children?: any, yes: string, danger?: boolean, action: () => Promise<any>, close: () => void }} props
 */
export function Confirm({ title, children, yes, danger = false, action, close }) {
  const doing = useAction(async () => {
    await action();
    close();
  });
  return html`
    <${Dialog} title=${title} close=${() => doing.busy || close()}>
      ${children}
      ${doing.problem && html`<${Trouble} problem=${doing.problem} />`}
      <div class="actions">
        <button type="button" class="button" disabled=${doing.busy} onClick=${close}>${t("Volver")}</button>
        <button type="button" class=${`button main ${danger ? "danger" : ""}`} disabled=${doing.busy} onClick=${doing.run}>${doing.busy ? t("Un momento…") : yes}</button>
      </div>
    <//>
  `;
}

/** A table that becomes a list of cards on a phone. @param {{ label: string, heads: any[], children: any }} props */
export const Table = ({ label, heads, children }) => html`
  <div class="table"><table aria-label=${label}><thead><tr>${heads.map((head) => (head === "" ? html`<td></td>` : html`<th scope="col" class=${head.class}>${head.text ?? head}</th>`))}</tr></thead><tbody>${children}</tbody></table></div>
`;

/** The seconds left until an instant. @param {number} until */
export function useCountdown(until) {
  const [, tick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 500);
    return () => clearInterval(timer);
  }, [until]);
  return Math.max(0, Math.ceil((until - Date.now()) / 1000));
}
