// Icons on a 24 × 24 grid, modelled on Lucide (ISC licence, see README.md).
import { html } from "./html.js";

export const paths = {
  home: "M3 11 12 4l9 7M5 9.5V20h14V9.5M10 20v-6h4v6",
  list: "M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h7",
  plus: "M12 5v14M5 12h14",
  inbox: "M3 13h5l1.5 3h5L16 13h5M3 13l3-8h12l3 8v6H3z",
  company: "M4 21V5l8-2v18M12 9h8v12M3 21h18M8 8v.01M8 12v.01M8 16v.01M16 13v.01M16 17v.01",
  numbers: "M10 4 8 20M16 4l-2 16M4 9h16M3 15h16",
  seal: "M12 3l7 3v6c0 4-3 7.5-7 9-4-1.5-7-5-7-9V6zM9 12l2 2 4-4",
  hook: "M9 17a4 4 0 1 1-3-6.9M10 8a3.5 3.5 0 1 1 5 3.2L17 15M9 17h6.5M18 19a2.5 2.5 0 1 0-1-4",
  key: "M15 9a4 4 0 1 1-3.9-4A4 4 0 0 1 15 9zM10 12l-6 6v3h3l1-1v-2h2l2-2M11 9v.01",
  pulse: "M3 12h4l3 8 4-16 3 8h4",
  archive: "M3 4h18v4H3zM5 8v12h14V8M10 12h4",
  more: "M5 12v.01M12 12v.01M19 12v.01",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l5 5",
  check: "M5 12.5 10 17l9-10",
  cross: "M6 6l12 12M18 6 6 18",
  alert: "M12 4 2.5 20h19zM12 10v4M12 17v.01",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3 2",
  arrow: "M5 12h14M13 6l6 6-6 6",
  right: "M9 6l6 6-6 6",
  down: "M12 4v11M7 11l5 5 5-5M4 20h16",
  print: "M7 9V3h10v6M7 18H4V9h16v9h-3M7 14h10v7H7z",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  trash: "M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  out: "M10 4H5v16h5M15 8l4 4-4 4M19 12H9",
  pause: "M8 5v14M16 5v14",
  ban: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM6 6l12 12",
  note: "M6 3h9l4 4v14H6zM9 14l3-3 3 3M12 11v7",
};

/** @param {{ name: keyof typeof paths, class?: string }} props */
export const Icon = ({ name, class: more = "" }) =>
  html`<svg class=${`icon ${more}`} viewBox="0 0 24 24" aria-hidden="true" focusable="false"><path d=${paths[name]} /></svg>`;
