"""A webhook receiver as an Odoo module has it: a controller at /webhooks/ecf. Where there is no Odoo, the same check serves from plain
Python: `ECF_WEBHOOK_SECRET=whsec_… python3 odoo_controller.py 8069`.

Deliveries are plain JSON, not JSON-RPC: with `type="json"` Odoo would parse the body first, and wants an envelope that does not come.
"""

import hashlib
import hmac
import json


def is_genuine(secret, body, header):
    """Whether these very bytes were signed with the webhook's secret. Nothing is parsed before that is known."""
    expected = "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), (header or "").encode())


def judged(secret, body, header, keep):
    """The status to answer with; `keep` gets what is new. An event may come twice: (public_id, event) tells."""
    if not is_genuine(secret, body, header):
        return 401
    try:
        event = json.loads(body)
    except ValueError:
        return 400
    keep(event.get("public_id"), event.get("event"), event)
    return 204


try:
    from odoo import http
    from odoo.http import request
except ImportError:
    http = None

if http:

    class EcfWebhook(http.Controller):
        @http.route("/webhooks/ecf", type="http", auth="public", methods=["POST"], csrf=False, save_session=False)
        def receive(self):
            secret = request.env["ir.config_parameter"].sudo().get_param("ecf.webhook_secret")
            # The model is the module's own, with a unique constraint on both names.
            events = request.env["ecf.event"].sudo()

            def keep(public_id, name, event):
                if not events.search_count([("public_id", "=", public_id), ("event", "=", name)]):
                    events.create({"public_id": public_id, "event": name, "body": json.dumps(event)})

            body = request.httprequest.get_data()
            status = judged(secret, body, request.httprequest.headers.get("X-ECF-Signature"), keep)
            return request.make_response("", status=status)


def serve(port):
    """The same without Odoo: prints each new event as a line of JSON."""
    import os
    from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

    secret = os.environ["ECF_WEBHOOK_SECRET"]
    known = set()

    def keep(public_id, name, event):
        if (public_id, name) not in known:
            known.add((public_id, name))
            print(json.dumps(event), flush=True)

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status = judged(secret, body, self.headers.get("X-ECF-Signature"), keep)
            self.send_response(status if self.path == "/webhooks/ecf" else 404)
            self.end_headers()

        def log_message(self, *_):
            pass

    ThreadingHTTPServer(("127.0.0.1", port), Receiver).serve_forever()


if __name__ == "__main__":
    import sys

    serve(int(sys.argv[1]))
