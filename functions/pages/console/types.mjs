// Writes types.d.ts from the OpenAPI document: the response type of each GET, by path.
import { readFileSync, writeFileSync } from "node:fs";

const document = JSON.parse(readFileSync(new URL("../../../infra/openapi/public-v1.json", import.meta.url), "utf8"));
const schemas = document.components.schemas;
const wanted = new Set();

function type(schema) {
  if (!schema || Object.keys(schema).length === 0) return "any";
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    wanted.add(name);
    return name;
  }
  const parts = schema.oneOf ?? schema.anyOf;
  if (parts) return parts.map(type).join(" | ");
  if (schema.allOf) return schema.allOf.map((part) => `(${type(part)})`).join(" & ");
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" | ");
  if (Array.isArray(schema.type)) return schema.type.map((one) => type({ ...schema, type: one })).join(" | ");
  switch (schema.type) {
    case "array":
      return `Array<${type(schema.items)}>`;
    case "integer":
    case "number":
      return "number";
    case "string":
    case "boolean":
    case "null":
      return schema.type;
    case "object": {
      const members = Object.entries(schema.properties ?? {}).map(([name, of]) => `${JSON.stringify(name)}${schema.required?.includes(name) ? "" : "?"}: ${type(of)}`);
      if (schema.additionalProperties && typeof schema.additionalProperties === "object") members.push(`[name: string]: ${type(schema.additionalProperties)}`);
      return members.length ? `{ ${members.join("; ")} }` : "any";
    }
    default:
      return "any";
  }
}

const gets = [];
for (const [path, operations] of Object.entries(document.paths)) {
  const schema = operations.get?.responses?.["200"]?.content?.["application/json"]?.schema;
  if (path.startsWith("/api/v1/") && schema) gets.push(`  ${JSON.stringify(path.slice(8))}: ${type(schema)};`);
}
const declared = new Map();
for (const name of wanted) if (!declared.has(name)) declared.set(name, `export type ${name} = ${type(schemas[name])};`);
const lines = ["// Written by types.mjs from infra/openapi/public-v1.json.", "export interface Gets {", ...gets, "}", ...[...declared.values()].sort()];
writeFileSync(new URL("types.d.ts", import.meta.url), `${lines.join("\n")}\n`);
