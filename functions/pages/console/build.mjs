// Bundles the console into ../assets/console, with hashed names and gzip, and writes the function's table of files.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
export const out = join(here, "../assets/console");
const BUDGET = { whole: 90 * 1024, first: 40 * 1024 };

const built = await build({
  absWorkingDir: here,
  entryPoints: ["main.js", "console.css"],
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2022", "chrome123", "firefox120", "safari17.5"],
  minify: true,
  legalComments: "none",
  charset: "utf8",
  outdir: out,
  entryNames: "[name]-[hash]",
  chunkNames: "[name]-[hash]",
  write: false,
  metafile: true,
});

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const files = [];
const sizes = {};

// The gzip header contains no time, and the system byte is fixed: the same sources give the same bytes on every machine.
function packed(bytes) {
  const made = gzipSync(bytes, { level: 9 });
  made[9] = 255;
  return made;
}

function put(name, bytes) {
  const small = packed(bytes);
  writeFileSync(join(out, `${name}.gz`), small);
  files.push(name);
  sizes[name] = small.length;
}

const names = {};
for (const { path, contents } of built.outputFiles) {
  const name = basename(path);
  put(name, contents);
  const entry = Object.entries(built.metafile.outputs).find(([output]) => basename(output) === name)?.[1].entryPoint;
  if (entry === "main.js") names["main.js"] = name;
  if (entry === "console.css") names["console.css"] = name;
}
const icon = readFileSync(join(here, "icon.svg"));
names["icon.svg"] = `icon-${createHash("sha256").update(icon).digest("hex").slice(0, 8).toUpperCase()}.svg`;
put(names["icon.svg"], icon);

// The files of a first visit: the entry and its static imports.
function first(name, seen = new Set()) {
  if (seen.has(name)) return seen;
  seen.add(name);
  const output = Object.entries(built.metafile.outputs).find(([path]) => basename(path) === name)?.[1];
  for (const { path, kind } of output?.imports ?? []) if (kind === "import-statement") first(basename(path), seen);
  return seen;
}
const scripts = [...first(names["main.js"])];

// The page preloads the static imports of its script, so that they are fetched in parallel.
const preloads = scripts.slice(1).map((name) => `<link rel="modulepreload" href="{up}console/assets/${name}">`);
let page = readFileSync(join(here, "index.html"), "utf8").replace("{preloads}", preloads.join("\n"));
for (const [name, hashed] of Object.entries(names)) page = page.replaceAll(`{${name}}`, hashed);
writeFileSync(join(out, "index.html"), page);

const rows = files.sort().map((name) => `    (\n        "${name}",\n        include_bytes!("../assets/console/${name}.gz"),\n    ),\n`);
const table = `//! The files of the console, written by \`console/build.mjs\`: name and bytes, compressed by gzip.

pub(crate) const FILES: &[(&str, &[u8])] = &[
${rows.join("")}];
`;
mkdirSync(join(here, "../src"), { recursive: true });
writeFileSync(join(here, "../src/files.rs"), table);

const sum = (list) => list.reduce((sum, name) => sum + sizes[name], 0);
const at_first = sum(scripts);
const whole = sum(Object.keys(sizes));
for (const [name, size] of Object.entries(sizes)) console.log(`${String(size).padStart(7)}  ${name}`);
console.log(`first script ${at_first} of ${BUDGET.first}, whole console ${whole} of ${BUDGET.whole} (${readdirSync(out).length} files)`);
if (at_first > BUDGET.first || whole > BUDGET.whole) process.exit(1);
