"""Issues receipts on the running local system and downloads their evidence and prints. Arguments: the system's `--json`
line, a folder."""

import json
import pathlib
import sys
import time
import urllib.request
from datetime import datetime, timedelta, timezone

READY = json.loads(sys.argv[1])
FOLDER = pathlib.Path(sys.argv[2])
BASE = READY["base_url"] + "/api/v1"
CONTRACT = json.loads((pathlib.Path(__file__).parents[2] / "openapi/public-v1.json").read_text())
PDF = CONTRACT["paths"]["/api/v1/ecf/{public_id}/pdf"]["get"]
PAPERS = next(parameter["schema"]["enum"] for parameter in PDF["parameters"] if parameter["name"] == "format")


def call(path, body=None):
    headers = {"X-API-Key": READY["api_key"], "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(BASE + path, data, headers), timeout=120) as answer:
        return answer.read()


def payload(ecf_type, name):
    today = datetime.now(timezone(timedelta(hours=-4))).strftime("%d-%m-%Y")
    return {
        "Encabezado": {
            "IdDoc": {"TipoIngresos": "01", "TipoPago": 1, "IndicadorMontoGravado": 0},
            "Emisor": {"RNCEmisor": READY["company_rnc"], "RazonSocialEmisor": "DEMO SRL", "DireccionEmisor": "Calle Uno 1",
                       "FechaEmision": today},
            "Comprador": {"RNCComprador": "101672919", "RazonSocialComprador": name},
            "Totales": {"MontoGravadoTotal": 1000, "MontoGravadoI1": 1000, "ITBIS1": 18, "TotalITBIS": 180, "TotalITBIS1": 180,
                        "MontoTotal": 1180},
        },
        "DetallesItems": {"Item": [{"IndicadorFacturacion": 1, "NombreItem": "Servicio", "IndicadorBienoServicio": 2, "CantidadItem": 1,
                                    "PrecioUnitarioItem": 1000, "MontoItem": 1000}]},
    }


# Texts that spreadsheets, file systems and terminals could interpret. They must be harmless in file names and cells.
external = ["=HYPERLINK(\"http://x\",\"y\")", "../../../etc/passwd", "factura\u202efdp.exe", "+1\r\n-2"]
issued = []
for place, (ecf_type, name) in enumerate([("31", "CLIENTE SRL"), ("32", "=1+1"), ("31", "ÑANDÚ \u202e & HIJOS"), ("32", "@SUM(A1)")]):
    body = {"idempotency_key": f"evidence-{place}", "ecf_type": ecf_type, "external_id": external[place],
            "payload": payload(ecf_type, name)}
    issued.append(json.loads(call("/ecf", body)))
for receipt in issued:
    for _ in range(300):
        if json.loads(call(f"/ecf/{receipt['public_id']}"))["status"] == "accepted":
            break
        time.sleep(0.1)
    else:
        raise SystemExit(f"{receipt['encf']} was not accepted within 30 s")
first = issued[0]
for paper in PAPERS:
    (FOLDER / f"print-{paper}.pdf").write_bytes(call(f"/ecf/{first['public_id']}/pdf?format={paper}"))
(FOLDER / "stamp").write_text(first["electronic_stamp"])
(FOLDER / "encf").write_text(first["encf"])
(FOLDER / "evidence.zip").write_bytes(call("/client/audit-export"))
assert (FOLDER / "evidence.zip").read_bytes() == call("/client/audit-export"), "the second archive differs"
