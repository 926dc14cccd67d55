"""Texts that strangers control are shown as text: a hundred strings in every member that somebody else can fill."""

import json
import re

from browser import REFUSED, closed, fits, loaded, opened

MARKUP = [
    "<script>window.hit=1</script>",
    "<img src=x onerror=window.hit=1>",
    "<svg onload=window.hit=1>",
    "<iframe srcdoc='<script>parent.hit=1</script>'></iframe>",
    "<a href='javascript:window.hit=1'>pulse</a>",
    "javascript:window.hit=1",
    "\"><b>fuera</b>",
    "' onmouseover='window.hit=1",
    "${window.hit=1}",
    "{{window.hit=1}}",
    "]]><x/>",
    "&lt;b&gt;&amp;&#x3c;",
    "\u202eal revés\u202c",
    "\u2028separador\u2029",
    "=cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "+1",
    "-1",
    "x" * 2_000,
    "ñ́ẹ̀ 漢字 🧾",
]
STRINGS = [f"{text} {number}" for number in range(5) for text in MARKUP]
# Members whose text comes from somebody else.
FOREIGN = {"razon_social_comprador", "razon_social_emisor", "external_id", "error_message", "mensaje", "valor", "cause", "fix", "field", "reason", "response_excerpt", "paused_reason", "signer", "name", "trade_name", "address", "subject_cn", "issuer", "alias", "message", "estatus", "servicio", "detalle_motivo_rechazo", "url"}


def check(browser, console):
    page = console.page(browser)
    used = iter(STRINGS * 1_000)
    given = set()

    def foreign(value):
        if isinstance(value, dict):
            for name, member in value.items():
                if name in FOREIGN and (isinstance(member, str) or member is None):
                    value[name] = next(used)
                    given.add(value[name])
                elif name in ("NombreItem", "RazonSocialComprador"):
                    value[name] = "<img src=x onerror=window.hit=1>"
                else:
                    foreign(member)
        elif isinstance(value, list):
            for member in value:
                foreign(member)
        return value

    def answer(route):
        if route.request.method != "GET":
            return route.fallback()
        came = route.fetch()
        kind = came.headers.get("content-type", "")
        if "xml" in kind:
            return route.fulfill(response=came, body=re.sub("<(NombreItem|RazonSocialComprador)>[^<]*", lambda found: f"<{found[1]}>&lt;img src=x onerror=window.hit=1&gt;", came.text()))
        if "json" not in kind or came.status != 200:
            return route.fulfill(response=came)
        body = foreign(came.json())
        for item in body.get("items", []) if isinstance(body, dict) else []:
            if "ecf_type" in item and "razon_social_comprador" not in item:
                item["razon_social_comprador"] = next(used)
                given.add(item["razon_social_comprador"])
        return route.fulfill(response=came, body=json.dumps(body))

    page.route("**/api/**", answer)
    receipts = console.api("GET", "client/documents?limit=5")[1]["items"] or [{"public_id": "nada"}]
    inbox = console.api("GET", "client/inbox?acked=")[1]["items"]
    places = ["", "/comprobantes", *(f"/comprobantes/{receipt['public_id']}" for receipt in receipts), "/recibidos?ver=todos", *(f"/recibidos?ver=todos&abierto={item['public_id']}" for item in inbox[:2]), "/webhooks", "/claves", "/certificado", "/dgii", "/empresa"]
    for _ in range(3):
        for place in places:
            opened(page, f"{console.address}/console{place}")
            made = page.evaluate("[window.hit, document.querySelectorAll('main script, main b.fuera, main img[src=x], main iframe[srcdoc], main a[href^=\"javascript:\"]').length]")
            assert made == [None, 0], (place, made)
            loaded(page)
            fits(page, f"{place} with long words")
    assert len(given) >= 100, f"only {len(given)} strings were shown"
    console.was_quiet(allowed=(REFUSED,))
    closed(page)
    print(f"console: {len(given)} texts of strangers are shown as text")
