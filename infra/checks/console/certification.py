"""A company on its way to the certification: a workbook with a mistake, the right one, its rows, the files for the portal."""

import io
import json
import re
import subprocess
import zipfile

from browser import REFUSED, accessible, opened
from companies import registered
from local import root
from playwright.sync_api import expect

SUITE = root / "../shared/certification/suite-1-ecf.xlsx"
RECEIPTS, SUMMARIES = "xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml"
# Receipts without an invoice before them. A consumer invoice of the suite goes as its summary.
ROWS = ("31", "41", "43")


def check(browser, console):
    if not SUITE.exists():
        print("console: skipped: certification (../shared is not there)")
        return
    rnc, right, wrong = workbooks()
    page = console.page(browser, key=key(console, rnc))
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
    accessible(page, "a finished run")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Descargar los archivos").click()
    with zipfile.ZipFile(saved.value.path()) as files:
        assert [name[-4:] for name in sorted(files.namelist())] == [".xml", ".txt"], files.namelist()
    # The workbook with a mistake was refused.
    console.was_quiet(allowed=(REFUSED,))
    page.context.close()
    print("console: a workbook with a mistake refused, the right one accepted row by row")


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
