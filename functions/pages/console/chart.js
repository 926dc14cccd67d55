// Stacked bars of 30 days, with a table for screen readers.
import { html } from "./html.js";
import { count } from "./money.js";
import { civil } from "./time.js";
import { t } from "./words.js";

/** @typedef {{ date: string, created: number, states: Record<string, number> }} Day */

const WIDTH = 720;
const HEIGHT = 190;
const FOOT = 22;

/** @param {{ days: Day[] }} props */
export function Days({ days }) {
  const kinds = [
    { name: t("Aceptados"), class: "good", of: (/** @type {Day} */ day) => (day.states.accepted ?? 0) },
    { name: t("Condicionales"), class: "fair", of: (/** @type {Day} */ day) => (day.states.conditionally_accepted ?? 0) },
    { name: t("Rechazados"), class: "poor", of: (/** @type {Day} */ day) => (day.states.rejected ?? 0) },
  ];
  const most = Math.max(1, ...days.map((day) => kinds.reduce((sum, kind) => sum + kind.of(day), 0)));
  const step = WIDTH / Math.max(1, days.length);
  const scale = (HEIGHT - FOOT) / most;
  return html`
    <figure class="chart">
      <svg viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        ${days.map((day, index) => {
          let top = HEIGHT - FOOT;
          return html`<g>${kinds.map((kind) => {
            const height = kind.of(day) * scale;
            top -= height;
            return height > 0 && html`<rect class=${kind.class} x=${index * step + step * 0.15} y=${top} width=${step * 0.7} height=${height} rx="2" />`;
          })}${index % 7 === 0 && html`<text x=${index * step + step / 2} y=${HEIGHT - 6}>${day.date.slice(8)}</text>`}</g>`;
        })}
        <line x1="0" x2=${WIDTH} y1=${HEIGHT - FOOT} y2=${HEIGHT - FOOT} />
      </svg>
      <figcaption>${kinds.map((kind) => html`<span class=${kind.class}>${kind.name}</span>`)}</figcaption>
      <div class="unseen"><table><caption>${t("Últimos 30 días")}</caption><tbody>
        ${days.filter((day) => day.created).map((day) => html`<tr><th scope="row">${civil(day.date)}</th>${kinds.map((kind) => html`<td>${kind.name}: ${count(kind.of(day))}</td>`)}</tr>`)}
      </tbody></table></div>
    </figure>
  `;
}
