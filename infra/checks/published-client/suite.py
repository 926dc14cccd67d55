"""The published client, unmodified, against the running local system.

Every public method of the client is called; introspection proves that none is missing.
"""

import base64
import hashlib
import inspect
import io
import json
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
import zipfile
from datetime import datetime, timedelta, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer

from ecfservice import ArtifactType, ECFClient, ECFPayloadBuilder
from ecfservice.exceptions import ECFAuthError, ECFNotFoundError, ECFValidationError
from ecfservice.webhook import verify_webhook_signature

READY = json.loads(sys.argv[1])
BASE = READY["base_url"] + "/api/v1"

CALLED = {
    "health", "close", "ecf.create", "ecf.get", "ecf.states", "client.sequences", "ecf.mark_incapacity",
    "client.list_certificates", "client.upload_certificate",
    "client.company", "client.update_company", "client.summary",
    "client.list_webhooks", "client.create_webhook", "client.test_webhook", "client.webhook_deliveries",
    "client.inbox", "client.ack_inbox", "client.download_inbox_xml", "client.download_inbox_arecf",
    "client.update_webhook", "client.rotate_webhook_secret", "client.delete_webhook",
    "ecf.submit_acecf", "ecf.acecf_outbound", "ecf.acecf_inbound", "ecf.cancel_sequences",
    "ecf.list", "ecf.download_xml", "ecf.download_rfce", "ecf.download_pdf", "ecf.status_public",
    "client.audit_export", "client.documents", "client.get_document", "client.download_artifact", "client.list_artifacts",
    "dgii.status", "dgii.status_services", "dgii.status_maintenance", "dgii.status_impact", "dgii.status_environment",
    "dgii.status_refresh", "dgii.rnc", "dgii.directory", "notices.changes", "notices.get",
}


class Receiver(BaseHTTPRequestHandler):
    """Records posted requests: raw body and headers."""

    received = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        Receiver.received.append((self.headers, body))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


def eventually(what, seconds=15):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        result = what()
        if result:
            return result
        time.sleep(0.1)
    raise AssertionError(f"did not happen within {seconds} s: {what}")


def refused(error, call):
    try:
        call()
    except error as refusal:
        return refusal
    raise AssertionError(f"expected {error.__name__}")


def operator(command, **members):
    """Executes an operator's command on the running system."""
    body = json.dumps({"command": command, **members})
    out = subprocess.run([sys.argv[2], "operator", body, "--data", sys.argv[3]], capture_output=True, check=True)
    answer = json.loads(out.stdout)
    assert "error" not in answer, answer
    return answer


def control(method, path, body):
    """Configures the simulated tax authority."""
    request = urllib.request.Request(READY["simulator_url"] + "/_control/" + path, json.dumps(body).encode(),
                                     {"Content-Type": "application/json"}, method=method)
    urllib.request.urlopen(request).read()


def sign(xml):
    """Signs canonical XML with the test certificate, like an ERP that signs by itself."""
    dsig = "http://www.w3.org/2000/09/xmldsig#"
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/p12", "wb") as file:
            file.write(base64.b64decode(READY["test_p12"]))
        pem = subprocess.run(["openssl", "pkcs12", "-in", f"{folder}/p12", "-nodes", "-passin", "pass:" + READY["test_p12_pin"]],
                             capture_output=True, check=True).stdout.decode()
        with open(f"{folder}/pem", "w") as file:
            file.write(pem)
        digest = base64.b64encode(hashlib.sha256(xml.encode()).digest()).decode()
        info = (f'<SignedInfo xmlns="{dsig}"><CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315">'
                '</CanonicalizationMethod><SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></SignatureMethod>'
                f'<Reference URI=""><Transforms><Transform Algorithm="{dsig}enveloped-signature"></Transform></Transforms>'
                '<DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></DigestMethod>'
                f"<DigestValue>{digest}</DigestValue></Reference></SignedInfo>")
        value = subprocess.run(["openssl", "dgst", "-sha256", "-sign", f"{folder}/pem"], input=info.encode(),
                               capture_output=True, check=True).stdout
    certificate = pem.split("-----BEGIN CERTIFICATE-----")[1].split("-----END CERTIFICATE-----")[0].replace("\n", "")
    signature = (f'<Signature xmlns="{dsig}">' + info.replace(f' xmlns="{dsig}"', "")
                 + f"<SignatureValue>{base64.b64encode(value).decode()}</SignatureValue>"
                 f"<KeyInfo><X509Data><X509Certificate>{certificate}</X509Certificate></X509Data></KeyInfo></Signature>")
    end = xml.rindex("</")
    return base64.b64encode((xml[:end] + signature + xml[end:]).encode()).decode()


def exchange(client):
    """A second company issues to the first one, which approves, rejects and forwards; then numbers are annulled."""
    rnc, other = READY["company_rnc"], "131880681"
    body = json.dumps({"rnc": other, "name": "Panadería La Espiga SRL", "email": "pan@espiga.example",
                       "p12_base64": READY["test_p12"], "pin": READY["test_p12_pin"]}).encode()
    request = urllib.request.Request(BASE + "/public/register", body, {"Content-Type": "application/json"})
    registered = json.loads(urllib.request.urlopen(request).read())
    operator("verify_company", company=registered["company"]["public_id"])
    bakery = ECFClient(api_key=registered["api_key"]["key"], base_url=BASE)
    for company in (rnc, other):
        base = f"{READY['base_url']}/{company}/testecf"
        control("PUT", f"directory/{company}", {"nombre": "X", "urlRecepcion": base, "urlAceptacion": base, "urlOpcional": base})
    receipts = []
    for number in range(3):
        sale = payload()
        sale["Encabezado"]["Emisor"].update(RNCEmisor=other, RazonSocialEmisor="PANADERIA LA ESPIGA SRL")
        sale["Encabezado"]["Comprador"]["RNCComprador"] = rnc
        receipts.append(bakery.ecf.create(idempotency_key=f"bread-{number}", ecf_type="31", payload=sale))
    inbox = eventually(lambda: (page := client.client.inbox(acked=False)).total == 3 and page)
    # The client's default, and the parameter left out: both list unacknowledged items.
    client.client.ack_inbox(inbox.items[0].public_id)
    for page in (client.client.inbox(), client.client.inbox(acked=None)):
        assert [item.public_id for item in page.items] == [item.public_id for item in inbox.items[1:]], page
    assert [item.public_id for item in client.client.inbox(acked=True).items] == [inbox.items[0].public_id]
    items = {item.encf: item for item in inbox.items}
    first, second, third = (items[receipt.encf] for receipt in receipts)

    def answer(item, key, estado, **more):
        return client.ecf.submit_acecf(idempotency_key=key, encf=item.encf, rnc_emisor=item.rnc_emisor, rnc_comprador=item.rnc_comprador,
                                       fecha_emision=item.fecha_emision, monto_total=item.monto_total, estado=estado, **more)

    approved = answer(first, "approve", "1")
    assert approved.status == "completed" and approved.dgii_response["codigo"] == "1", approved
    assert answer(first, "approve", "2") == approved, "the key alone decides"
    rejected = answer(second, "reject", "2", detalle_motivo_rechazo="Falta la mitad", environment="TesteCF")
    assert rejected.status == "completed" and rejected.public_id != approved.public_id, rejected
    # The client has no exception class for a 409.
    refused(Exception, lambda: answer(first, "again", "2"))

    acecf = sign("<ACECF><DetalleAprobacionComercial><Version>1.0</Version>"
                 f"<RNCEmisor>{other}</RNCEmisor><eNCF>{third.encf}</eNCF><FechaEmision>{third.fecha_emision}</FechaEmision>"
                 f"<MontoTotal>{third.monto_total}</MontoTotal><RNCComprador>{rnc}</RNCComprador><Estado>1</Estado>"
                 f"<FechaHoraAprobacionComercial>{third.fecha_emision} 10:00:00</FechaHoraAprobacionComercial>"
                 "</DetalleAprobacionComercial></ACECF>")
    fields = dict(sender_rnc=rnc, receiver_rnc=other, ecf_type="31", encf=third.encf, signed_xml=acecf, environment="TesteCF")
    outbound = client.ecf.acecf_outbound(idempotency_key="passed-on", **fields)
    assert outbound.status == "completed" and isinstance(outbound.dgii_response, dict), outbound
    inbound = bakery.ecf.acecf_inbound(idempotency_key="passed-on", receiver_url=f"{READY['base_url']}/{other}/testecf", **fields)
    assert inbound.status == "completed", inbound
    assert bakery.ecf.acecf_inbound(idempotency_key="passed-on", **dict(fields, signed_xml="")) == inbound
    refused(ECFValidationError, lambda: client.ecf.acecf_outbound(idempotency_key="bad", **dict(fields, signed_xml="bm8=")))

    ranges = [{"ecf_type": "44", "sequence_from": 101, "sequence_to": 110, "quantity": 10}]
    annulled = client.ecf.cancel_sequences(idempotency_key="void", cancellations=ranges)
    assert annulled.status == "accepted", annulled
    assert client.ecf.cancel_sequences(idempotency_key="void", cancellations=[dict(ranges[0], sequence_to=101, quantity=1)]) == annulled
    bad = [dict(ranges[0], quantity=11)]
    refused(ECFValidationError, lambda: client.ecf.cancel_sequences(idempotency_key="bad", cancellations=bad))
    bakery.close()


def payload(ecf_type="31"):
    today = datetime.now(timezone(timedelta(hours=-4))).strftime("%d-%m-%Y")
    return (
        ECFPayloadBuilder(ecf_type=ecf_type)
        .id_doc(TipoIngresos="01", TipoPago="1", IndicadorMontoGravado=0)
        .emisor(RNC=READY["company_rnc"], RazonSocial="DEMO SRL", Direccion="Calle Uno 1", FechaEmision=today,
                TablaTelefonoEmisor={"Telefono": [{"Telefono": "809-555-0100"}]})
        .comprador(RNC="101672919", RazonSocial="CLIENTE ÑANDÚ & HIJOS SRL")
        .totales(MontoGravadoTotal=10000.0, MontoGravadoI1=10000.0, ITBIS1=18, TotalITBIS=1800.0, TotalITBIS1=1800.0,
                 MontoTotal=11800.0)
        .add_item({"NumeroLinea": 1, "Descripcion": "Servicio", "IndicadorFacturacion": 1, "IndicadorBienoServicio": 2,
                   "CantidadItem": 1, "PrecioUnitarioItem": 10000.0, "MontoItem": 10000.0})
        .build()
    )


def methods(client):
    names = {"health", "close"}
    for resource in ("ecf", "client", "dgii", "notices"):
        for name, _ in inspect.getmembers(getattr(client, resource), inspect.ismethod):
            if not name.startswith("_"):
                names.add(f"{resource}.{name}")
    return names


def main():
    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    client = ECFClient(api_key=READY["api_key"], base_url=BASE)

    assert methods(client) == CALLED, f"not covered: {methods(client) - CALLED}; gone: {CALLED - methods(client)}"

    assert client.health().status in ("ok", "degraded")
    sequences = client.client.sequences(ecf_type="31", active_only=True)
    assert sequences.total == len(sequences.items) == 2, sequences
    for sequence in sequences.items:
        assert sequence.used + sequence.available == sequence.total and sequence.is_active, sequence
    assert client.client.sequences(ecf_type="99").items == []
    states = client.ecf.states()
    assert {"source_of_truth", "mutation_policy", "states", "event_derived_stages"} <= states.keys()

    maintenance = client.dgii.status_maintenance()
    assert maintenance["windows"] == [] and maintenance["recommend_contingency"] is False, maintenance
    assert client.dgii.status_refresh()["source"] == "status_service"
    assert client.dgii.status()["operational"] is True
    assert any(service["servicio"] == "Recepción FC" for service in client.dgii.status_services()["services"])
    assert client.dgii.status_environment("CerteCF")["environment"] == "CerteCF"
    assert client.dgii.status_impact("ecf")["impact"] == "none"
    assert len(client.dgii.status_impact()["items"]) == 3
    assert client.dgii.directory(rnc="131880681")["listed"] is False
    anonymous = ECFClient(base_url=BASE).dgii.rnc("131880681")
    assert anonymous.razon_social == client.dgii.rnc("131880681").razon_social == "PANADERIA LA ESPIGA SRL", anonymous
    refused(ECFNotFoundError, lambda: client.dgii.rnc("999999999"))
    feed = client.notices.changes()
    assert (feed.schema_version, feed.changes, feed.has_more) == (1, [], False), feed
    assert client.notices.changes(cursor=feed.next_cursor, limit=10).changes == []
    draft = operator("draft_notice", category="announcement", severity="info", title="Aviso", body="Texto", audience="all")
    notice = operator("publish_notice", notice=draft["notice"]["id"])["notice"]["id"]
    feed = client.notices.changes(cursor=feed.next_cursor)
    assert [(change.operation, change.notice.id) for change in feed.changes] == [("upsert", notice)], feed
    assert client.notices.get(notice).state == "active"
    operator("withdraw_notice", notice=notice)
    feed = client.notices.changes(cursor=feed.next_cursor)
    assert [(change.operation, change.notice.id) for change in feed.changes] == [("revoke", notice)], feed
    refused(ECFNotFoundError, lambda: client.notices.get(notice))

    # This company has not received anything yet; `exchange` has a full inbox.
    for acked in (False, True, None):
        assert client.client.inbox(acked=acked).items == []
    nobodys = "0" * 32
    for call in (client.client.ack_inbox, client.client.download_inbox_xml, client.client.download_inbox_arecf):
        refused(ECFNotFoundError, lambda call=call: call(nobodys))

    hook = client.client.create_webhook(url=f"http://127.0.0.1:{server.server_port}/webhooks/ecf", events=["ecf.*"])
    assert hook.secret and hook.only_shown_once
    assert any(known_hook.public_id == hook.public_id for known_hook in client.client.list_webhooks())
    assert isinstance(client.client.test_webhook(hook.public_id), dict)
    eventually(lambda: Receiver.received)

    company = client.client.company()
    assert company.rnc == READY["company_rnc"] and company.is_active and company.certificate.active, company
    assert "31" in company.active_ncf_types, company
    changed = client.client.update_company(address="Calle Dos 2", email="nueva@demo.example", phone="809-555-0101")
    assert (changed.address, changed.email, changed.phone) == ("Calle Dos 2", "nueva@demo.example", "809-555-0101"), changed
    refused(ECFValidationError, lambda: client.client.update_company(email="no address"))

    document = client.ecf.create(idempotency_key="published-1", ecf_type="31", payload=payload(), external_id="F-1")
    assert document.encf and document.encf.startswith("E31"), document
    again = client.ecf.create(idempotency_key="published-1", ecf_type="31", payload={"Encabezado": {}})
    assert again.public_id == document.public_id and again.encf == document.encf

    final = eventually(lambda: (read := client.ecf.get(document.public_id)).status.value == "accepted" and read)
    assert final.dgii_track_id and final.dgii_security_code, final

    assert document.public_id in [item.public_id for item in client.ecf.list(limit=10, offset=0).items]
    accepted = client.ecf.list(status="accepted")
    assert accepted.total == len(accepted.items) == 1, accepted
    assert client.ecf.status_public(external_id="F-1", company_rnc=READY["company_rnc"]).public_id == document.public_id
    refused(ECFNotFoundError, lambda: client.ecf.status_public(external_id="F-1", company_rnc="131880681"))
    page = client.client.documents(status="accepted", ecf_type="31", encf=final.encf, external_id="F-1")
    assert page.total == 1 and page.items[0].public_id == document.public_id, page
    assert client.client.documents(track_id=final.dgii_track_id).total == 1
    record = client.client.get_document(document.public_id)
    assert record.electronic_stamp and record.sign_date and record.submitted_at and record.completed_at, record
    assert record.dgii_response["estado"] == "Aceptado", record
    artifacts = client.client.list_artifacts(document.public_id)
    there = {name for name, is_there in artifacts.items() if is_there is True}
    assert there == {"signed_xml", "generated_xml", "ri", "dgii_response", "taxauth_response"}, artifacts
    signed = client.ecf.download_xml(document.public_id)
    assert signed == client.client.download_artifact(document.public_id, ArtifactType("signed-xml")) and b"<Signature" in signed
    assert b"<Signature" not in client.client.download_artifact(document.public_id, ArtifactType("generated-xml"))
    assert json.loads(client.client.download_artifact(document.public_id, ArtifactType("dgii-response"))) == record.dgii_response
    refused(ECFNotFoundError, lambda: client.ecf.download_rfce(document.public_id))
    printed = client.ecf.download_pdf(document.public_id)
    assert printed.startswith(b"%PDF-") and printed == client.ecf.download_pdf(document.public_id, refresh=True)
    assert printed == client.client.download_artifact(document.public_id, ArtifactType("ri"))
    with zipfile.ZipFile(io.BytesIO(client.client.audit_export())) as archive:
        assert archive.testzip() is None
        assert signed in [archive.read(name) for name in archive.namelist() if name.endswith(f"{final.encf}.xml")]
    yesterday = datetime.now(timezone(timedelta(hours=-4))) - timedelta(days=1)
    with zipfile.ZipFile(io.BytesIO(client.client.audit_export(date_to=yesterday.replace(tzinfo=None)))) as archive:
        assert json.loads(archive.read("manifest.json"))["receipts"] == 0
    small = client.ecf.create(idempotency_key="published-small", ecf_type="32", payload=payload("32"))
    assert client.ecf.download_rfce(small.public_id).startswith(b"<RFCE>")

    def verdict():
        return [call for call in Receiver.received if call[0].get("X-ECF-Event") == "accepted"]

    summary = eventually(lambda: (s := client.client.summary())["receipts"]["today"]["states"].get("accepted") and s)
    assert summary["receipts"]["today"]["types"]["31"]["created"] >= 1, summary

    headers, body = eventually(verdict)[0]
    assert verify_webhook_signature(body, headers["X-ECF-Signature"], hook.secret)
    event = json.loads(body)
    assert event["public_id"] == document.public_id and event["status"] == "accepted", event
    deliveries = eventually(lambda: (page := client.client.webhook_deliveries(hook.public_id)).total >= 2 and page)
    assert {"webhook.test", "accepted"} <= {delivery.event for delivery in deliveries.items}

    tomorrow = (datetime.now(timezone(timedelta(hours=-4))) + timedelta(days=1)).replace(tzinfo=None, microsecond=0)
    waiting = client.ecf.create(idempotency_key="published-2", ecf_type="31", payload=payload(),
                                scheduled_for=tomorrow)
    assert waiting.status.value == "deferred" and waiting.encf is None and waiting.scheduled_for, waiting
    assert client.ecf.mark_incapacity(waiting.public_id).status.value == "incapacity"

    with tempfile.NamedTemporaryFile(suffix=".p12") as file:
        file.write(base64.b64decode(READY["test_p12"]))
        file.flush()
        uploaded = client.client.upload_certificate(
            certificate_path=file.name, pin=READY["test_p12_pin"], environment="TesteCF")
        refused(ECFValidationError, lambda: client.client.upload_certificate(certificate_path=file.name, pin="wrong"))
    assert uploaded.is_active and uploaded.days_until_expiry > 0, uploaded
    assert [known.public_id for known in client.client.list_certificates() if known.is_active] == [uploaded.public_id]

    spare = client.client.create_webhook(url=f"http://127.0.0.1:{server.server_port}/spare", events=["rejected"])
    changed = client.client.update_webhook(spare.public_id, events=["rejected", "taxauth.*"], is_active=False)
    assert changed.events == ["rejected", "taxauth.*"] and changed.is_active is False, changed
    rotated = client.client.rotate_webhook_secret(spare.public_id)
    assert rotated.secret != spare.secret and rotated.only_shown_once, rotated
    client.client.delete_webhook(spare.public_id)
    refused(ECFNotFoundError, lambda: client.client.webhook_deliveries(spare.public_id))

    exchange(client)
    refused(ECFNotFoundError, lambda: client.ecf.get("0" * 32))
    refused(ECFValidationError, lambda: client.ecf.create(idempotency_key="bad", ecf_type="31", payload={}))
    refused(ECFAuthError, lambda: ECFClient(api_key="ecf_wrong", base_url=BASE).ecf.states())
    refused(ECFValidationError, lambda: ECFClient(base_url=BASE).ecf.states())
    client.close()
    print(f"published client: {len(CALLED)} methods called, which are all")


main()
