// Empresa: profile, published addresses, settings, and the print design.
import { useEffect, useState } from "preact/hooks";
import { file, get, send } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { Print } from "../pdf.js";
import { company } from "../session.js";
import { environmentWords, rncText, typeName } from "../states.js";
import { Card, Copy, Field, Loaded, may, Page, Trouble, useAction, useLoad } from "../ui.js";
import { t } from "../words.js";

/** @typedef {import("../words.js").Word} Word */

export function Company() {
  const from = useLoad((signal) => get("client/company", { signal }), []);
  useEffect(() => {
    if (from.data) company.value = from.data;
  }, [from.data]);
  return html`<${Page} title=${t("Empresa")}>
    <${Loaded} from=${from} rows=${6}>${(/** @type {any} */ profile) => html`
      <${Profile} profile=${profile} set=${from.set} />
      <${Addresses} profile=${profile} />
      <${Settings} profile=${profile} set=${from.set} />
      <${Design} />`}<//>
  <//>`;
}

const CHANGEABLE = /** @type {[string, Word, string][]} */ ([
  ["trade_name", "Nombre comercial", "text"],
  ["address", "Dirección", "text"],
  ["email", "Correo", "email"],
  ["phone", "Teléfono", "tel"],
]);

/** @param {{ profile: any, set: (profile: any) => void }} props */
function Profile({ profile, set }) {
  const [form, setForm] = useState(/** @type {Record<string, string> | null} */ (null));
  const saving = useAction(async () => {
    const body = Object.fromEntries(CHANGEABLE.filter(([name]) => (form?.[name] ?? "") !== (profile[name] ?? "")).map(([name]) => [name, form?.[name]?.trim() || null]));
    if (Object.keys(body).length) set((await send("PATCH", "client/company", { body })).data);
    setForm(null);
  });
  const submit = (/** @type {Event} */ event) => (event.preventDefault(), saving.run());
  const edit = may("full") && !form && html`<button type="button" class="button small" onClick=${() => setForm(Object.fromEntries(CHANGEABLE.map(([name]) => [name, profile[name] ?? ""])))}>${t("Cambiar")}</button>`;
  return html`<${Card} title=${t("Perfil")} aside=${edit}>
    <dl class="pairs"><div><dt>${t("Razón social")}</dt><dd>${profile.name}</dd></div><div><dt>RNC</dt><dd class="mono">${rncText(profile.rnc)}<${Copy} text=${profile.rnc} label="RNC" /></dd></div>
      ${!form && CHANGEABLE.map(([name, word]) => html`<div><dt>${t(word)}</dt><dd>${profile[name] || html`<span class="muted">—</span>`}</dd></div>`)}
      <div><dt>${t("Emite")}</dt><dd>${profile.active_ncf_types.map(typeName).join(", ") || "—"}</dd></div></dl>
    ${form && html`<form onSubmit=${submit}><div class="fields">${CHANGEABLE.map(([name, word, type]) => html`<${Field} label=${t(word)}>${(/** @type {any} */ ids) => html`<input ...${ids} type=${type} required=${name === "email"} value=${form[name]} onInput=${(/** @type {any} */ event) => setForm({ ...form, [name]: event.target.value })} />`}<//>`)}</div>
      ${saving.problem && html`<${Trouble} problem=${saving.problem} />`}
      <div class="actions"><button type="button" class="button" disabled=${saving.busy} onClick=${() => (setForm(null), saving.clear())}>${t("Volver")}</button><button class="button main" disabled=${saving.busy}>${saving.busy ? t("Un momento…") : t("Guardar")}</button></div></form>`}
  <//>`;
}

/** @param {{ profile: any }} props */
const Addresses = ({ profile }) => html`<${Card} title=${t("Direcciones publicadas")}>
  <p class="muted">${t("Regístrelas en la Oficina Virtual de la DGII: por ellas le llegan comprobantes y aprobaciones.")}</p>
  ${(profile.published_addresses ?? []).map((/** @type {any} */ one) => html`<h3>${environmentWords(one.environment)?.name ?? one.environment}</h3><dl class="pairs">
    ${[[t("Recepción"), one.url_recepcion], [t("Aprobación"), one.url_aceptacion], [t("Opcional"), one.url_opcional]].map(([label, url]) => html`<div><dt>${label}</dt><dd class="mono break">${url}<${Copy} text=${url} label=${label} /></dd></div>`)}</dl>`)}
<//>`;

/** The boolean settings with their labels. @type {[string, Word, Word?][]} */
const SWITCHES = [
  ["hold_notes", "Retener las notas hasta que su comprobante tenga veredicto"],
  ["deliver_45", "Entregar también los gubernamentales (45) al comprador"],
  ["approve_accepted_only", "Aprobar solo recibidos que la DGII aceptó"],
  ["reception_token", "Exigir identificación a quien envía comprobantes"],
];

/** @param {{ profile: any, set: (profile: any) => void }} props */
function Settings({ profile, set }) {
  const saving = useAction(async (/** @type {any} */ settings) => set((await send("PATCH", "client/company", { body: { settings } })).data));
  const { settings } = profile;
  const off = !may("full") || saving.busy;
  /** @param {string} name @param {string} label @param {string} unit */
  const amount = (name, label, unit) => html`<${Field} label=${label} help=${unit}>${(/** @type {any} */ ids) => html`<input ...${ids} type="number" min="0" disabled=${off} value=${settings[name]} onChange=${(/** @type {any} */ event) => event.target.value !== "" && saving.run({ [name]: Number(event.target.value) })} />`}<//>`;
  return html`<${Card} title=${t("Reglas")}>
    <fieldset class="checks bare"><legend class="unseen">${t("Reglas")}</legend>
      ${SWITCHES.map(([name, word]) => html`<label><input type="checkbox" disabled=${off} checked=${settings[name]} onChange=${(/** @type {any} */ event) => saving.run({ [name]: event.target.checked })} /> ${t(word)}</label>`)}</fieldset>
    <div class="fields">
      <${Field} label=${t("Lo que la DGII aceptaría con observaciones")}>${(/** @type {any} */ ids) => html`<select ...${ids} disabled=${off} value=${settings.on_conditional ?? ""} onChange=${(/** @type {any} */ event) => saving.run({ on_conditional: event.target.value || null })}><option value="">${t("Según el ambiente")}</option><option value="refuse">${t("No se emite")}</option><option value="warn">${t("Se emite con aviso")}</option></select>`}<//>
      ${amount("sequence_alert_remaining", t("Avisar cuando queden pocos números"), t("números"))}
      ${amount("sequence_alert_days", t("Avisar antes de que venza una secuencia"), t("días"))}
    </div>
    ${saving.problem && html`<${Trouble} problem=${saving.problem} />`}
  <//>`;
}

function Design() {
  const from = useLoad((signal) => get("client/company/design", { signal }), []);
  return html`<${Loaded} from=${from} rows=${3}>${(/** @type {any} */ design) => html`<${Look} design=${design} set=${from.set} />`}<//>`;
}

/** @param {{ design: any, set: (design: any) => void }} props */
function Look({ design, set }) {
  const [color, setColor] = useState(design.color ?? "#1d57c9");
  const [footer, setFooter] = useState(design.footer ?? "");
  const [logo, setLogo] = useState("");
  const last = useLoad((signal) => get("client/documents", { query: { status: "accepted", limit: 1 }, signal }), []);
  const sample = /** @type {any} */ (last.data?.items[0]);
  const saving = useAction(async (/** @type {any} */ body) => set((await send("PATCH", "client/company/design", { body })).data));
  const drawing = useAction(async (/** @type {File | null} */ image) => {
    const { data } = image ? await send("PUT", "client/company/design/logo", { body: image, type: image.type }) : await send("DELETE", "client/company/design/logo");
    set(data);
  });
  const mark = design.logo?.sha256 ?? "";
  useEffect(() => {
    if (!mark) return setLogo("");
    let url = "";
    file("client/company/design/logo")
      .then(async ({ answer }) => setLogo((url = URL.createObjectURL(await answer.blob()))))
      .catch(() => {});
    return () => URL.revokeObjectURL(url);
  }, [mark]);
  const submit = (/** @type {Event} */ event) => (event.preventDefault(), saving.run({ color, footer: footer.trim() || null }));
  const off = !may("full");
  return html`<div class="two wide-left"><${Card} title=${t("Diseño del impreso")}>
    <form onSubmit=${submit}><div class="fields">
      <${Field} label=${t("Color")}>${(/** @type {any} */ ids) => html`<input ...${ids} type="color" disabled=${off} value=${color} onInput=${(/** @type {any} */ event) => setColor(event.target.value)} />`}<//>
      <${Field} label=${t("Logo")} help=${t("PNG o JPEG")}>${(/** @type {any} */ ids) => html`<input ...${ids} type="file" disabled=${off || drawing.busy} accept="image/png,image/jpeg" onChange=${(/** @type {any} */ event) => event.target.files[0] && drawing.run(event.target.files[0])} />`}<//>
      <${Field} label=${t("Pie de página")} class="whole">${(/** @type {any} */ ids) => html`<textarea ...${ids} rows="2" disabled=${off} value=${footer} onInput=${(/** @type {any} */ event) => setFooter(event.target.value)}></textarea>`}<//></div>
      ${logo && html`<p class="logo"><img src=${logo} alt=${t("Logo")} /> ${!off && html`<button type="button" class="button small" disabled=${drawing.busy} onClick=${() => drawing.run(null)}><${Icon} name="trash" />${t("Quitar el logo")}</button>`}</p>`}
      ${[saving, drawing].map(({ problem }) => problem && html`<${Trouble} problem=${problem} />`)}
      ${!off && html`<button class="button main" disabled=${saving.busy}>${saving.busy ? t("Un momento…") : t("Guardar el diseño")}</button>`}</form><//>
    ${sample ? html`<${Print} path="ecf/{public_id}/pdf" params=${{ public_id: sample.public_id }} version=${`${design.updated_at}${mark}`} name=${sample.encf} refresh=${true} />` : html`<${Card}><p class="muted">${t("La vista previa usa su último comprobante aceptado.")}</p><//>`}
  </div>`;
}
