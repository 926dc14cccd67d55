// Más: the entries of the navigation that have no tab on a phone.
import { html } from "../html.js";
import { Icon } from "../icons.js";
import { to } from "../router.js";
import { routes } from "../routes.js";
import { Preferences } from "../shell.js";
import { company } from "../session.js";
import { rncText } from "../states.js";
import { Card, Page } from "../ui.js";
import { t } from "../words.js";

export function More() {
  const of = company.value;
  return html`<${Page} title=${t("Más")}>
    ${of && html`<p class="muted">${of.name} · RNC ${rncText(of.rnc)}</p>`}
    <${Card} class="flush"><ul class="links">${routes
      .filter(({ icon, group }) => icon && group)
      .map(({ path, icon, title }) => html`<li><a href=${to(path)}><${Icon} name=${icon} /><span>${t(title)}</span><${Icon} name="right" class="muted" /></a></li>`)}</ul><//>
    <${Preferences} />
  <//>`;
}
