// Issues a receipt with the generated TypeScript types and reads it back. Arguments: address, key, the payload's file.

import { strict as assert } from "node:assert";
import { readFileSync } from "node:fs";
import createClient from "openapi-fetch";
import type { components, paths } from "./ecf.js";

const [base, key, file] = process.argv.slice(2);
const client = createClient<paths>({ baseUrl: base, headers: { "X-API-Key": key } });
const payload: components["schemas"]["Payload31"] = JSON.parse(readFileSync(file, "utf8"));

const created = await client.POST("/api/v1/ecf", {
  params: { query: { on_conditional: "refuse" } },
  body: { idempotency_key: "generated-typescript", ecf_type: "31", external_id: "generated-typescript", payload },
});
assert(created.data && "public_id" in created.data, JSON.stringify(created.error));
const { public_id, encf } = created.data;
const found = await client.GET("/api/v1/ecf/{public_id}", { params: { path: { public_id } } });
assert.equal(found.data?.encf, encf);
const page = await client.GET("/api/v1/ecf", { params: { query: { limit: 10 } } });
assert(page.data?.items.some((item) => item.public_id === public_id));
const signed = await client.GET("/api/v1/ecf/{public_id}/xml", { params: { path: { public_id } }, parseAs: "text" });
assert(signed.data?.includes(`<eNCF>${encf}</eNCF>`), "the XML is another receipt's");
const missing = await client.GET("/api/v1/ecf/{public_id}", { params: { path: { public_id: "nothing" } } });
assert.equal(missing.response.status, 404);
// @ts-expect-error: what the contract does not name is not taken.
await client.GET("/api/v1/ecf", { params: { query: { limite: 10 } } });
console.log(`TypeScript: ${encf} issued, read, listed, downloaded`);
