// usage: ECF_API=… ECF_KEY=… node issue.mjs < invoice.json
import { readFileSync } from "node:fs";

const response = await fetch(`${process.env.ECF_API}/api/v1/ecf`, {
  method: "POST",
  headers: { "X-API-Key": process.env.ECF_KEY, "Content-Type": "application/json" },
  body: readFileSync(0),
  signal: AbortSignal.timeout(30_000),
});
const answer = await response.text();
if (!response.ok) {
  console.error(`${response.status}: ${answer}`);
  process.exit(1);
}
console.log(answer);
