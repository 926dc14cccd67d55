"""Issues a receipt with the generated Python client and reads it back. Arguments: address, key, the payload's file."""

import json
import sys
from pathlib import Path

from ecf_client import AuthenticatedClient
from ecf_client.api.comprobantes import download_xml, issue, list_receipts, read
from ecf_client.models import CodedError, DocumentView, IssueRequest, IssueRequestEcfType, IssuedView, ListViewDocumentView, Payload31
from ecf_client.models.issue_on_conditional import IssueOnConditional
from ecf_client.types import File

_, base_url, key, file = sys.argv
client = AuthenticatedClient(base_url=base_url, token=key, prefix="", auth_header_name="X-API-Key", raise_on_unexpected_status=True)
request = IssueRequest(idempotency_key="generated-python", ecf_type=IssueRequestEcfType.VALUE_0, external_id="generated-python",
                       payload=Payload31.from_dict(json.loads(Path(file).read_text())))
issued = issue.sync(client=client, body=request, on_conditional=IssueOnConditional.REFUSE)
assert isinstance(issued, IssuedView) and isinstance(issued.encf, str) and issued.encf.startswith("E31"), issued
found = read.sync(issued.public_id, client=client)
assert isinstance(found, DocumentView) and found.encf == issued.encf and found.external_id == "generated-python", found
page = list_receipts.sync(client=client, limit=10)
assert isinstance(page, ListViewDocumentView) and issued.public_id in [item.public_id for item in page.items], page
signed = download_xml.sync(issued.public_id, client=client)
assert isinstance(signed, File) and f"<eNCF>{issued.encf}</eNCF>".encode() in signed.payload.read(), signed
missing = read.sync("nothing", client=client)
assert isinstance(missing, CodedError) and missing.detail.code == "not_found", missing
print(f"Python: {issued.encf} issued, read, listed, downloaded")
