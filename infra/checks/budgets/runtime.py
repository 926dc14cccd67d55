"""One cold start under Lambda's runtime API: the time from a program's start to its first response, and its memory
afterwards."""

import contextlib
import io
import json
import os
import socket
import subprocess
import threading
import time

ANSWER_SECONDS = 60
INVOCATION = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nLambda-Runtime-Aws-Request-Id: 1\r\nLambda-Runtime-Deadline-Ms: 4102444800000\r\n"
    b"Lambda-Runtime-Invoked-Function-Arn: arn:aws:lambda:us-east-1:000000000000:function:measured\r\nContent-Length: %d\r\n\r\n%s"
)
ACCEPTED = b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"


class Runtime:
    """Serves one event, accepts its response, and holds the next request for an event, like Lambda."""

    def __init__(self, event):
        self.event = event
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.answered = threading.Event()
        self.at, self.answer, self.handed_out = 0.0, b"", False
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        stream = Acknowledging(connection).makefile("rwb")
        with contextlib.suppress(OSError):
            while head := stream.readline():
                headers = {}
                while (line := stream.readline()) not in (b"\r\n", b""):
                    name, _, value = line.partition(b":")
                    headers[name.strip().lower()] = value.strip()
                body = chunks(stream) if headers.get(b"transfer-encoding") == b"chunked" else stream.read(int(headers.get(b"content-length", 0)))
                if head.startswith(b"POST"):
                    self.at, self.answer = time.perf_counter(), body
                    stream.write(ACCEPTED)
                    stream.flush()
                    self.answered.set()
                elif not self.handed_out:
                    self.handed_out = True
                    stream.write(INVOCATION % (len(self.event), self.event))
                    stream.flush()
                # The second request for an event waits until the process is ended.

    def close(self):
        self.listener.close()


class Acknowledging:
    """Acknowledges received data at once. Otherwise a response in several segments would wait 40 ms between two of them
    (delayed ACK), which is the kernel's time, not the program's."""

    def __init__(self, connection):
        self.connection = connection

    def makefile(self, mode):
        return io.BufferedRWPair(self.Reader(self.connection), self.connection.makefile("wb", buffering=0))

    class Reader(io.RawIOBase):
        def __init__(self, connection):
            self.connection = connection

        def readable(self):
            return True

        def readinto(self, buffer):
            count = self.connection.recv_into(buffer)
            self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 1)
            return count


def chunks(stream):
    body = b""
    while size := int(stream.readline().split(b";")[0], 16):
        body += stream.read(size)
        stream.readline()
    while stream.readline() not in (b"\r\n", b""):
        pass
    return body


def cold_start(program, variables, event):
    """Milliseconds to the first response, resident megabytes after it, and the response."""
    runtime = Runtime(event)
    environment = {
        **variables,
        "AWS_LAMBDA_RUNTIME_API": f"127.0.0.1:{runtime.port}",
        "AWS_LAMBDA_FUNCTION_NAME": "measured",
        "AWS_LAMBDA_FUNCTION_VERSION": "1",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
        # Who measures may name one file of root certificates, as Amazon Linux has it.
        **{name: os.environ[name] for name in ("SSL_CERT_FILE",) if name in os.environ},
    }
    began = time.perf_counter()
    process = subprocess.Popen([program], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        if not runtime.answered.wait(ANSWER_SECONDS):
            raise TimeoutError(f"{program} did not answer in {ANSWER_SECONDS} s (it ended: {process.poll()})")
        return (runtime.at - began) * 1000, resident(process.pid), runtime.answer
    finally:
        process.kill()
        process.wait()
        runtime.close()


def resident(pid):
    with open(f"/proc/{pid}/status") as status:
        peak = next(line for line in status if line.startswith("VmHWM"))
    return int(peak.split()[1]) / 1024


def status_of(answer):
    head = answer.partition(bytes(8))[0]
    told = json.loads(head)
    return told.get("statusCode") if isinstance(told, dict) else None
