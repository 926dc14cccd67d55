"""Attacks with others' seeds and tokens, guesses, and extreme times."""

import re

import stranger
from target import BAKERY, NotPlayed, Peer, call, eventually, flood, not_limited, refuse

# The first and the last instant of the calendar with signed four-digit years.
FIRST, LAST = "-009999-01-02T01:59:59Z", "9999-12-30T22:00:00Z"
EVIL = ("101672919", "130555551", "130555552", "130555553")


def prepare(target):
    target.open_bakery()
    target.authority = f"{target.simulator}/testecf/autenticacion/api/autenticacion"


def send_answer(target, issuer, encf, receiver_url=None):
    """Submits the demo company's approval of a receipt from `issuer`, which the service delivers."""
    xml = target.trusted.sign(stranger.approval(issuer, target.rnc, encf, "1"))
    body = {"idempotency_key": f"answer-{encf}", "sender_rnc": target.rnc, "receiver_rnc": issuer, "ecf_type": "31", "encf": encf,
            "signed_xml": stranger.base64.b64encode(xml).decode()}
    return target.client("POST", "/ecf/acecf/outbound", body | ({"receiver_url": receiver_url} if receiver_url else {}))


def s6_no_seed_of_a_receiver_url_is_signed(target):
    with Peer(forward=target.authority) as peer:
        answer = send_answer(target, EVIL[0], "E310000008001", peer.url)
        if answer.status < 300 and not eventually(lambda: peer.documents, 5):
            raise NotPlayed(f"the answer never came to the stranger: {answer.code}")
        eventually(lambda: peer.stolen, 2)
        return refuse(peer.signed_seeds, f"{answer.status}; signed seeds: {len(peer.signed_seeds)}; token of the authority: {bool(peer.stolen)}")


def s6_one_seed_an_hour_is_signed_for_a_peer(target):
    """The peer rejects every token, so each of three documents is a reason to request another seed."""
    with Peer() as peer:
        peer.demands_token, handler = True, peer.server.RequestHandlerClass
        handler.answer_with = 401
        post = handler.do_POST

        def refuse_tokens(self):
            if "validacioncertificado" in self.path.lower():
                return post(self)
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            peer.documents.append((self.path, self.headers.get("Authorization"), body))
            return self.answer(401)

        handler.do_POST = refuse_tokens
        target.list_in_directory(EVIL[2], peer.url, peer.url)
        for number in range(3):
            target.accepted(f"many-{number}", EVIL[2])
        if not eventually(lambda: peer.documents or peer.seeds_given, 10):
            raise NotPlayed("no receipt came to the stranger")
        eventually(lambda: len(peer.signed_seeds) > 1, 3)
        return refuse(len(peer.signed_seeds) > 1, f"3 receipts: {len(peer.documents)} documents, {len(peer.signed_seeds)} seeds signed")


def s9_a_time_beyond_the_calendar_is_no_crash(target):
    seen, crashed = [], False
    for expira, issuer, encf in ((FIRST, EVIL[0], "E310000008002"), (LAST, EVIL[3], "E310000008003")):
        with Peer(expira=expira) as peer:
            target.list_in_directory(issuer, peer.url, peer.url)
            answer = send_answer(target, issuer, encf)
            handed = eventually(lambda: any(token for _, token, _ in peer.documents), 2)
            if answer.status < 500 and not peer.signed_seeds:
                raise NotPlayed(f"{expira}: no token was asked for: {answer.code}")
            crashed = crashed or answer.status >= 500 or not handed
            seen.append(f"{expira}: {answer.status}, document handed over with the token: {bool(handed)}")
    return refuse(crashed, "; ".join(seen))


def s7_guesses_at_receipts_get_one_answer(target):
    signer = stranger.self_signed(f"IDCDO-{BAKERY}")
    receipt = target.accepted("to-guess")
    right = {"issuer": target.rnc, "buyer": BAKERY, "encf": receipt["encf"], "date": f"{stranger.now():%d-%m-%Y}"}
    guesses = {"number": {"encf": "E310009999999"}, "day": {"date": "01-02-2026"}, "total": {"total": "7.00"}, "buyer": {"buyer": "101672919"}}
    answers = {}
    for what, wrong in guesses.items():
        answer = not_limited(target.fe("aprobacioncomercial", signer.sign(stranger.approval(**(right | wrong)))))
        answers[what] = (answer.status, re.sub(rb'"request_id":"[^"]*"', b"", answer.body))
    if any(status == 200 for status, _ in answers.values()):
        raise NotPlayed("a wrong guess was taken")
    seen = ", ".join(f"{what}: {body[:46].decode(errors='replace')}" for what, (_, body) in answers.items())
    return refuse(len(set(answers.values())) > 1, f"{len(set(answers.values()))} different answers; {seen}")


def s10_a_guessed_idempotency_key_gives_no_key_of_another(target):
    """The stranger knows only public data: RNC, name and e-mail, and common formats of ERPs."""
    seen, taken = [], False
    for rnc, reference in (("130777771", "130777771"), ("130777772", "alta-130777772-produccion")):
        victim = target.register(rnc, idempotency_key=reference)
        if victim.status == 422:
            seen.append(f"{reference}: refused as a key")
            continue
        if victim.status != 201:
            raise NotPlayed(f"sign-up: {victim.code}")
        victims_key = victim.json["api_key"]["key"]
        forged = target.register(rnc, idempotency_key=reference)
        same = forged.status == 201 and forged.json["company"]["public_id"] == victim.json["company"]["public_id"]
        # A revoked key is cached for a minute, so the list of keys is more reliable than the key's first response.
        usable = target.client("GET", "/client/company", key=victims_key).status == 200
        taken = taken or same or not usable
        seen.append(f"{reference}: {forged.status}, a key of the victim's company: {same}, the victim's key works: {usable}")
    return refuse(taken, "; ".join(seen))


# Twice the limit of a one-minute window, because a new window may start meanwhile, plus a margin.
FLOOD = 2 * 600 + 100


def floods(target):
    """Rows that end at a rate limit; they have their own system."""
    target.self_signed = stranger.self_signed(f"IDCDO-{BAKERY}")


def s7_seeds_are_limited(target):
    sent, limited = flood(lambda _: call("GET", f"{target.published()}/fe/autenticacion/api/semilla"), FLOOD)
    return refuse(not limited, f"{sent} seeds in a row; limited: {limited}")


def s7_receipts_are_limited(target):
    xml = stranger.receipt("101672919", target.rnc, "E310000009999").encode()
    sent, limited = flood(lambda _: target.fe("recepcion", xml), FLOOD)
    return refuse(not limited, f"{sent} documents in a row; limited: {limited}")


def s7_answers_are_limited(target):
    xml = stranger.approval(target.rnc, "101672919", "E310000009999").encode()
    sent, limited = flood(lambda _: target.fe("aprobacioncomercial", xml), FLOOD)
    return refuse(not limited, f"{sent} answers in a row; limited: {limited}")


def k3_requests_of_one_key_are_limited(target):
    """A limit that any machine reaches; unit tests hold the deployment's own."""
    key = target.operator("issue_api_key", company=target.company, environment="TesteCF")["api_key"]
    target.operator("limit_api_key", company=target.company, key=key["id"], requests_per_second=2)
    sent, limited = flood(lambda _: target.client("GET", "/client/company", key=key["key"]), 200)
    return refuse(not limited, f"{sent} requests in a row, two a second allowed; limited: {limited}")
