// Parses fiscal documents. This is the only parser call of the console, and it never parses HTML.
// @ts-ignore: `trustedTypes` is not in every browser, and not in TypeScript's library.
const policy = globalThis.trustedTypes?.createPolicy("xml", { createHTML: (/** @type {string} */ text) => text });

/** @param {string} text */
export function parse(text) {
  const tree = new DOMParser().parseFromString(policy ? policy.createHTML(text) : text, "application/xml");
  if (tree.querySelector("parsererror")) throw new Error("not XML");
  return new Reader(tree.documentElement);
}

class Reader {
  /** @param {Element} element */
  constructor(element) {
    this.element = element;
  }

  /** The elements at a path such as `DetallesItems/Item`. @param {string} path @returns {Reader[]} */
  all(path) {
    let here = [this.element];
    for (const name of path.split("/")) here = here.flatMap((element) => [...element.children].filter((child) => child.localName === name));
    return here.map((element) => new Reader(element));
  }

  /** The text at a path, or an empty string. @param {string} path */
  text(path) {
    return this.all(path)[0]?.element.textContent?.trim() ?? "";
  }

  /** The distinct paths of all elements that contain text. @returns {string[]} */
  paths(before = "") {
    const children = [...this.element.children];
    if (children.length === 0) return [before];
    return [...new Set(children.flatMap((child) => new Reader(child).paths(before ? `${before}/${child.localName}` : child.localName)))];
  }
}
