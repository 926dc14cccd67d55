// The pages: path, place in the navigation, view. A view that few people open is a chunk of its own.
import { Home } from "./views/home.js";
import { Receipt } from "./views/receipt.js";
import { Receipts } from "./views/receipts.js";

/** @typedef {import("./words.js").Word} Word */
/**
 * @typedef {object} Route
 * @property {string} path `{id}` takes one segment
 * @property {Word} title
 * @property {keyof typeof import("./icons.js").paths} [icon]
 * @property {Word} [group] where it stands in the navigation; without an icon it does not
 * @property {any} [view]
 * @property {() => Promise<any>} [load] the view, when it is first opened
 */

/** @type {Route[]} */
export const routes = [
  { path: "/", title: "Inicio", icon: "home", view: Home },
  { path: "/comprobantes", title: "Comprobantes", icon: "list", view: Receipts },
  { path: "/comprobantes/{id}", title: "Comprobante", view: Receipt },
  { path: "/emitir", title: "Emitir", icon: "plus", load: async () => (await import("./views/issue.js")).Issue },
  { path: "/recibidos", title: "Recibidos", icon: "inbox", load: async () => (await import("./views/inbox.js")).Inbox },
  { path: "/empresa", title: "Empresa", icon: "company", group: "Configuración", load: async () => (await import("./views/company.js")).Company },
  { path: "/secuencias", title: "Secuencias", icon: "numbers", group: "Configuración", load: async () => (await import("./views/sequences.js")).Sequences },
  { path: "/certificado", title: "Certificado", icon: "seal", group: "Configuración", load: async () => (await import("./views/certificate.js")).Certificate },
  { path: "/webhooks", title: "Webhooks", icon: "hook", group: "Integración", load: async () => (await import("./views/webhooks.js")).Webhooks },
  { path: "/webhooks/{id}", title: "Webhook", load: async () => (await import("./views/webhooks.js")).Webhook },
  { path: "/claves", title: "Claves", icon: "key", group: "Integración", load: async () => (await import("./views/keys.js")).Keys },
  { path: "/dgii", title: "Estado de la DGII", icon: "pulse", group: "Integración", load: async () => (await import("./views/authority.js")).Authority },
  { path: "/auditoria", title: "Auditoría", icon: "archive", group: "Integración", load: async () => (await import("./views/audit.js")).Audit },
  { path: "/mas", title: "Más", load: async () => (await import("./views/more.js")).More },
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
