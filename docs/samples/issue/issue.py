# usage: ECF_API=… ECF_KEY=… python3 issue.py < invoice.json
import json, os, sys, urllib.error, urllib.request

request = urllib.request.Request(
    os.environ["ECF_API"] + "/api/v1/ecf",
    data=sys.stdin.buffer.read(),
    headers={"X-API-Key": os.environ["ECF_KEY"], "Content-Type": "application/json"},
)
try:
    with urllib.request.urlopen(request, timeout=30) as response:
        receipt = json.load(response)
except urllib.error.HTTPError as refused:
    sys.exit(f"{refused.code}: {refused.read().decode()}")
print(json.dumps(receipt))
