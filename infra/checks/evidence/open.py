"""Checks an archive with Python's zipfile: every entry is intact, every name is safe, every hash matches the manifest,
no cell is a formula."""

import csv
import hashlib
import io
import json
import re
import sys
import zipfile

RESERVED = re.compile(r"^(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)

with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    names = archive.namelist()
    assert len(names) == len({name.lower() for name in names}), "two names that Windows takes for one"
    for name in names:
        assert re.fullmatch(r"[A-Za-z0-9._/-]+", name) and not name.startswith("/") and len(name) < 200, name
        assert not any(RESERVED.match(part) or part in ("", ".", "..") or part.endswith(".") for part in name.split("/")), name
    manifest = json.loads(archive.read("manifest.json"))
    for entry in manifest["entries"]:
        data = archive.read(entry["name"])
        assert (len(data), hashlib.sha256(data).hexdigest()) == (entry["size"], entry["sha256"]), entry
    assert {entry["name"] for entry in manifest["entries"]} == set(names) - {"manifest.json", "manifest.json.sig"}
    rows = list(csv.DictReader(io.StringIO(archive.read("index.csv").decode("utf-8-sig"), newline="")))
    assert len(rows) == manifest["receipts"] + manifest["received"] + manifest["approvals"] and rows, rows
    for row in rows:
        assert None not in row and None not in row.values(), row
        for name, cell in row.items():
            assert not cell.lstrip().startswith(("=", "+", "-", "@")), (name, cell)
            assert not re.search("[\x00-\x1f\u200e\u200f\u202a-\u202e\u2066-\u2069]", cell), (name, cell)
        assert not row["remarks"], row
        assert not row["folder"] or any(name.startswith(row["folder"] + "/") for name in names), row
    assert not any(b"PRIVATE KEY" in archive.read(name) for name in names)
print(f"zipfile: {len(names)} entries, {len(rows)} receipts, every hash right")
