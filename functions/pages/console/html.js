// Templates without a compiler: html`<p>${text}</p>`. A value is always text, never markup.
import { h } from "preact";
import htm from "htm";

export const html = htm.bind(h);
