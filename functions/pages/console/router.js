// Routing below `/console`. Links are real: a click with a modifier key opens another tab.
import { signal } from "@preact/signals";

const base = new URL("..", import.meta.url).pathname.replace(/\/$/, "");

const here = () => ({
  path: decodeURI(location.pathname.slice(base.length)).replace(/\/+$/, "") || "/",
  query: new URLSearchParams(location.search),
});

export const place = signal(here());

/** The address of a path, for `href`. @param {string} path */
export const to = (path) => base + (path === "/" ? "" : path);

/** @param {string} path @param {{ replace?: boolean }} [options] */
export function go(path, { replace = false } = {}) {
  history[replace ? "replaceState" : "pushState"](null, "", to(path));
  place.value = here();
  if (!replace) scrollTo(0, 0);
}

/** Changes members of the query; empty ones go. @param {Record<string, string | null | undefined>} changes @param {{ replace?: boolean }} [options] */
export function ask(changes, options) {
  const query = new URLSearchParams(place.peek().query);
  for (const [name, value] of Object.entries(changes)) value ? query.set(name, value) : query.delete(name);
  const text = query.toString();
  go(place.peek().path + (text ? `?${text}` : ""), options);
}

export function follow() {
  addEventListener("popstate", () => (place.value = here()));
  document.addEventListener("click", (event) => {
    if (event.defaultPrevented || event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download")) return;
    const url = new URL(link.href);
    if (url.origin !== location.origin || !(url.pathname + "/").startsWith(base + "/") || url.hash) return;
    event.preventDefault();
    go(url.pathname.slice(base.length) + url.search);
  });
}
