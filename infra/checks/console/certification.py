"""A company on its way to the certification: a workbook with a mistake, the right one, its rows, the files for the portal;
a form of the portal signed; a simulation."""

import io
import json
import re
import subprocess
import zipfile

from browser import REFUSED, accessible, fits, opened
from companies import registered
from local import root
from playwright.sync_api import expect

SUITE = root / "../shared/certification/suite-1-ecf.xlsx"
RECEIPTS, SUMMARIES = "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml"
# Receipts without an invoice before them. A consumer invoice of the suite goes as its summary.
ROWS = ("31", "41", "43")
FORM = b"<PostulacionEmisor><RNC>130000001</RNC></PostulacionEmisor>"
TYPES = ("31", "32", "33", "34", "41", "43", "44", "45", "46", "47")
BUYER = "CLIENTE DEL PADRÓN SRL"


def check(browser, console):
    if not SUITE.exists():
        print("console: skipped: certification (../shared is not there)")
        return
    rnc, right, wrong = workbooks()
    api_key = key(console, rnc)
    page = console.page(browser, key=api_key)
    opened(page, f"{console.address}/console/certificacion")
    expect(page.get_by_text("Todavía no hay corridas.")).to_be_visible()
    upload(page, wrong)
    findings = page.get_by_role("alert")
    expect(findings).to_contain_text("No se envió nada")
    expect(findings).to_contain_text("ECF ›")
    accessible(page, "findings in a workbook")
    upload(page, right)
    expect(page.get_by_text("En curso", exact=True)).to_be_visible()
    expect(page.get_by_text("Terminada", exact=True)).to_be_visible(timeout=90_000)
    expect(page.get_by_role("row", name=re.compile("Aceptada"))).to_have_count(len(ROWS) + 1)
    page.reload()
    expect(page.get_by_role("row", name=re.compile("Aceptada"))).to_have_count(len(ROWS) + 1)
    accessible(page, "a finished run")
    console.pictured(browser, page, "console-certification.png")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Descargar los archivos").click()
    with zipfile.ZipFile(saved.value.path()) as files:
        assert [name[-4:] for name in sorted(files.namelist())] == [".xml", ".txt"], files.namelist()
    signs(page)
    simulation(page, console, api_key)
    # The workbook with a mistake was refused, and so were a signed form and a simulation.
    console.was_quiet(allowed=(REFUSED,))
    page.context.close()
    print("console: a workbook with a mistake refused, the right one accepted row by row; a form signed; a simulation")


def signs(page):
    """A form of the portal is signed and downloaded; a signed one is refused in words."""
    chosen, button = page.get_by_label("Archivo XML"), page.get_by_role("button", name="Firmar y descargar")
    chosen.set_input_files({"name": "postulación.xml", "mimeType": "text/xml", "buffer": FORM})
    with page.expect_download() as saved:
        button.click()
    assert saved.value.suggested_filename == "postulación-signed.xml", saved.value.suggested_filename
    signed = saved.value.path().read_bytes()
    assert FORM.removesuffix(b"</PostulacionEmisor>") in signed and b"<Signature" in signed
    expect(page.get_by_text("Firmado y descargado: postulación-signed.xml")).to_be_visible()
    chosen.set_input_files({"name": "firmado.xml", "mimeType": "text/xml", "buffer": signed})
    button.click()
    expect(page.get_by_role("alert")).to_contain_text("el documento tiene una firma")
    chosen.set_input_files([])


def simulation(page, console, api_key):
    for ecf_type in TYPES:
        body = {"ecf_type": ecf_type, "range_start": 5_000_001, "range_end": 5_000_020, "numbering": "service"}
        status, answer = console.api("POST", "client/sequences", body, api_key)
        assert status == 201, (status, answer)
    page.route(re.compile("/taxauth/rnc/"), lambda route: route.fulfill(json={"razon_social": BUYER, "estado": "ACTIVO"}))
    # The company has no receipts but those of its run.
    page.get_by_label("De mis comprobantes aceptados").check()
    page.get_by_label("Con un proveedor certificado").check()
    begin = page.get_by_role("button", name="Iniciar la simulación")
    begin.click()
    expect(page.get_by_text("indique el nombre").first).to_be_visible()
    accessible(page, "findings in a simulation")
    page.get_by_label("RNC o cédula").fill("101-67291-9")
    expect(page.get_by_label("Nombre o razón social")).to_have_value(BUYER)
    page.get_by_label("Comprador del exterior").fill("CLIENT INC")
    page.get_by_label("Descripción").fill("Asesoría")
    page.get_by_label("Precio RD$").fill("1,500.50")
    page.get_by_role("button", name="Agregar línea").click()
    page.get_by_label("Descripción").last.fill("Silla")
    page.get_by_label("Precio RD$").last.fill("8999.5")
    page.get_by_label("Es un").last.select_option(label="Bien")
    page.set_viewport_size({"width": 390, "height": 844})
    fits(page, "the form of a simulation on a phone")
    page.set_viewport_size({"width": 1280, "height": 900})
    begin.click()
    expect(page.get_by_role("heading", name=re.compile("^Simulación del"))).to_be_visible()
    expect(page.get_by_text("Terminada", exact=True)).to_be_visible(timeout=120_000)
    accessible(page, "a finished simulation")
    expect(page.get_by_role("row", name=re.compile("Aceptada"))).to_have_count(len(TYPES) + 1)
    with page.expect_download() as saved:
        page.get_by_role("button", name="Descargar los archivos").click()
    with zipfile.ZipFile(saved.value.path()) as files:
        prints = [name for name in files.namelist() if name.startswith("RI/")]
        assert len(prints) == len(TYPES) + 1, files.namelist()
    page.get_by_role("button", name="English").click()
    expect(page.get_by_role("button", name="Begin the simulation")).to_be_visible()


def upload(page, workbook):
    file = {"name": "libro.xlsx", "mimeType": "application/octet-stream", "buffer": workbook}
    page.get_by_label("Libro de e-CF (.xlsx)").set_input_files(file)
    page.get_by_role("button", name="Iniciar", exact=True).click()


def workbooks():
    """The RNC of the suite, a workbook with one row of each of ROWS, and the same with a wrong total."""
    with zipfile.ZipFile(SUITE) as suite:
        parts = {name: suite.read(name) for name in suite.namelist()}
    head, rows, rest = split(parts[RECEIPTS].decode())
    columns = {text: column for column, text in cells(head)}
    summaries, summed, end = split(parts[SUMMARIES].decode())
    numbers = re.findall("E32\\d{10}", summed[0])
    chosen = [next(row for row in rows if dict(cells(row))[columns["TipoeCF"]] == ecf_type) for ecf_type in ROWS]
    chosen.append(next(row for row in rows if dict(cells(row))[columns["ENCF"]] == numbers[0]))
    values = dict(cells(chosen[0]))
    rnc, total = values[columns["RNCEmisor"]], values[columns["MontoTotal"]]
    made = []
    for first in (chosen[0], chosen[0].replace(f"<t>{total}</t>", "<t>mil pesos</t>")):
        changed = {RECEIPTS: rest[0] + head + first + "".join(chosen[1:]) + rest[1], SUMMARIES: end[0] + summaries + summed[0] + end[1]}
        book = io.BytesIO()
        with zipfile.ZipFile(book, "w", zipfile.ZIP_DEFLATED) as out:
            for name, part in parts.items():
                out.writestr(name, changed.get(name, part))
        made.append(book.getvalue())
    return rnc, *made


def split(sheet):
    """The row of headers, the other rows, and what stands around them."""
    rows = re.findall(r"<row .*?</row>", sheet, re.DOTALL)
    before, after = sheet[: sheet.index(rows[0])], sheet[sheet.rindex("</row>") + len("</row>") :]
    return rows[0], rows[1:], (before, after)


def cells(row):
    return re.findall(r'<c r="([A-Z]+)\d+"[^>]*>(?:<is><t[^>]*>|<v>)([^<]*)', row)


def key(console, rnc):
    """A key of the company for CerteCF."""
    company = console.api("GET", "client/company", key=registered(console, rnc, "EMPRESA EN CERTIFICACIÓN SRL"))[1]
    command = {"command": "issue_api_key", "company": company["public_id"], "environment": "CerteCF"}
    program, data = console.ready["program"], console.place.parent / "data"
    done = subprocess.run([program, "operator", json.dumps(command), "--data", data], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["api_key"]["key"]
