// Sign-in by API key.
import { useState } from "preact/hooks";
import { Problem, tried } from "../api.js";
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { expired, signIn } from "../session.js";
import { turnTheme } from "../theme.js";
import { Field, Trouble, useAction } from "../ui.js";
import { language, speak, t } from "../words.js";

export function SignIn() {
  const [text, setText] = useState("");
  const [missing, setMissing] = useState(false);
  const entering = useAction(async () => {
    const candidate = text.trim();
    await tried(candidate);
    signIn(candidate);
  });
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    setMissing(!text.trim());
    if (text.trim()) entering.run();
  };
  const refused = entering.problem instanceof Problem && entering.problem.isSignedOut;
  const error = missing ? t("Escriba la clave.") : refused ? t("La clave ya no sirve: es desconocida, venció o fue revocada.") : undefined;
  return html`
    <main class="signin" id="main">
      <form class="card" onSubmit=${submit} novalidate>
        <h1>${t("Comprobantes fiscales electrónicos")}</h1>
        ${expired.value && html`<div class="notice warn" role="status"><${Icon} name="key" /><div>${t("Entre de nuevo con una clave. Vuelve a la misma página, y lo que escribió sigue aquí.")}</div></div>`}
        <${Field} label=${t("Clave de API")} error=${error} help=${t("Se guarda solo en esta pestaña y se olvida al cerrarla.")}>
          ${(/** @type {any} */ ids) => html`<input ...${ids} class="mono" type="password" autocomplete="off" spellcheck=${false} autofocus placeholder="ecf_…" value=${text} onInput=${(/** @type {any} */ event) => (setText(event.target.value), setMissing(false), entering.clear())} />`}
        <//>
        ${entering.problem && !refused && html`<${Trouble} problem=${entering.problem} />`}
        <button class="button main wide" disabled=${entering.busy}>${entering.busy ? t("Un momento…") : t("Entrar")}</button>
        <div class="preferences">
          <button type="button" class="quiet" onClick=${turnTheme}><${Icon} name="moon" />${t("Claro u oscuro")}</button>
          <button type="button" class="quiet" lang=${language.value === "es" ? "en" : "es"} onClick=${() => speak(language.value === "es" ? "en" : "es")}>${language.value === "es" ? "English" : "Español"}</button>
        </div>
      </form>
    </main>
  `;
}
