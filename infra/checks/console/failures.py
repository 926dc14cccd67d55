"""A service that is slow, overloaded, broken or cut off: told in words, with nothing lost and nothing issued twice."""

import json
import re

from browser import REFUSED, accessible, closed, loaded, opened
from playwright.sync_api import expect


def check(browser, console):
    waits(browser, console)
    cut_off(browser, console)
    broken(browser, console)
    taken_and_lost(browser, console)
    refused_for_now(browser, console)
    signed_out_in_the_middle(browser, console)
    two_tabs(browser, console)
    forbidden(browser, console)
    print("console: slow, 429, 503, cut off, 401 and 403 are told in words; nothing was issued twice")


def answers(status, detail, **headers):
    """An answer in the place of the API's."""
    return {"status": status, "body": json.dumps({"detail": detail}), "headers": {"content-type": "application/json", "x-request-id": "solicitud-de-prueba", **headers}}


def once_then_real(page, pattern, method, answer):
    """The first matching request gets the answer, the others go through."""
    met = []

    def handle(route):
        if route.request.method != method or met:
            return route.fallback()
        met.append(route.request)
        return answer(route)

    page.route(pattern, handle)
    return met


def waits(browser, console):
    for status, words in ((429, "Demasiadas consultas seguidas. Seguimos en"), (503, "El servicio no pudo responder. Intentamos de nuevo en")):
        page = console.page(browser)
        once_then_real(page, re.compile("/client/documents\\?.*limit=25"), "GET", lambda route, *, status=status: route.fulfill(**answers(status, {"code": "busy", "message": "busy"}, **{"retry-after": "2"})))
        page.get_by_role("link", name="Comprobantes").first.click()
        expect(page.get_by_text(words)).to_be_visible()
        accessible(page, words)
        page.get_by_role("navigation", name="Páginas").or_(page.get_by_text("Todavía no hay comprobantes.")).wait_for()
        expect(page.get_by_text(words)).to_have_count(0)
        closed(page)
    slow = console.page(browser)
    held = []
    slow.route(re.compile("/client/sequences"), lambda route: held.append(route))
    slow.get_by_role("link", name="Secuencias").first.click()
    expect(slow.locator("main .skeleton")).to_be_visible()
    accessible(slow, "loading")
    held[0].fallback()
    loaded(slow)
    closed(slow)
    console.was_quiet(allowed=(REFUSED,))


def cut_off(browser, console):
    """Old data stay, with their time, and a way to ask again."""
    page = console.page(browser)
    opened(page, f"{console.address}/console/dgii")
    page.route("**/api/**", lambda route: route.abort())
    page.get_by_role("button", name="Preguntar ahora").click()
    expect(page.get_by_text("No hay conexión con el servicio.").first).to_be_visible()
    expect(page.get_by_text("Ambiente de pruebas (TesteCF)").last).to_be_visible()
    page.get_by_role("link", name="Claves").click()
    expect(page.get_by_text("No hay conexión con el servicio.").first).to_be_visible()
    accessible(page, "no connection")
    page.unroute("**/api/**")
    page.get_by_role("button", name="Intentar de nuevo").click()
    page.get_by_role("table", name="Claves").wait_for()
    console.was_quiet(allowed=(REFUSED,))
    closed(page)


def broken(browser, console):
    """The three shapes of an error, with the request's id; a view that fails leaves the rest alive."""
    page = console.page(browser)
    for path, link, answer, words in (
        ("webhooks", "Webhooks", answers(500, {"code": "internal", "message": "internal error", "request_id": "solicitud-en-el-cuerpo"}), "solicitud-de-prueba"),
        ("certificates", "Certificado", {"status": 500, "body": "Internal Server Error", "headers": {"x-request-id": "solicitud-de-texto"}}, "solicitud-de-texto"),
        ("sequences", "Secuencias", answers(422, [{"loc": ["query", "x"], "msg": "not so", "type": "value_error"}]), "not so"),
    ):
        page.route(re.compile(f"/client/{path}$"), lambda route, *, answer=answer: route.fulfill(**answer))
        page.get_by_role("link", name=link).first.click()
        expect(page.get_by_role("alert")).to_contain_text(words)
    page.route(re.compile("/client/api-keys$"), lambda route: route.fulfill(**{"status": 200, "body": json.dumps([None]), "headers": {"content-type": "application/json"}}))
    page.get_by_role("link", name="Claves").first.click()
    expect(page.get_by_text("Algo falló en esta página.")).to_be_visible()
    page.get_by_role("link", name="Auditoría").first.click()
    page.get_by_role("heading", name="Exportar la evidencia").wait_for()
    console.problems[:] = [text for text in console.problems if "null" not in text]
    console.was_quiet(allowed=(REFUSED,))
    closed(page)


def drafted(page, reference):
    """A draft that may be issued."""
    page.get_by_role("link", name="Emitir", exact=True).first.click()
    page.get_by_role("button", name="Llenar con un ejemplo").click()
    page.get_by_label("Su referencia").fill(reference)
    expect(page.get_by_text("La DGII lo aceptaría", exact=True)).to_be_visible()


def issue(page):
    page.get_by_role("button", name="Revisar y emitir").click()
    page.get_by_role("dialog").get_by_role("button", name="Emitir").click()


def is_once(console, reference):
    console.settled(reference)
    total = console.api("GET", f"client/documents?external_id={reference}")[1]["total"]
    assert total == 1, f"{reference} was issued {total} times"


IS_ISSUE = re.compile("/api/v1/ecf$")


def taken_and_lost(browser, console):
    """The service takes the receipt and its answer is lost; then the page is reloaded."""
    page = console.page(browser)
    sent = []

    def lose(route):
        route.fetch()
        route.abort()

    page.on("request", lambda request: sent.append(request.post_data) if IS_ISSUE.search(request.url) and request.method == "POST" else None)
    once_then_real(page, IS_ISSUE, "POST", lose)
    drafted(page, "cortado-1")
    issue(page)
    expect(page.get_by_text("No sabemos si se emitió.")).to_be_visible()
    accessible(page, "unclear")
    expect(page.get_by_label("Descripción")).to_be_disabled()
    page.reload()
    expect(page.get_by_text("No sabemos si se emitió.")).to_be_visible()
    expect(page.get_by_label("Descripción")).to_be_disabled()
    page.get_by_role("button", name="Intentar de nuevo").click()
    page.wait_for_url(re.compile("/comprobantes/[0-9a-z]+$"))
    assert len(sent) == 2 and sent[0] == sent[1], "another body was sent the second time"
    is_once(console, "cortado-1")
    console.was_quiet(allowed=(REFUSED,))
    closed(page)


def refused_for_now(browser, console):
    """503 says that nothing was kept: the form stays open, and the same key is used."""
    page = console.page(browser)
    once_then_real(page, IS_ISSUE, "POST", lambda route: route.fulfill(**answers(503, {"code": "unavailable", "message": "try again"}, **{"retry-after": "1"})))
    drafted(page, "ocupado-1")
    issue(page)
    expect(page.get_by_role("dialog")).to_contain_text("El servicio no pudo responder. Sus datos siguen aquí.")
    page.get_by_role("dialog").get_by_role("button", name="Emitir").click()
    page.wait_for_url(re.compile("/comprobantes/[0-9a-z]+$"))
    is_once(console, "ocupado-1")
    console.was_quiet(allowed=(REFUSED,))
    closed(page)


def signed_out_in_the_middle(browser, console):
    page = console.page(browser)
    drafted(page, "afuera-1")
    once_then_real(page, IS_ISSUE, "POST", lambda route: route.fulfill(**answers(401, {"code": "unauthorized", "message": "no such key"})))
    issue(page)
    page.get_by_label("Clave de API").wait_for()
    expect(page.get_by_text("lo que escribió sigue aquí")).to_be_visible()
    page.get_by_label("Clave de API").fill(console.ready["api_key"])
    page.get_by_role("button", name="Entrar").click()
    page.get_by_role("heading", name="Emitir", exact=True).wait_for()
    expect(page.get_by_label("Su referencia")).to_have_value("afuera-1")
    issue(page)
    page.wait_for_url(re.compile("/comprobantes/[0-9a-z]+$"))
    is_once(console, "afuera-1")
    console.was_quiet(allowed=(REFUSED,))
    closed(page)


def two_tabs(browser, console):
    """Each tab has a draft of its own."""
    pages = [console.page(browser) for _ in range(2)]
    for number, page in enumerate(pages):
        drafted(page, f"pestana-{number}")
    for page in pages:
        issue(page)
        page.wait_for_url(re.compile("/comprobantes/[0-9a-z]+$"))
    for number, page in enumerate(pages):
        is_once(console, f"pestana-{number}")
        closed(page)
    console.was_quiet(allowed=(REFUSED,))


def forbidden(browser, console):
    """A key that only reads sees what it may, and is told what it may not."""
    status, made = console.api("POST", "client/api-keys", {"name": "solo mira", "scope": "read"})
    assert status == 201, made
    page = console.page(browser, key=made["key"])
    page.get_by_role("link", name="Emitir", exact=True).first.click()
    expect(page.get_by_text("Esta clave no puede emitir.")).to_be_visible()
    for place, button in (("Webhooks", "Crear webhook"), ("Claves", "Crear clave"), ("Secuencias", "Registrar secuencia")):
        page.get_by_role("link", name=place).first.click()
        loaded(page)
        expect(page.get_by_role("button", name=button)).to_have_count(0)
    console.was_quiet(allowed=(REFUSED,))
    closed(page)
