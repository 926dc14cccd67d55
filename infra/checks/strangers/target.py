"""The attacked system, and the actions of its owners and of the authority."""

import http.client
import json
import re
import subprocess
import threading
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import stranger

# The second company, which uses the demo company's certificate.
BAKERY = "131880681"


class Succeeded(Exception):
    """The attack succeeded; the text describes the result."""


class NotPlayed(Exception):
    """The attack could not be carried out, so nothing is proven."""


def refuse(succeeded, seen):
    """Ends a row: `seen` is its result, or what the attack achieved."""
    if succeeded:
        raise Succeeded(seen)
    return seen


@dataclass
class Answer:
    status: int
    headers: dict
    body: bytes
    seconds: float

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        """The error code, or the first characters of another response."""
        found = re.search(rb'"code":"([a-z_0-9]+)"', self.body)
        return f"{self.status} {found[1].decode()}" if found else f"{self.status} {self.body[:60].decode(errors='replace')}".strip()

    @property
    def estado(self):
        """`Estado` of an acknowledgement (ARECF): `0` received, `1` not received; `None` for any other response."""
        found = re.search(rb"<Estado>(\d)</Estado>", self.body)
        return found[1].decode() if found and self.status == 200 else None


def call(method, url, body=None, headers=None, timeout=40):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=timeout)
    begun = time.monotonic()
    try:
        connection.request(method, parts.path + (f"?{parts.query}" if parts.query else ""), body, headers or {})
        answer = connection.getresponse()
        content = answer.read()
        fields = {name.lower(): value for name, value in answer.getheaders()}
        return Answer(answer.status, fields, content, time.monotonic() - begun)
    except (OSError, http.client.HTTPException) as error:
        # A closed connection is what a crashed function looks like from outside.
        return Answer(599, {}, repr(error).encode(), time.monotonic() - begun)
    finally:
        connection.close()


def not_limited(answer):
    """A rate limit must not be the reason why another row's request is rejected."""
    if answer.status == 429:
        raise NotPlayed(f"refused by a rate limit before it was judged: {answer.code}")
    return answer


def eventually(what, seconds):
    """The first true result within this time, otherwise `None`."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if result := what():
            return result
        time.sleep(0.1)
    return None


class Target:
    """A local system for one group of rows."""

    def __init__(self, program, ready, place):
        self.program, self.ready, self.data = program, ready, place.parent / "data"
        self.base, self.api = ready["base_url"], ready["base_url"] + "/api/v1"
        self.simulator = ready["simulator_url"]
        self.rnc, self.key = ready["company_rnc"], ready["api_key"]
        self.company = json.loads((self.data / "demo.json").read_text())["company"]
        # The owner of this certificate signs as the demo company and as the bakery.
        self.trusted = stranger.Signer.of_p12(stranger.base64.b64decode(ready["test_p12"]), ready["test_p12_pin"])
        self.bakery_key = None

    # A client's actions.

    def client(self, method, path, body=None, key=None, headers=None):
        fields = {"X-API-Key": key or self.key, **(headers or {})}
        if body is not None and not isinstance(body, bytes):
            body, fields["Content-Type"] = json.dumps(body).encode(), "application/json"
        return call(method, self.api + path, body, fields)

    def made(self, method, path, body=None, key=None):
        """The response to a request that must succeed."""
        answer = self.client(method, path, body, key)
        if answer.status >= 300:
            raise NotPlayed(f"{method} {path}: {answer.code}")
        return answer.json if answer.body else None

    def upload_p12(self, p12, pin, key=None, path="/client/certificates"):
        parts = [(b'name="certificate"; filename="a.p12"', p12), (b'name="pin"', pin.encode())]
        body = b"".join(b"--p12\r\nContent-Disposition: form-data; " + head + b"\r\n\r\n" + content + b"\r\n" for head, content in parts)
        return self.client("POST", path, body + b"--p12--\r\n", key, {"Content-Type": "multipart/form-data; boundary=p12"})

    def issue(self, reference, buyer=BAKERY, key=None, rnc=None):
        """Issues a receipt of RD$1,180.00 from the demo company, or another, to this buyer."""
        payload = {
            "Encabezado": {
                "IdDoc": {"TipoIngresos": "01", "TipoPago": 1, "IndicadorMontoGravado": 0},
                "Emisor": {"RNCEmisor": rnc or self.rnc, "RazonSocialEmisor": "EMISOR SRL", "DireccionEmisor": "Calle Uno 1",
                           "FechaEmision": f"{stranger.now():%d-%m-%Y}"},
                "Comprador": {"RNCComprador": buyer, "RazonSocialComprador": "CLIENTE SRL"},
            },
            "DetallesItems": {"Item": [{"IndicadorFacturacion": 1, "NombreItem": "Servicio", "IndicadorBienoServicio": 2,
                                        "CantidadItem": 1, "PrecioUnitarioItem": 1000}]},
        }
        return self.made("POST", "/ecf", {"idempotency_key": reference, "ecf_type": "31", "payload": payload}, key)

    def receipt(self, public_id, key=None):
        return self.made("GET", f"/ecf/{public_id}", key=key)

    def accepted(self, reference, buyer=BAKERY, key=None, rnc=None, seconds=20):
        """Issues a receipt and waits until the authority has accepted it."""
        issued = self.issue(reference, buyer, key, rnc)
        done = eventually(lambda: (view := self.receipt(issued["public_id"], key))["status"] == "accepted" and view, seconds)
        if not done:
            raise NotPlayed(f"a receipt was not accepted within {seconds} s: {self.receipt(issued['public_id'], key)}")
        return done

    def inbox(self, key=None):
        return self.made("GET", "/client/inbox?acked=&limit=100", key=key)["items"]

    def register(self, rnc, name="OTRA EMPRESA SRL", signer=None, pin="clave123", **more):
        body = {"rnc": rnc, "name": name, "email": "otra@example.com", **more}
        if signer:
            body |= {"p12_base64": stranger.base64.b64encode(signer.p12(pin)).decode(), "pin": pin}
        return call("POST", self.api + "/public/register", json.dumps(body).encode(), {"Content-Type": "application/json"})

    def signed_up(self, rnc, **more):
        answer = self.register(rnc, **more)
        if answer.status != 201:
            raise NotPlayed(f"sign-up: {answer.code}")
        return answer.json

    # Actions of other companies and of the authority.

    def open_bakery(self):
        """Signs up a second verified company; both are in the authority's directory."""
        body = {"rnc": BAKERY, "name": "Panadería La Espiga SRL", "email": "pan@example.com",
                "p12_base64": self.ready["test_p12"], "pin": self.ready["test_p12_pin"]}
        answer = call("POST", self.api + "/public/register", json.dumps(body).encode(), {"Content-Type": "application/json"})
        if answer.status != 201:
            raise NotPlayed(f"sign-up of the second company: {answer.code}")
        self.operator("verify_company", company=answer.json["company"]["public_id"])
        self.bakery_key = answer.json["api_key"]["key"]
        for rnc in (self.rnc, BAKERY):
            self.list_in_directory(rnc, self.published(rnc))

    def operator(self, command, **members):
        arguments = [self.program, "operator", json.dumps({"command": command, **members}), "--data", self.data]
        answer = json.loads(subprocess.run(arguments, capture_output=True, check=True).stdout)
        if "error" in answer:
            raise NotPlayed(f"operator {command}: {answer['error']}")
        return answer

    def control(self, method, path, body):
        call(method, f"{self.simulator}/_control/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})

    def list_in_directory(self, rnc, base, authentication=""):
        self.control("PUT", f"directory/{rnc}", {"nombre": "X", "urlRecepcion": base, "urlAceptacion": base, "urlOpcional": authentication})

    # A stranger's actions.

    def published(self, rnc=None, environment="testecf"):
        return f"{self.base}/{rnc or self.rnc}/{environment}"

    def fe(self, service, xml, rnc=None, environment="testecf", headers=None):
        """Sends a document to one of the published services: `recepcion` or `aprobacioncomercial`."""
        fields = {"Content-Type": "application/xml", **(headers or {})}
        return call("POST", f"{self.published(rnc, environment)}/fe/{service}/api/ecf", xml, fields)

    def plant(self, xml, **more):
        return not_limited(self.fe("recepcion", xml, **more))

    def answer_for_buyer(self, xml, **more):
        return not_limited(self.fe("aprobacioncomercial", xml, **more))

    def resident_kib(self, name):
        """`VmRSS` or `VmHWM` of the system's process."""
        text = open(f"/proc/{self.ready['pid']}/status").read()
        return int(re.search(rf"{name}:\s+(\d+)", text)[1])

    def forget_peak_memory(self):
        with open(f"/proc/{self.ready['pid']}/clear_refs", "w") as file:
            file.write("5")


class Peer:
    """A taxpayer's services under the stranger's control: requires a token, and returns any seed and any token."""

    def __init__(self, seed=None, forward=None, expira=None, demands_token=True):
        self.seed, self.forward, self.expira, self.demands_token = seed, forward, expira, demands_token
        self.documents, self.seeds_given, self.signed_seeds, self.stolen = [], 0, [], None
        peer = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self, status, body=b"", content_type="application/xml"):
                self.send_response(status)
                self.send_header("Content-Type", content_type)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_GET(self):
                peer.seeds_given += 1
                self.answer(200, peer.new_seed())

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                if "validacioncertificado" in self.path.lower():
                    peer.signed_seeds.append(body)
                    if peer.forward:
                        peer.pass_on(body, self.headers["Content-Type"])
                    grant = {"token": "ficha", "expira": peer.expira or "2099-01-01T00:00:00Z", "expedido": "2026-01-01T00:00:00Z"}
                    return self.answer(200, json.dumps(grant).encode(), "application/json")
                peer.documents.append((self.path, self.headers.get("Authorization"), body))
                if peer.demands_token and not self.headers.get("Authorization"):
                    return self.answer(401)
                return self.answer(200, b"<ARECF/>")

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def new_seed(self):
        if self.forward:
            return call("GET", f"{self.forward}/semilla").body
        return self.seed or f"<SemillaModel><valor>semilla-{self.seeds_given}</valor><fecha>{stranger.now():%Y-%m-%dT%H:%M:%S-04:00}</fecha></SemillaModel>".encode()

    def pass_on(self, form, content_type):
        """Forwards the signed seed to the authority, as its owner would."""
        answer = call("POST", f"{self.forward}/validarsemilla", form, {"Content-Type": content_type, "Accept": "application/json"})
        if answer.status == 200 and b"token" in answer.body:
            self.stolen = answer.json["token"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


def flood(request, most, seconds=30, at_once=8):
    """Sends requests until one is rate-limited: returns the number of requests, and whether one was."""
    end, limited, sent = time.monotonic() + seconds, threading.Event(), []

    def send(number):
        if limited.is_set() or time.monotonic() > end:
            return
        sent.append(number)
        if request(number).status == 429:
            limited.set()

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(send, range(most)))
    return len(sent), limited.is_set()
