// The viewer over the contract of this very deployment. Addresses are relative to the page, so that it works below any stage.
// A key that is typed in stays in the page's memory.
const base = new URL(".", location.href).href.replace(/\/$/, "");
const contract = await (await fetch(`${base}/openapi/public-v1.json`)).text();
// A receipt of an old day is refused, so the examples are of today.
const today = new Intl.DateTimeFormat("en-GB", { timeZone: "America/Santo_Domingo", day: "2-digit", month: "2-digit", year: "numeric" })
  .format(new Date())
  .replaceAll("/", "-");

const document = JSON.parse(contract.replaceAll(JSON.parse(contract)["x-example-day"], today));
// The page may be read through a proxy, and may call no other address than its own.
document.servers = [{ url: base }];

// The viewer's own placeholder looks like a key.
const THEIRS = '[placeholder="QUxMIFlPVVIgQkFTRSBBUkUgQkVMT05HIFRPIFVT"]';
const name = () => {
  for (const field of globalThis.document.querySelectorAll(THEIRS)) field.setAttribute("placeholder", "Su clave: ecf_test_…");
};
new MutationObserver(name).observe(globalThis.document.body, { childList: true, subtree: true });

Scalar.createApiReference("#reference", {
  content: document,
  authentication: { preferredSecurityScheme: "api_key" },
  persistAuth: false,
  defaultHttpClient: { targetKey: "shell", clientKey: "curl" },
  hideClientButton: true,
  showDeveloperTools: "never",
  telemetry: false,
  withDefaultFonts: false,
  agent: { disabled: true },
  mcp: { disabled: true },
});
