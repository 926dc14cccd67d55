"""The companies of the tests: the demo company with a full desk, and one that has nothing yet."""

import base64
import subprocess
import time
from datetime import UTC, datetime, timedelta

from browser import example

# A code that the service explains.
REFUSAL = {"codigo": "1209", "mensaje": "El número de comprobante ya fue utilizado."}


def registered(console, rnc, name):
    """A key of a new company."""
    file = console.place / f"{rnc}.p12"
    program = console.ready["program"]
    subprocess.run([program, "certificate", rnc, file, "--data", console.place.parent / "data"], check=True, stdout=subprocess.DEVNULL)
    body = {
        "rnc": rnc,
        "name": name,
        "email": "persona@example.com",
        "address": "Calle Dos 2",
        "default_environment": "TesteCF",
        "p12_base64": base64.b64encode(file.read_bytes()).decode(),
        "pin": "demo",
        "idempotency_key": f"registro-de-{rnc}-1",
    }
    status, answer = console.api("POST", "public/register", body)
    assert status == 201, (status, answer)
    return answer["api_key"]["key"]


def issued(console, ecf_type, reference, change=lambda payload: None, key=None, **more):
    """Issues the example of a type, changed."""
    payload = example(ecf_type)
    change(payload)
    body = {"ecf_type": ecf_type, "idempotency_key": reference, "external_id": reference, "payload": payload, **more}
    status, answer = console.api("POST", "ecf", body, key)
    assert status == 201, (status, answer)
    return answer


def judged_otherwise(console, fault, **more):
    """The next receipt gets this verdict."""
    console.authority("POST", "faults", {"service": "recepcion", "fault": fault, "times": 1, **more})


def sent_to_demo(console, reference, key, name):
    """A receipt of another issuer for the demo company."""

    def change(payload):
        header = payload["Encabezado"]
        header["Emisor"] |= {"RNCEmisor": "101672919", "RazonSocialEmisor": name, "DireccionEmisor": "Calle Dos 2"}
        header["Comprador"] = {"RNCComprador": console.ready["company_rnc"], "RazonSocialComprador": "DEMOSTRACIONES DEL CARIBE SRL"}

    return issued(console, "31", reference, change, key)


def arrived(console, count):
    """The receipts of others in the demo company's inbox."""
    for _ in range(300):
        items = console.api("GET", "client/inbox?acked=")[1]["items"]
        if len(items) >= count:
            return items
        time.sleep(0.1)
    raise AssertionError(f"{len(items)} of {count} receipts arrived")


def published(console):
    """The demo company's addresses are in the authority's directory, so that others can send to it."""
    rnc = console.ready["company_rnc"]
    address = f"{console.ready['base_url']}/{rnc}/testecf"
    console.authority("PUT", f"directory/{rnc}", {"nombre": "DEMO", "urlRecepcion": address, "urlAceptacion": address, "urlOpcional": address})


def full_desk(console):
    """Receipts of each verdict, one for later, two received, a webhook that nobody answers."""
    published(console)
    for ecf_type in ("31", "32", "41", "43", "44", "45", "46", "47"):
        issued(console, ecf_type, f"mesa-{ecf_type}")
        console.settled(f"mesa-{ecf_type}")
    judged_otherwise(console, "reject", **REFUSAL)
    issued(console, "31", "mesa-rechazado")
    console.settled("mesa-rechazado")
    judged_otherwise(console, "conditional", codigo="98", mensaje="El nombre no coincide con el registro.")
    issued(console, "31", "mesa-condicional")
    console.settled("mesa-condicional")
    tomorrow = datetime.now(UTC) + timedelta(days=1)
    issued(console, "31", "mesa-programado", scheduled_for=tomorrow.isoformat(timespec="seconds"))
    other = registered(console, "101672919", "FERRETERÍA ÑANDÚ SRL")
    for number in range(2):
        sent_to_demo(console, f"enviado-{number}", other, "FERRETERÍA ÑANDÚ SRL")
    arrived(console, 2)
    status, webhook = console.api("POST", "client/webhooks", {"url": "https://avisos.example.com/ecf", "events": ["accepted", "rejected"]})
    assert status == 201, webhook
    return {"other": other, "webhook": webhook["public_id"]}
