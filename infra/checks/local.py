"""Starts the local system for checks written in Python."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

root = Path(__file__).resolve().parents[2]
target = Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))


@contextlib.contextmanager
def running(build=("--bin", "ecf-local"), program=None, options=()):
    """Yields the system's `--json` line with its `pid` and `program`, and a temporary folder; both end with the
    context. `build` are cargo's arguments for the build before the start; `program` replaces the built program;
    `options` are additional options of the system."""
    if program is None:
        subprocess.run(["cargo", "build", "-q", *build], cwd=root, check=True)
        program = target / "debug/ecf-local"
    state = Path(tempfile.mkdtemp())
    with open(state / "ready", "w") as out, open(state / "log", "w") as log:
        arguments = [program, "--port", "0", "--data", state / "data", "--json", *options]
        system = subprocess.Popen(arguments, stdout=out, stderr=log)
    try:
        place = state / "place"
        place.mkdir()
        yield json.loads(said_when_ready(system, state)) | {"pid": system.pid, "program": program}, place
    finally:
        system.terminate()
        system.wait(30)
        shutil.rmtree(state, ignore_errors=True)


def said_when_ready(system, state):
    for _ in range(300):
        line = (state / "ready").read_text()
        if line.endswith("\n"):
            return line
        if system.poll() is not None:
            break
        time.sleep(0.1)
    sys.exit((state / "log").read_text() + "the local system did not start")
