// Client of @hey-api/openapi-ts: issues the requests, compares the sent bodies with the given ones, and reads a
// receipt. Arguments: URL and key. `requests` contains the requests as literals, so that the compiler checks each
// against its type.

import { strict as assert } from "node:assert";
import { issue, listReceipts, read } from "./client";
import { client } from "./client/client.gen";
import { requests } from "./requests";

async function main() {
  const [baseUrl, key] = process.argv.slice(2);
  let sent: unknown;
  client.setConfig({ baseUrl, auth: key });
  client.interceptors.request.use(async (request) => {
    sent = request.body === null ? undefined : await request.clone().json();
    return request;
  });
  let last;
  for (const body of requests) {
    const { data, error } = await issue({ body });
    assert.deepEqual(sent, body);
    assert(data && "public_id" in data, JSON.stringify(error));
    assert.equal(data.ecf_type, body.ecf_type);
    last = data;
  }
  assert(last);
  const found = await read({ path: { public_id: last.public_id } });
  assert.equal(found.data?.encf, last.encf);
  const page = await listReceipts({ query: { limit: 10 } });
  assert(page.data?.items.some((item) => item.public_id === last.public_id));
  const missing = await read({ path: { public_id: "nothing" } });
  assert.equal(missing.response?.status, 404);
  console.log(`@hey-api/openapi-ts: ${requests.length} requests were sent as given and issued`);
}

void main();
