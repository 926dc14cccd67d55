// Estado de la DGII: whether the tax authority responds, and the impact on issuing.
import { get } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { environment } from "../session.js";
import { environmentWords } from "../states.js";
import { ago, moment } from "../time.js";
import { Card, Loaded, Page, Trouble, useAction, useLoad } from "../ui.js";
import { t } from "../words.js";

/** @typedef {import("../words.js").Word} Word */

const IMPACTS = /** @type {Record<string, { tone: string, name: Word, says: Word }>} */ ({
  none: { tone: "ok", name: "La DGII responde", says: "Lo que emite se envía enseguida." },
  partial: { tone: "warn", name: "La DGII responde a medias", says: "Puede emitir y entregar impresos. Parte de lo que emita espera, y se envía solo." },
  held: { tone: "bad", name: "La DGII no responde", says: "Puede emitir y entregar impresos: quedan en contingencia y se envían solos cuando vuelva." },
});
const REASONS = /** @type {Record<string, Word>} */ ({ maintenance: "Mantenimiento anunciado", unreachable: "No contesta a nuestras llamadas", reported: "Lo dice su página de estado" });

export function Authority() {
  const from = useLoad(
    async (signal) => {
      const [status, impact] = await Promise.all([get("taxauth/status", { signal }), get("taxauth/status/impact", { signal })]);
      return { status: /** @type {any} */ (status), impact: impact.items };
    },
    [],
    { every: 30_000 },
  );
  const asking = useAction(async () => {
    await get("taxauth/status/refresh");
    from.reload();
  });
  return html`<${Page} title=${t("Estado de la DGII")} actions=${html`<button type="button" class="button" disabled=${asking.busy} onClick=${asking.run}>${asking.busy ? t("Un momento…") : t("Preguntar ahora")}</button>`}>
    ${asking.problem && html`<${Trouble} problem=${asking.problem} />`}
    <${Loaded} from=${from}>${({ status, impact }) => html`
      <p class="muted">${status.checked_at ? t("Consultado {time}", { time: ago(status.checked_at) }) : t("Todavía no se ha consultado")}${status.problem ? ` · ${status.problem}` : ""}</p>
      ${[...status.environments].sort((one, other) => Number(other.environment === environment.value) - Number(one.environment === environment.value)).map((one) => html`<${One} key=${one.environment} of=${one} impact=${impact.find((/** @type {any} */ impact) => impact.environment === one.environment)} />`)}
    `}<//>
  <//>`;
}

/** @param {{ of: any, impact: any }} props */
function One({ of, impact }) {
  const known = IMPACTS[impact?.impact] ?? IMPACTS.none;
  const words = environmentWords(of.environment);
  return html`<${Card} title=${words?.name ?? of.environment} aside=${html`<span class=${`badge ${known.tone}`}><${Icon} name=${known.tone === "ok" ? "check" : "alert"} />${t(known.name)}</span>`}>
    <p>${t(known.says)} ${impact?.reason && impact.reason in REASONS ? `${t(REASONS[impact.reason])}.` : ""} ${impact?.held_until ? t("Al menos hasta {time}.", { time: moment(impact.held_until) }) : ""}</p>
    ${of.windows.length > 0 && html`<h3>${t("Mantenimientos anunciados")}</h3><ul>${of.windows.map((/** @type {any} */ window) => html`<li>${moment(window.starts_at)} – ${moment(window.ends_at)} ${window.active && html`<span class="badge warn">${t("ahora")}</span>`}</li>`)}</ul>`}
    ${of.services.length > 0 && html`<ul class="services">${of.services.map((/** @type {any} */ service) => html`<li><${Icon} name=${service.available ? "check" : "cross"} class=${service.available ? "good" : "bad"} />${service.servicio} <span class=${service.available ? "unseen" : "bad"}>${service.estatus}</span></li>`)}</ul>`}
  <//>`;
}
