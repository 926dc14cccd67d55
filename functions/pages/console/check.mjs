// Checks that types cannot express: unused translations, form fields that the contract lacks, states without labels, unsafe DOM calls.
import { readFileSync, readdirSync } from "node:fs";
import { FIELDS, LINE, RATES } from "./forms.js";
import { STATES, TYPES } from "./states.js";
import english from "./words.en.js";

const problems = [];
const here = new URL(".", import.meta.url);
const sources = [...readdirSync(here), ...readdirSync(new URL("views", here)).map((name) => `views/${name}`)].filter((name) => name.endsWith(".js") && name !== "words.en.js");
const texts = Object.fromEntries(sources.map((name) => [name, readFileSync(new URL(name, here), "utf8")]));

const all = Object.values(texts).join("\n");
for (const word of Object.keys(english)) if (!all.includes(JSON.stringify(word))) problems.push(`words.en.js: unused: ${JSON.stringify(word)}`);

const FORBIDDEN = /\b(innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML|document\.write|eval|new Function|parseFloat)\b|\bstyle=/;
for (const [name, text] of Object.entries(texts)) text.split("\n").forEach((line, at) => FORBIDDEN.test(line) && problems.push(`${name}:${at + 1}: ${line.trim()}`));

const document = JSON.parse(readFileSync(new URL("../../../infra/openapi/public-v1.json", here), "utf8"));
const schemas = document.components.schemas;
function resolved(schema) {
  while (schema?.$ref) schema = schemas[schema.$ref.split("/").pop()];
  return schema?.oneOf ? resolved(schema.oneOf.find(({ type }) => type !== "null")) : schema;
}
function at(schema, path) {
  for (const name of path.split("/")) {
    schema = resolved(schema);
    if (schema?.items) schema = resolved(schema.items);
    schema = schema?.properties?.[name];
  }
  return resolved(schema);
}
for (const type of TYPES) {
  const payload = resolved(schemas[`IssueRequest${type}`]).properties.payload;
  for (const { path, types, choices } of FIELDS) {
    const found = at(payload, path);
    if (types.includes(type) && !found) problems.push(`forms.js: a receipt of type ${type} has no ${path}`);
    for (const [value] of (types.includes(type) && found?.enum && choices) || []) if (!found.enum.map(String).includes(value)) problems.push(`forms.js: ${path} of type ${type} cannot be ${value}`);
  }
  const retained = { [LINE.itbis]: ["41"], [LINE.isr]: ["41", "47"] };
  for (const path of Object.values(LINE)) if ((retained[path]?.includes(type) ?? true) && !at(payload, `DetallesItems/Item/${path}`)) problems.push(`forms.js: a line of type ${type} has no ${path}`);
}
for (const type of Object.keys(RATES)) if (!TYPES.includes(type)) problems.push(`forms.js: ${type} is no type`);

const events = texts["views/webhooks.js"].match(/EVENTS = [^;]*/)[0];
for (const event of Object.keys(document.webhooks)) if (event !== "webhook.test" && !events.includes(`"${event}"`)) problems.push(`views/webhooks.js: no words for the event ${event}`);

const listed = document.paths["/api/v1/client/documents"].get.parameters.find(({ name }) => name === "status").schema;
for (const state of new Set(listed.pattern.match(/[a-z_]+/g))) if (!(state in STATES)) problems.push(`states.js: no words for ${state}`);

for (const problem of problems) console.error(problem);
console.log(`${Object.keys(english).length} texts, ${FIELDS.length} fields, ${sources.length} sources`);
process.exit(problems.length ? 1 : 0);
