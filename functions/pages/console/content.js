// The content of a document as the API shows it: members, lists and texts by the DGII's element names.

/** @typedef {{ all: (path: string) => Tree[], text: (path: string) => string, paths: (before?: string) => string[] }} Tree */

/** @implements {Tree} */
export class Content {
  /** @param {any} node */
  constructor(node) {
    this.node = node;
  }

  /** The elements at a path such as `DetallesItems/Item`. @param {string} path @returns {Content[]} */
  all(path) {
    let here = [this.node];
    for (const name of path.split("/")) here = here.flatMap((node) => node?.[name] ?? []);
    return here.map((node) => new Content(node));
  }

  /** The text at a path, or an empty string. @param {string} path */
  text(path) {
    const node = this.all(path)[0]?.node ?? "";
    return typeof node === "object" ? "" : String(node).trim();
  }

  /** The distinct paths of all values. @returns {string[]} */
  paths(before = "") {
    if (typeof this.node !== "object") return [before];
    const members = Object.entries(this.node ?? {}).filter(([, value]) => value !== null);
    return [...new Set(members.flatMap(([name, value]) => [value].flat().flatMap((one) => new Content(one).paths(before ? `${before}/${name}` : name))))];
  }
}
