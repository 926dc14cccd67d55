"""What a shop does in a day: issue after a mistake was corrected, print, take it back with a note, learn why another was
rejected and issue it again, approve and reject what others sent."""

import re

from browser import REFUSED, accessible, loaded
from companies import REFUSAL, issued, judged_otherwise, published, registered, sent_to_demo
from playwright.sync_api import expect

SELLER = "101672919"


def check(browser, console):
    page = console.page(browser)
    invoice = issue(page, console)
    prints(page, invoice)
    note(page, console, invoice)
    rejection(page, console)
    received(page, console)
    keyboard(page)
    csv(page)
    # A look-up in the register of somebody who is not there answers 404.
    console.was_quiet(allowed=(REFUSED,))
    page.context.close()
    print("console: issued, printed, taken back, corrected, approved and rejected")


def line(page, description, price):
    page.get_by_label("Descripción").last.fill(description)
    page.get_by_label("Precio RD$").last.fill(price)


def issue(page, console):
    page.get_by_role("link", name="Emitir comprobante").click()
    line(page, "Cemento gris, funda", "1,500.50")
    page.get_by_label("RNC o cédula").fill("10167")
    page.get_by_label("Nombre o razón social").fill("CLIENTE ÑANDÚ SRL")
    page.get_by_label("Forma de pago").select_option("2")
    page.get_by_label("Su referencia").fill("F-1001")
    page.get_by_role("button", name="Revisar y emitir").click()
    expect(page.get_by_label("RNC o cédula")).to_be_focused()
    expect(page.get_by_text("El RNC lleva 9 dígitos").first).to_be_visible()
    accessible(page, "findings")
    page.get_by_label("RNC o cédula").fill("101-67291-9")
    expect(page.get_by_text("Diga hasta cuándo se paga.").first).to_be_visible()
    page.get_by_role("button", name="Se paga hasta").click()
    expect(page.get_by_label("Se paga hasta")).to_be_focused()
    page.get_by_label("Forma de pago").select_option("1")
    expect(page.get_by_text("La DGII lo aceptaría", exact=True)).to_be_visible()
    expect(page.locator(".sums .sum")).to_contain_text("1,770.59")
    page.get_by_role("button", name="Revisar y emitir").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("1,770.59")
    expect(dialog).to_contain_text("sin valor fiscal")
    accessible(page, "dialog")
    # Pressed twice, issued once.
    dialog.get_by_role("button", name="Emitir").dblclick()
    page.wait_for_url(re.compile("/comprobantes/[0-9a-z]+$"))
    expect(page.get_by_role("heading", name="Aceptado")).to_be_visible()
    found = console.api("GET", "client/documents?external_id=F-1001")[1]
    assert found["total"] == 1, found["total"]
    assert not page.evaluate("Object.keys(sessionStorage).some(name => name.startsWith('ecf.draft') && sessionStorage[name].includes('F-1001'))")
    return found["items"][0]


def prints(page, invoice):
    frame = page.locator(".print iframe")
    frame.wait_for()
    assert frame.get_attribute("src").startswith("blob:")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Guardar PDF").click()
    with open(saved.value.path(), "rb") as file:
        assert file.read(4) == b"%PDF"
    assert saved.value.suggested_filename == f"{invoice['encf']}.pdf"
    with page.expect_download() as xml:
        page.get_by_role("button", name="XML firmado").click()
    with open(xml.value.path(), "rb") as file:
        assert b"<ECF" in file.read(400)


def note(page, console, invoice):
    page.get_by_role("link", name="Nota de crédito").click()
    expect(page.get_by_label("e-NCF que modifica")).to_have_value(invoice["encf"])
    expect(page.get_by_label("Descripción")).to_have_value("Cemento gris, funda")
    expect(page.get_by_label("Qué hace la nota")).to_have_value("1")
    page.get_by_label("Su referencia").fill("N-1001")
    expect(page.get_by_text("La DGII lo aceptaría", exact=True)).to_be_visible()
    page.get_by_role("button", name="Revisar y emitir").click()
    page.get_by_role("dialog").get_by_role("button", name="Emitir").click()
    expect(page.get_by_role("heading", name="Aceptado")).to_be_visible()
    assert console.settled("N-1001")["ecf_type"] == "34"


def rejection(page, console):
    judged_otherwise(console, "reject", **REFUSAL)
    issued(console, "31", "R-1001")
    rejected = console.settled("R-1001")
    page.get_by_role("link", name="Inicio").click()
    attention = page.get_by_role("link", name=re.compile("rechazado"))
    # The summary is asked for every half minute.
    attention.first.click(timeout=45_000)
    page.locator(f"a[href$='{rejected['public_id']}']").click()
    expect(page.get_by_role("heading", name="La DGII lo rechazó")).to_be_visible()
    expect(page.get_by_text(REFUSAL["mensaje"])).to_be_visible()
    expect(page.get_by_text("Qué hacer")).to_be_visible()
    page.get_by_role("link", name="Corregir y emitir de nuevo").click()
    expect(page.get_by_label("Nombre o razón social")).to_have_value("CLIENTE SRL")
    page.get_by_label("Su referencia").fill("R-1002")
    page.get_by_role("button", name="Revisar y emitir").click()
    page.get_by_role("dialog").get_by_role("button", name="Emitir").click()
    expect(page.get_by_role("heading", name="Aceptado")).to_be_visible()
    console.settled("R-1002", ("accepted",))


def received(page, console):
    if console.api("GET", "client/inbox?acked=false")[1]["total"] == 0:
        published(console)
        other = registered(console, SELLER, "FERRETERÍA ÑANDÚ SRL")
        for number in range(2):
            sent_to_demo(console, f"enviado-{number}", other, "FERRETERÍA ÑANDÚ SRL")
    for _ in range(200):
        items = console.api("GET", "client/inbox?acked=false&authority_state=accepted")[1]["items"]
        if len(items) >= 2:
            break
        page.wait_for_timeout(100)
    first, second = items[:2]
    page.get_by_role("link", name=re.compile("^Recibidos")).first.click()
    for item, verb in ((first, "Aprobar"), (second, "Rechazar")):
        row = page.get_by_role("row", name=re.compile(item["encf"]))
        row.get_by_role("button").click()
        expect(page.get_by_text("La DGII lo aceptó.")).to_be_visible()
        page.get_by_role("button", name=verb, exact=True).click()
        dialog = page.get_by_role("dialog")
        if verb == "Rechazar":
            dialog.get_by_role("button", name="Rechazar").click()
            expect(dialog.get_by_text("Diga por qué lo rechaza.")).to_be_visible()
            dialog.get_by_label("Motivo").fill("No pedimos esta mercancía.")
        dialog.get_by_role("button", name=verb).click()
        expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Todos", exact=True).click()
    expect(page.get_by_text("Aprobado", exact=True).first).to_be_visible()
    expect(page.get_by_text("Rechazado por usted").first).to_be_visible()
    answers = {item["public_id"]: item["answer"] for item in console.api("GET", "client/inbox?acked=")[1]["items"]}
    assert (answers[first["public_id"]], answers[second["public_id"]]) == ("approved", "rejected"), answers


def keyboard(page):
    page.keyboard.press("g")
    page.keyboard.press("c")
    page.get_by_role("heading", name="Comprobantes", exact=True).wait_for()
    page.keyboard.press("/")
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("F-1001")
    page.keyboard.press("Enter")
    loaded(page)
    expect(page.locator("tbody tr")).to_have_count(1)
    page.go_back()
    expect(page.get_by_role("searchbox")).to_have_value("")
    page.locator("main").focus()
    page.keyboard.press("n")
    page.get_by_role("heading", name="Emitir", exact=True).wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Teclas").wait_for()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def csv(page):
    page.keyboard.press("g")
    page.keyboard.press("c")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Exportar CSV").click()
    with open(saved.value.path(), encoding="utf-8-sig") as file:
        rows = file.read().splitlines()
    assert rows[0].startswith('"encf","ecf_type","status"'), rows[0]
    assert any('"F-1001"' in row for row in rows), rows[:3]
