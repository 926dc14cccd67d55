// Serves the built console with the function's headers, in front of a local system. Usage: node dev.mjs [port] [api]
import { readFileSync, readdirSync } from "node:fs";
import { createServer, request } from "node:http";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const assets = join(dirname(fileURLToPath(import.meta.url)), "../assets/console");
const [port = "8090", api = "http://127.0.0.1:8080"] = process.argv.slice(2);

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data: blob:",
  "connect-src 'self'",
  "frame-src blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types xml",
].join("; ");

const SAFETY = {
  "Content-Security-Policy": POLICY,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Opener-Policy": "same-origin",
};

const TYPES = { js: "text/javascript", css: "text/css", svg: "image/svg+xml" };

const server = createServer((asked, answer) => {
  const { pathname } = new URL(asked.url, "http://localhost");
  const asset = /^\/console\/assets\/([^/]+)$/.exec(pathname)?.[1];
  if (asset) {
    if (!readdirSync(assets).includes(`${asset}.gz`)) return void answer.writeHead(404, SAFETY).end();
    const headers = { ...SAFETY, "Content-Type": `${TYPES[asset.split(".").pop()]}; charset=utf-8`, "Content-Encoding": "gzip", "Cache-Control": "public, max-age=31536000, immutable" };
    return void answer.writeHead(200, headers).end(readFileSync(join(assets, `${asset}.gz`)));
  }
  if (/^\/console(\/[^.]*)?$/.test(pathname)) {
    const up = "../".repeat(pathname.split("/").length - 2) || "./";
    const page = readFileSync(join(assets, "index.html"), "utf8").replaceAll("{up}", up);
    return void answer.writeHead(200, { ...SAFETY, "Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-cache" }).end(page);
  }
  if (pathname === "/") return void answer.writeHead(302, { Location: "/console" }).end();
  if (!pathname.startsWith("/api/")) return void answer.writeHead(404, SAFETY).end();
  const { hostname, port } = new URL(api);
  const passed = request({ hostname, port, path: asked.url, method: asked.method, headers: { ...asked.headers, host: `${hostname}:${port}` } }, (came) => {
    answer.writeHead(came.statusCode ?? 502, came.headers);
    came.pipe(answer);
  });
  passed.on("error", () => answer.writeHead(502).end());
  asked.pipe(passed);
});
server.listen(Number(port), "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}/console`));
