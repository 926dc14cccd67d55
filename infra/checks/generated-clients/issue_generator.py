"""Client of OpenAPI Generator for Python: deserializes each request into its model, serializes it, issues it, and reads
the receipt. Arguments: URL, key, the folder of the requests."""

import json
import sys
from pathlib import Path

from ecf_generator import ApiClient, ComprobantesApi, Configuration
from ecf_generator.exceptions import NotFoundException
from ecf_generator.models import BatchRequest

_, base_url, key, folder = sys.argv
api = ComprobantesApi(ApiClient(Configuration(host=base_url, api_key={"api_key": key})))
requests = [json.loads(file.read_text()) for file in sorted(Path(folder).iterdir())]
# A batch has items of every type; `ecf_type` selects the model of an item.
batch = BatchRequest.from_dict({"items": requests})
assert batch is not None
for request, item in zip(requests, batch.items, strict=True):
    assert type(item.actual_instance).__name__ == f"IssueRequest{request['ecf_type']}", item
    assert json.loads(item.to_json()) == request, (item.to_json(), request)
    issued = api.issue(item)
    assert issued.encf and issued.ecf_type == request["ecf_type"], issued
found = api.read(issued.public_id)
assert found.encf == issued.encf and found.external_id == request["external_id"], found
assert issued.public_id in [receipt.public_id for receipt in api.list_receipts(limit=10).items]
try:
    api.read("nothing")
    sys.exit("a receipt that does not exist was found")
except NotFoundException as error:
    assert error.data.detail.code == "not_found", error
print(f"OpenAPI Generator, Python: {len(requests)} requests came back equal and were issued")
