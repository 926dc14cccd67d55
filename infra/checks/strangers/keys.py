"""Attacks with a leaked key, or as a company that signed up for free."""

import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import stranger
from target import NotPlayed, call, refuse

PORTAL = b"<SolicitudEmision><RNC>130000001</RNC></SolicitudEmision>"


def prepare(target):
    target.contract = call("GET", target.base + "/openapi/public-v1.json").json


def k7_rounds_of_a_p12_are_not_kept(target):
    """Uploads a slow P12 file to the stranger's own company, and measures the cost of that company's first receipt."""
    def cost(rnc, **rounds):
        key = target.signed_up(rnc)["api_key"]["key"]
        upload = target.upload_p12(stranger.self_signed(f"IDCDO-{rnc}").p12("clave123", **rounds), "clave123", key)
        begun = time.monotonic()
        if upload.status == 201:
            target.issue(f"rounds-{rnc}", key=key, rnc=rnc)
        return upload, time.monotonic() - begun

    upload, normal = cost("130888881")
    if upload.status != 201:
        raise NotPlayed(f"a normal file is refused: {upload.code}")
    upload, slowed = cost("130888885", rounds=1_900_000)
    if upload.status != 201:
        return f"refused: {upload.code}"
    return refuse(slowed > normal + 0.7, f"the first receipt: {slowed:.2f} s, with a normal file {normal:.2f} s")


def k8_foreign_numbers_are_no_rnc(target):
    seen, taken = [], False
    for kind in ("IDCUS-", "TINUS-", "TIN", "SSN"):
        answer = target.upload_p12(stranger.self_signed(f"{kind}{target.rnc}").p12("clave123"), "clave123", path="/client/tools/inspect-p12")
        if answer.status != 200:
            raise NotPlayed(f"inspection: {answer.code}")
        owner = answer.json.get("owner")
        taken = taken or owner == "company"
        seen.append(f"{kind}{target.rnc}: {owner}")
    signed_up = target.register("130888882", signer=stranger.self_signed("IDCUS-130888882"))
    verified = signed_up.status == 201 and signed_up.json["company"]["verified"]
    return refuse(taken or verified, f"{', '.join(seen)}; verified by sign-up: {verified}")


def k5_no_json_is_stored_or_sniffed(target):
    public_id = target.made("POST", "/client/webhooks", {"url": "http://127.0.0.1:9/hook", "events": ["accepted"]})["public_id"]
    answers = {
        "sign-up": target.register("130888883"),
        "new key": target.client("POST", "/client/api-keys", {"name": "una"}),
        "new webhook": target.client("POST", "/client/webhooks", {"url": "http://127.0.0.1:9/otro", "events": ["accepted"]}),
        "new secret": target.client("POST", f"/client/webhooks/{public_id}/rotate-secret", {}),
        "company": target.client("GET", "/client/company"),
        "wrong key": target.client("GET", "/client/company", key="ecf_test_" + "0" * 48),
        "unknown path": target.client("GET", "/client/nada"),
        "refused document": target.fe("recepcion", b"{}"),
        "refused body": target.client("POST", "/ecf", {}),
    }
    lacking = [what for what, answer in answers.items()
               if "no-store" not in answer.headers.get("cache-control", "") or answer.headers.get("x-content-type-options") != "nosniff"]
    return refuse(lacking, f"without both headers: {', '.join(lacking) or 'none'}")


def k3_one_slow_test_of_a_webhook_at_a_time(target):
    release = threading.Event()

    class Slow(BaseHTTPRequestHandler):
        def do_POST(self):
            release.wait(8)
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    key = target.signed_up("130888884")["api_key"]["key"]
    hook = target.made("POST", "/client/webhooks", {"url": f"http://127.0.0.1:{server.server_port}/", "events": ["accepted"]}, key)
    answers = []

    def test():
        answers.append(target.client("POST", f"/client/webhooks/{hook['public_id']}/test", key=key))
        # The first rejected request ends the other's wait.
        if answers[-1].status in (409, 429):
            release.set()

    threads = [threading.Thread(target=test) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.shutdown()
    waited = [answer for answer in answers if answer.status not in (409, 429)]
    return refuse(len(waited) > 1, f"{len(waited)} of 3 tests at a time waited for the slow receiver: {[answer.code[:40] for answer in answers]}")


def parameter(target, path, method, word):
    """The name of a parameter or body member that contains `word`, from the running system's contract."""
    operation = target.contract["paths"].get(path, {}).get(method, {})
    names = [one.get("name", "") for one in operation.get("parameters", [])]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        schema = content["schema"]
        schema = target.contract["components"]["schemas"].get(schema.get("$ref", "").rsplit("/", 1)[-1], schema)
        names += schema.get("properties", {})
    return next((name for name in names if word in name), None)


def k1_keys_that_a_stolen_key_made_go_with_it(target):
    stolen = target.made("POST", "/client/api-keys", {"name": "robada"})
    child = target.made("POST", "/client/api-keys", {"name": "puerta trasera"}, stolen["key"])
    listed = target.made("GET", "/client/api-keys")
    listed = listed if isinstance(listed, list) else listed["items"]
    entry = next(key for key in listed if key["public_id"] == child["public_id"])
    descent = str({name: value for name, value in entry.items() if "created_by" in name})
    name = parameter(target, "/api/v1/client/api-keys/{public_id}", "delete", "descend")
    if not name or stolen["public_id"] not in descent:
        return refuse(True, f"nobody sees who made a key ({descent}), and nothing revokes what it made")
    target.made("DELETE", f"/client/api-keys/{stolen['public_id']}?{name}=true")
    after = target.made("GET", "/client/api-keys")
    after = after if isinstance(after, list) else after["items"]
    entry = next(key for key in after if key["public_id"] == child["public_id"])
    revoked = bool(entry.get("revoked_at")) or entry.get("is_active") is False
    return refuse(not revoked, f"revoked with {name}=true; the key that it made is revoked: {revoked}")


def k1_a_key_is_good_for_its_scope_only(target):
    name = parameter(target, "/api/v1/client/api-keys", "post", "scope")
    if not name:
        return refuse(True, "every key may do everything: there are no scopes")
    keys = {scope: target.made("POST", "/client/api-keys", {"name": scope, name: scope})["key"] for scope in ("read", "issue")}
    issue = {"idempotency_key": "scope", "ecf_type": "31", "payload": {}}
    tries = {
        "read issues": target.client("POST", "/ecf", issue, keys["read"]).status,
        "read changes the company": target.client("PATCH", "/client/company", {"phone": "809-555-0101"}, keys["read"]).status,
        "read makes keys": target.client("POST", "/client/api-keys", {"name": "x"}, keys["read"]).status,
        "read makes webhooks": target.client("POST", "/client/webhooks", {"url": "http://127.0.0.1:9/x", "events": ["accepted"]}, keys["read"]).status,
        "issue makes keys": target.client("POST", "/client/api-keys", {"name": "x"}, keys["issue"]).status,
        "issue changes the company": target.client("PATCH", "/client/company", {"phone": "809-555-0102"}, keys["issue"]).status,
        "issue signs for the portal": sign_for_portal(target, keys["issue"]).status,
    }
    good = target.client("GET", "/client/company", key=keys["read"]).status
    if good != 200:
        raise NotPlayed(f"a key with the scope `read` does not read: {good}")
    return refuse(any(status != 403 for status in tries.values()), ", ".join(f"{what}: {status}" for what, status in tries.items()))


def sign_for_portal(target, key):
    return target.client("POST", "/client/tools/sign-xml", PORTAL, key, {"Content-Type": "application/xml"})


# From here on the company has a production key; rows run in order.

def k1_a_test_key_does_not_touch_production(target):
    production = target.operator("issue_api_key", company=target.company, environment="ecf")["api_key"]["key"]
    p12 = stranger.self_signed(f"IDCDO-{target.rnc}").p12("clave123")
    tries = {
        "default environment": target.client("PATCH", "/client/company", {"default_environment": "CerteCF"}),
        "settings": target.client("PATCH", "/client/company", {"settings": {"reception_token": True}}),
        "sign-xml": sign_for_portal(target, target.key),
        "certificate": target.upload_p12(p12, "clave123"),
    }
    if target.client("PATCH", "/client/company", {"settings": {"hold_notes": True}}, production).status != 200:
        raise NotPlayed("the production key changes nothing either")
    odd = {what: answer.code for what, answer in tries.items() if 300 <= answer.status and answer.status != 403}
    if odd:
        raise NotPlayed(f"refused for another reason: {odd}")
    return refuse(any(answer.status < 300 for answer in tries.values()), ", ".join(f"{what}: {answer.status}" for what, answer in tries.items()))
