// The frame of every view: environment bar, navigation, notices, keyboard shortcuts.
import { signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { waiting } from "./api.js";
import { html } from "./html.js";
import { Icon } from "./icons.js";
import { go, place, to } from "./router.js";
import { found, routes } from "./routes.js";
import { company, environment, key, signOut, summary } from "./session.js";
import { environmentWords, rncText } from "./states.js";
import { introduce, refresh } from "./summary.js";
import { turnTheme } from "./theme.js";
import { Boundary, Dialog, Skeleton, Trouble, useCountdown, whileVisible } from "./ui.js";
import { SignIn } from "./views/signin.js";
import { language, speak, t } from "./words.js";

export function App() {
  const current = key.value;
  useEffect(() => {
    if (!current) return;
    const control = new AbortController();
    const start = () => introduce(control.signal).catch(() => {}); // Views show their own errors; the next turn tries again.
    const end = whileVisible(() => (company.peek() ? refresh(control.signal) : start()), 30_000);
    start();
    return () => (control.abort(new DOMException("left", "AbortError")), end());
  }, [current]);
  useKeys();
  language.value; // Words are read while rendering: another language renders everything again.
  if (!current) {
    document.title = t("Comprobantes fiscales electrónicos");
    return html`<${Boundary}><${SignIn} /><//>`;
  }
  return html`
    <a class="skip" href="#main" onClick=${skip}>${t("Saltar al contenido")}</a>
    <${EnvironmentBar} />
    <div class="frame">
      <${Side} />
      <${View} />
    </div>
    <${Tabs} />
    <${Waiting} />
    <${Help} />
  `;
}

/** @param {Event} event */
function skip(event) {
  event.preventDefault();
  document.getElementById("main")?.focus();
}

export function EnvironmentBar() {
  const name = environment.value;
  const words = environmentWords(name);
  return html`<div class=${`environment ${name ?? ""}`} role="status">${words ? html`<strong>${words.name}</strong> · ${words.says}` : " "}</div>`;
}

/** @param {string} path */
const isHere = (path) => (path === "/" ? place.value.path === "/" : place.value.path.startsWith(path));

/** @param {{ route: import("./routes.js").Route }} props */
function Entry({ route }) {
  const unread = route.path === "/recibidos" ? summary.value?.inbox.unread : 0;
  return html`<a href=${to(route.path)} aria-current=${isHere(route.path) ? "page" : undefined}>
    <${Icon} name=${route.icon} /><span>${t(route.title)}</span>
    ${unread ? html`<b class="count" aria-hidden="true">${unread}</b><span class="unseen">${t("{n} por responder", { n: unread })}</span>` : null}
  </a>`;
}

function Side() {
  const of = company.value;
  return html`
    <nav class="side" aria-label=${t("Secciones")}>
      <div class="who">
        <span class="mark" aria-hidden="true">${of?.name[0] ?? " "}</span>
        <div><strong>${of?.trade_name || of?.name || " "}</strong><span>${of ? `RNC ${rncText(of.rnc)}` : " "}</span></div>
      </div>
      ${[undefined, /** @type {const} */ ("Configuración"), /** @type {const} */ ("Integración")].map((group) => html`
        ${group && html`<h2>${t(group)}</h2>`}
        ${routes.filter((route) => route.icon && route.group === group).map((route) => html`<${Entry} route=${route} key=${route.path} />`)}
      `)}
      <${Preferences} />
    </nav>
  `;
}

export const Preferences = () => html`
  <div class="preferences">
    <button type="button" class="quiet" onClick=${turnTheme}><${Icon} name="moon" />${t("Claro u oscuro")}</button>
    <button type="button" class="quiet" lang=${language.value === "es" ? "en" : "es"} onClick=${() => speak(language.value === "es" ? "en" : "es")}>${language.value === "es" ? "English" : "Español"}</button>
    <button type="button" class="quiet" onClick=${signOut}><${Icon} name="out" />${t("Salir")}</button>
  </div>
`;

function Tabs() {
  const shown = routes.filter(({ icon, group }) => icon && !group);
  const isMore = !shown.some(({ path }) => isHere(path));
  return html`
    <nav class="tabs" aria-label=${t("Secciones principales")}>
      ${shown.map((route) => html`<${Entry} route=${route} key=${route.path} />`)}
      <a href=${to("/mas")} aria-current=${isMore ? "page" : undefined}><${Icon} name="more" /><span>${t("Más")}</span></a>
    </nav>
  `;
}

/** Views that were fetched. @type {Map<string, any>} */
const loaded = new Map();

function View() {
  const match = found(place.value.path);
  const route = match?.route;
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const [problem, setProblem] = useState(/** @type {unknown} */ (null));
  const [, again] = useState(0);
  const first = useRef(true);
  const view = route && (route.view ?? loaded.get(route.path));

  useEffect(() => {
    setProblem(null);
    if (first.current) first.current = false;
    else main.current?.focus({ preventScroll: true });
  }, [place.value.path]);
  useEffect(() => {
    if (!route?.load || loaded.has(route.path)) return;
    let left = false;
    route.load().then(
      (view) => (loaded.set(route.path, view), left || again((n) => n + 1)),
      (error) => left || setProblem(error),
    );
    return () => void (left = true);
  }, [route]);
  useEffect(() => {
    document.title = `${environment.value ?? ""} · ${route ? t(route.title) : t("No existe")}`;
  }, [route, environment.value, language.value]);

  const shown = !match
    ? html`<div class="empty"><h1>${t("Esta página no existe")}</h1><a class="button" href=${to("/")}>${t("Ir a Inicio")}</a></div>`
    : problem
      ? html`<${Trouble} problem=${problem} retry=${() => location.reload()} />`
      : view
        ? html`<${Boundary} key=${place.value.path}><${view} ...${match.params} /><//>`
        : html`<${Skeleton} rows=${6} />`;
  return html`<main id="main" tabindex="-1" ref=${main}>${shown}</main>`;
}

/** Shows a pending retry with a countdown. */
function Waiting() {
  const until = waiting.value?.until ?? 0;
  const seconds = useCountdown(until);
  const status = waiting.value?.status;
  return html`<div class="toast" role="status">${
    status === 429
      ? html`<p><${Icon} name="clock" />${t("Demasiadas consultas seguidas. Seguimos en {n} s.", { n: seconds })}</p>`
      : status
        ? html`<p><${Icon} name="clock" />${t("El servicio no pudo responder. Intentamos de nuevo en {n} s.", { n: seconds })}</p>`
        : null
  }</div>`;
}

const helpShown = signal(false);
/** @type {[string, import("./words.js").Word][]} */
const KEYS = [
  ["/", "Buscar un comprobante"],
  ["n", "Emitir"],
  ["g i", "Ir a Inicio"],
  ["g c", "Ir a Comprobantes"],
  ["g r", "Ir a Recibidos"],
  ["?", "Esta lista"],
];

function Help() {
  if (!helpShown.value) return null;
  const close = () => void (helpShown.value = false);
  return html`<${Dialog} title=${t("Teclas")} close=${close}>
    <dl class="pairs">${KEYS.map(([keys, word]) => html`<div><dt><kbd>${keys}</kbd></dt><dd>${t(word)}</dd></div>`)}</dl>
    <div class="actions"><button type="button" class="button main" onClick=${close}>${t("Cerrar")}</button></div>
  <//>`;
}

function useKeys() {
  useEffect(() => {
    let before = 0;
    /** @param {KeyboardEvent} event */
    const press = (event) => {
      const target = event.target;
      if (event.ctrlKey || event.metaKey || event.altKey || !key.peek() || document.querySelector("dialog[open]")) return;
      if (target instanceof Element && target.closest("input, select, textarea, [contenteditable]")) return;
      const after_g = Date.now() - before < 1000;
      before = event.key === "g" ? Date.now() : 0;
      if (after_g && event.key === "i") go("/");
      else if (after_g && event.key === "c") go("/comprobantes");
      else if (after_g && event.key === "r") go("/recibidos");
      else if (event.key === "n") go("/emitir");
      else if (event.key === "?") helpShown.value = true;
      else if (event.key === "/") {
        if (place.peek().path !== "/comprobantes") go("/comprobantes");
        setTimeout(() => document.getElementById("search")?.focus());
      } else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}
