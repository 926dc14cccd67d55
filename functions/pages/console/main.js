// Starts the console.
import "@preact/signals";
import { render } from "preact";
import { html } from "./html.js";
import { follow } from "./router.js";
import { restore } from "./session.js";
import { App } from "./shell.js";
import { restoreTheme } from "./theme.js";
import { restoreLanguage } from "./words.js";

restore(); // Before anything is fetched: a key in the address must not stay there.
restoreTheme();
follow();
addEventListener("hashchange", restore); // A link with a key, opened in this very tab.
await restoreLanguage();
const root = /** @type {HTMLElement} */ (document.getElementById("app"));
root.replaceChildren();
render(html`<${App} />`, root);
