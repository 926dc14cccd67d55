"""Client of openapi-python-client: deserializes each request into its model, serializes it, issues it, and reads the
receipt. Arguments: URL, key, the folder of the requests."""

import json
import sys
from pathlib import Path

from ecf_client import AuthenticatedClient
from ecf_client.api.comprobantes import download_xml, issue, list_receipts, read
from ecf_client.models import BatchRequest, CodedError, DocumentView, IssuedView, ListViewDocumentView
from ecf_client.models.issue_on_conditional import IssueOnConditional
from ecf_client.types import File

_, base_url, key, folder = sys.argv
client = AuthenticatedClient(base_url=base_url, token=key, prefix="", auth_header_name="X-API-Key", raise_on_unexpected_status=True)
requests = [json.loads(file.read_text()) for file in sorted(Path(folder).iterdir())]
# A batch has items of every type; `ecf_type` selects the model of an item.
batch = BatchRequest.from_dict({"items": requests})
all_issued: list[IssuedView] = []
for request, item in zip(requests, batch.items, strict=True):
    assert type(item).__name__ == f"IssueRequest{request['ecf_type']}", type(item)
    assert item.to_dict() == request, (item.to_dict(), request)
    issued = issue.sync(client=client, body=item, on_conditional=IssueOnConditional.REFUSE)
    assert isinstance(issued, IssuedView) and isinstance(issued.encf, str) and issued.ecf_type == request["ecf_type"], issued
    all_issued.append(issued)
issued = all_issued[-1]
found = read.sync(issued.public_id, client=client)
assert isinstance(found, DocumentView) and found.encf == issued.encf and found.external_id == request["external_id"], found
page = list_receipts.sync(client=client, limit=10)
assert isinstance(page, ListViewDocumentView) and issued.public_id in [item.public_id for item in page.items], page
signed = download_xml.sync(issued.public_id, client=client)
assert isinstance(signed, File) and f"<eNCF>{issued.encf}</eNCF>".encode() in signed.payload.read(), signed
missing = read.sync("nothing", client=client)
assert isinstance(missing, CodedError) and missing.detail.code == "not_found", missing
print(f"openapi-python-client: {len(requests)} requests came back equal and were issued")
