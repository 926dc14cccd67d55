// Client with the types of openapi-typescript and with openapi-fetch: issues the requests, compares the sent bodies
// with the given ones, and reads a receipt. Arguments: URL and key. `requests.js` contains the requests as literals, so
// that the compiler checks each against its type.

import { strict as assert } from "node:assert";
import createClient from "openapi-fetch";
import type { components, paths } from "./ecf.js";
import { requests } from "./requests.js";

const [base, key] = process.argv.slice(2);
let sent: unknown;
const client = createClient<paths>({
  baseUrl: base,
  headers: { "X-API-Key": key },
  fetch: async (request: Request) => {
    sent = request.body === null ? undefined : await request.clone().json();
    return fetch(request);
  },
});

async function issued(body: components["schemas"]["IssueRequest"]) {
  const created = await client.POST("/api/v1/ecf", { params: { query: { on_conditional: "refuse" } }, body });
  assert.deepEqual(sent, body);
  assert(created.data && "public_id" in created.data, JSON.stringify(created.error));
  assert.equal(created.data.ecf_type, body.ecf_type);
  return created.data;
}

for (const request of requests) await issued(request);
// `ecf_type` selects the payload's type.
const note = requests.find((request) => request.ecf_type === "34");
assert.equal(note?.payload.InformacionReferencia.CodigoModificacion, 3);
const { public_id, encf } = await issued({ ...requests[0], idempotency_key: "once more" });
const found = await client.GET("/api/v1/ecf/{public_id}", { params: { path: { public_id } } });
assert.equal(found.data?.encf, encf);
const page = await client.GET("/api/v1/ecf", { params: { query: { limit: 10 } } });
assert(page.data?.items.some((item) => item.public_id === public_id));
const signed = await client.GET("/api/v1/ecf/{public_id}/xml", { params: { path: { public_id } }, parseAs: "text" });
assert(signed.data?.includes(`<eNCF>${encf}</eNCF>`), "the XML is another receipt's");
const missing = await client.GET("/api/v1/ecf/{public_id}", { params: { path: { public_id: "nothing" } } });
assert.equal(missing.response.status, 404);
// @ts-expect-error: a member outside the contract is rejected.
await client.GET("/api/v1/ecf", { params: { query: { limite: 10 } } });
// @ts-expect-error: an invoice does not have the indicator of a credit note.
requests[0].payload.Encabezado.IdDoc.IndicadorNotaCredito;
console.log(`openapi-typescript: ${requests.length} requests were sent as given and issued`);
