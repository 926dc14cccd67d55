"""Attacks on the signer: planted invoices, approvals in another's name, expired certificates, tokens for third parties."""

import json
import re
from datetime import timedelta

import stranger
from target import BAKERY, NotPlayed, Peer, call, eventually, not_limited, refuse

XML_FOR_JSON = {"Content-Type": "application/xml", "Accept": "application/json"}
BELIEVED = ("accepted", "conditionally_accepted")


def prepare(target):
    target.open_bakery()
    target.self_signed = stranger.self_signed(f"IDCDO-{BAKERY}", "PANADERIA LA ESPIGA SRL")


def items(target, encf, mine):
    """The bakery's inbox items with this number: those of the stranger, or the others."""
    found = [item for item in target.inbox() if item["encf"] == encf and item["rnc_emisor"] == BAKERY]
    return [item for item in found if (target.planter in item["signer"]) == mine]


def plant(target, encf, name):
    """Sends an invoice in the bakery's name, signed by the stranger. Returns whether it was acknowledged as received."""
    target.planter = name
    signer = stranger.self_signed(f"IDCDO-{BAKERY}", name)
    return target.plant(signer.sign(stranger.receipt(BAKERY, target.rnc, encf))).estado == "0"


def is_believed(item):
    return item.get("signer_trusted") is not False or item.get("authority_state") is None or item["authority_state"] in BELIEVED


def s1_a_planted_invoice_is_not_believed(target):
    received = plant(target, "E310000009001", "PLANTADO UNO")
    planted = items(target, "E310000009001", mine=True)
    if received and not planted:
        raise NotPlayed("received and not in the inbox")
    # The authority is queried meanwhile and must not confirm an unknown receipt.
    believed = eventually(lambda: [item for item in items(target, "E310000009001", mine=True) if is_believed(item)], 4)
    seen = [{name: item.get(name) for name in ("signer_trusted", "authority_state")} for item in believed or planted]
    return refuse(believed, f"received: {received}; in the inbox: {seen}")


def s1_events_say_that_a_planted_invoice_is_not_believed(target):
    with Peer(demands_token=False) as receiver:
        wanted = {"url": receiver.url + "/hook", "events": ["inbox.received", "inbox.confirmed"]}
        if target.client("POST", "/client/webhooks", wanted).status == 422:
            target.made("POST", "/client/webhooks", wanted | {"events": ["inbox.received"]})
        received = plant(target, "E310000009002", "PLANTADO DOS")
        if not received:
            return "not received"

        def events():
            bodies = [json.loads(body) for path, _, body in list(receiver.documents) if path == "/hook"]
            return [body for body in bodies if body.get("encf") == "E310000009002"]

        if not eventually(events, 8):
            raise NotPlayed("no event was delivered")
        believed = eventually(lambda: [event for event in events() if is_claimed(event)], 3)
        seen = [{name: event.get(name) for name in ("event", "signer_trusted", "authority_state")} for event in believed or events()]
        return refuse(believed, str(seen))


def is_claimed(event):
    return event.get("signer_trusted") is not False or event.get("authority_state") in BELIEVED


def s1_a_genuine_invoice_is_received_after_a_planted_twin(target):
    """The bakery's next number is planted before the bakery uses it."""
    used = target.accepted("bread-0", target.rnc, target.bakery_key, BAKERY)["encf"]
    encf = f"{used[:3]}{int(used[3:]) + 1:010}"
    received = plant(target, encf, "PLANTADO ANTES")
    return genuine(target, "bread-before", encf, received)


def s1_a_genuine_invoice_stands_when_a_twin_is_planted_later(target):
    first = target.accepted("bread-first", target.rnc, target.bakery_key, BAKERY)
    if not delivered(target, first["public_id"]):
        raise NotPlayed("the genuine receipt was not delivered before it had a twin")
    received = plant(target, first["encf"], "PLANTADO DESPUES")
    return genuine(target, "bread-first", first["encf"], received)


def delivered(target, public_id):
    def ended():
        delivery = target.receipt(public_id, target.bakery_key).get("buyer_delivery") or {}
        return delivery.get("status") not in (None, "pending") and delivery

    return eventually(ended, 15)


def genuine(target, reference, encf, planted):
    """The bakery's own receipt is delivered and confirmed, and its planted twin is not."""
    issued = target.accepted(reference, target.rnc, target.bakery_key, BAKERY)
    if issued["encf"] != encf:
        raise NotPlayed(f"the bakery used {issued['encf']}, not {encf}")
    delivery = delivered(target, issued["public_id"]) or {}
    if delivery.get("status") != "received":
        return refuse(True, f"planted: {planted}; the genuine one: {delivery}")
    confirmed = eventually(lambda: [item for item in items(target, encf, mine=False) if item.get("authority_state") in BELIEVED], 15)
    twins = [item for item in items(target, encf, mine=True) if is_believed(item)]
    seen = f"planted: {planted}; the genuine one received, confirmed: {bool(confirmed)}; twins believed: {len(twins)}"
    return refuse(not confirmed or twins, seen)


def s1_no_production_inbox_without_a_production_key(target):
    xml = target.self_signed.sign(stranger.receipt(BAKERY, target.rnc, "E310000009100"))
    answer = target.plant(xml, environment="ecf")
    return refuse(answer.estado == "0", f"{answer.status}, Estado {answer.estado}")


def answered(target, receipt):
    return (target.receipt(receipt["public_id"]).get("buyer_answer") or {}).get("status")


def s2_a_buyer_answers_after_a_stranger_did_in_its_name(target):
    receipt = target.accepted("to-answer")
    date, encf = f"{stranger.now():%d-%m-%Y}", receipt["encf"]
    forged = target.answer_for_buyer(target.self_signed.sign(stranger.approval(target.rnc, BAKERY, encf, "2", date)))
    between = answered(target, receipt)
    own = target.answer_for_buyer(target.trusted.sign(stranger.approval(target.rnc, BAKERY, encf, "1", date)))
    seen = f"forged rejection {forged.code[:40]}, shown as {between}; the buyer's approval {own.code[:40]}, shown as {answered(target, receipt)}"
    return refuse(own.status != 200 or answered(target, receipt) != "approved", seen)


def s2_no_answer_to_a_receipt_that_the_authority_has_not_accepted(target):
    target.control("PUT", "verdict-delay", {"ms": 4000})
    receipt = target.issue("to-answer-early")
    xml = target.trusted.sign(stranger.approval(target.rnc, BAKERY, receipt["encf"], "2"))
    answer, state = target.answer_for_buyer(xml), target.receipt(receipt["public_id"])["status"]
    target.control("PUT", "verdict-delay", {"ms": 600})
    if state == "accepted":
        raise NotPlayed("the authority was faster")
    return refuse(answer.status == 200 or answered(target, receipt), f"while {state}: {answer.code[:60]}")


def s3_an_expired_certificate_does_not_sign_today(target):
    expired = stranger.self_signed(f"IDCDO-{BAKERY}", "VENCIDO", since=-3650, until=-2500)
    at = stranger.now() - timedelta(days=2600)
    planted = target.plant(expired.sign(stranger.receipt(BAKERY, target.rnc, "E310000009200", at)))
    receipt = target.accepted("to-answer-expired")
    xml = expired.sign(stranger.approval(target.rnc, BAKERY, receipt["encf"], at=at))
    answer = target.answer_for_buyer(xml)
    seen = f"receipt: Estado {planted.estado}; answer: {answer.code[:60]}"
    return refuse(planted.estado == "0" or answer.status == 200, seen)


def s11_who_got_the_token_is_kept_with_the_document(target):
    """The service requires a token; one certificate gets it, and another one signs the document."""
    target.made("PATCH", "/client/company", {"settings": {"reception_token": True}}, target.bakery_key)
    caller = stranger.self_signed("IDCDO-00112345678", "QUIEN LLAMA")
    address = f"{target.published(BAKERY)}/fe/autenticacion/api"
    seed = not_limited(call("GET", f"{address}/semilla")).body.decode()
    seed = re.sub(r"^<\?xml[^>]*\?>\s*", "", seed)
    grant = not_limited(call("POST", f"{address}/validacioncertificado", caller.sign(seed), XML_FOR_JSON))
    if grant.status != 200:
        return f"a self-signed certificate gets no token: {grant.code[:60]}"
    xml = target.self_signed.sign(stranger.receipt("101672919", BAKERY, "E310000009300"))
    planted = target.plant(xml, rnc=BAKERY, headers={"Authorization": f"Bearer {grant.json['token']}"})
    if planted.estado != "0":
        raise NotPlayed(f"the document was not received with the token: {planted.code}")
    item = next(item for item in target.inbox(target.bakery_key) if item["encf"] == "E310000009300")
    return refuse("00112345678" not in str(item) and "QUIEN LLAMA" not in str(item), f"the item names its signer only: {item['signer'][:60]}")
