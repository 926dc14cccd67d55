// The table of views: path, title, place in the navigation. Views that a first visit does not need are loaded on demand.
import { Home } from "./views/home.js";
import { Receipt } from "./views/receipt.js";
import { Receipts } from "./views/receipts.js";

/** @typedef {import("./words.js").Word} Word */
/**
 * @typedef {object} Route
 * @property {string} path `{id}` takes one segment
 * @property {Word} title
 * @property {keyof typeof import("./icons.js").paths} [icon]
 * @property {Word} [group] its heading in the navigation; a route without an icon is not listed
 * @property {any} [view]
 * @property {() => Promise<any>} [load] loads the view when it is first opened
 */

/** @param {keyof typeof import("./views/later.js")} name */
const later = (name) => async () => (await import("./views/later.js"))[name];

/** @type {Route[]} */
export const routes = [
  { path: "/", title: "Inicio", icon: "home", view: Home },
  { path: "/comprobantes", title: "Comprobantes", icon: "list", view: Receipts },
  { path: "/comprobantes/{id}", title: "Comprobante", view: Receipt },
  { path: "/emitir", title: "Emitir", icon: "plus", load: later("Issue") },
  { path: "/recibidos", title: "Recibidos", icon: "inbox", load: later("Inbox") },
  { path: "/empresa", title: "Empresa", icon: "company", group: "Configuración", load: later("Company") },
  { path: "/secuencias", title: "Secuencias", icon: "numbers", group: "Configuración", load: later("Sequences") },
  { path: "/certificacion", title: "Certificación", icon: "check", group: "Configuración", load: later("Certification") },
  { path: "/certificado", title: "Certificado", icon: "seal", group: "Configuración", load: later("Certificate") },
  { path: "/webhooks", title: "Webhooks", icon: "hook", group: "Integración", load: later("Webhooks") },
  { path: "/webhooks/{id}", title: "Webhook", load: later("Webhook") },
  { path: "/claves", title: "Claves", icon: "key", group: "Integración", load: later("Keys") },
  { path: "/dgii", title: "Estado de la DGII", icon: "pulse", group: "Integración", load: later("Authority") },
  { path: "/auditoria", title: "Auditoría", icon: "archive", group: "Integración", load: later("Audit") },
  { path: "/mas", title: "Más", load: later("More") },
];

/** @param {string} path */
export function found(path) {
  for (const route of routes) {
    const pattern = new RegExp(`^${route.path.replace("{id}", "(?<id>[^/]+)")}$`);
    const match = pattern.exec(path);
    if (match) return { route, params: { ...match.groups } };
  }
  return null;
}
