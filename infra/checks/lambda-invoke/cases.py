"""The invocation payloads in `events/`: fills them in, invokes the built programs with them under cargo-lambda's
emulator, and reads the responses. `events/invoke` and `infra/checks/lambda-invoke/run` use it."""

import base64
import contextlib
import datetime
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

root = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(root / "infra/checks"))
import local

# The day in the payloads. An old receipt would be rejected, so the day is replaced by today in Santo Domingo.
DAY = "27-11-2026"
ANSWER_SECONDS = 60
# A streamed response is the JSON of its head, eight zero bytes, then the body.
HEAD_END = bytes(8)


def expected():
    return json.loads((root / "events/expected.json").read_text())


def fictitious_ids():
    return json.loads((root / "events/ids.json").read_text())


def function_of(case):
    return case.split("/")[0]


def text_of(case):
    return (root / "events" / case).read_text()


def payload(case, known, body=None, key=None):
    """The payload with today's date and the existing ids that fictitious ones stand for; optionally with another body
    and another API key."""
    today = datetime.datetime.now(datetime.timezone(datetime.timedelta(hours=-4))).strftime("%d-%m-%Y")
    text = text_of(case).replace(DAY, today)
    for fictitious, existing in known.items():
        text = text.replace(fictitious, existing)
    event = json.loads(text)
    if body is not None:
        event |= {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
    if key:
        event["headers"]["X-API-Key"] = key
        event["multiValueHeaders"]["X-API-Key"] = [key]
    return json.dumps(event, ensure_ascii=False).encode()


def needed(case):
    """The cases whose responses hold the ids of this one, in the order in which they have to be invoked."""
    order = []

    def add(one):
        text = text_of(one)
        for fictitious, meaning in fictitious_ids().items():
            source = meaning.get("case")
            if fictitious in text and source and source != one and source not in order:
                add(source)
                order.append(source)

    add(case)
    return order


def ids_in(case, response):
    """The fictitious ids that this response explains, each with the existing one."""
    explained = {id: meaning["at"] for id, meaning in fictitious_ids().items() if meaning.get("case") == case}
    return {id: member(content(response), path) for id, path in explained.items()}


@contextlib.contextmanager
def emulator(cargo_lambda, environments, place):
    """Starts cargo-lambda's runtime API and each function's program; yields the address and the processes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    processes, programs = [], {}
    try:
        with open(place / "emulator.log", "w") as log:
            command = [cargo_lambda, "lambda", "watch", "--only-lambda-apis", "-A", "127.0.0.1", "-P", str(port)]
            processes.append(subprocess.Popen(command, cwd=root, stdout=log, stderr=log))
        until_it_listens(port, processes[0], place / "emulator.log")
        for name, variables in environments.items():
            lambdas = {
                "AWS_LAMBDA_RUNTIME_API": f"http://127.0.0.1:{port}/.rt/{name}",
                "AWS_LAMBDA_FUNCTION_NAME": name,
                "AWS_LAMBDA_FUNCTION_VERSION": "1",
                "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
            }
            with open(place / f"{name}.log", "w") as log:
                programs[name] = subprocess.Popen([local.target / "debug" / name], env={**variables, **lambdas}, stdout=log, stderr=log)
            processes.append(programs[name])
        yield f"http://127.0.0.1:{port}", programs
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


def until_it_listens(port, process, log):
    for _ in range(300):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        if process.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit(log.read_text() + "the emulator did not start")


def invoke(address, function, event):
    """The call that `cargo lambda invoke` makes. Its output is text; a download needs the bytes."""
    request = urllib.request.Request(f"{address}/2015-03-31/functions/{function}/invocations", event, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=ANSWER_SECONDS) as answer:
            body = answer.read()
            # A streamed response has the form in which it leaves the gateway; others have the form that the function
            # returned.
            streamed = answer.headers["Content-Type"] != "application/json" and not body.startswith((b"{", b"null"))
            return json.dumps({"statusCode": answer.status}).encode() + HEAD_END + body if streamed else body
    except urllib.error.HTTPError as error:
        raise ValueError(f"the function broke: {error.code} {error.read()[:500]}") from None


def status(response):
    """The HTTP status; `None` for a response of a worker or an operator's command."""
    answer = json.loads(response.partition(HEAD_END)[0])
    return answer.get("statusCode") if isinstance(answer, dict) else None


def content(response):
    """The bytes that the caller receives."""
    head, streamed, body = response.partition(HEAD_END)
    if streamed:
        return body
    answer = json.loads(head)
    if not isinstance(answer, dict) or "statusCode" not in answer:
        return response
    body = answer.get("body") or ""
    return base64.b64decode(body) if answer["isBase64Encoded"] else body.encode()


def member(body, path):
    value = json.loads(body)
    for step in path.split("/"):
        value = value[step]
    return str(value)
