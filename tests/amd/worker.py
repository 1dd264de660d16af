# SPDX-License-Identifier: Apache-2.0
"""A worker on AMD's own HIP runtime, above the stand-in for HSA's."""
import contextlib
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

STARTS_S = 20  # it ends in as much


def environment(*library_path):
    """With these folders before those that are set."""
    given = os.environ.get("LD_LIBRARY_PATH")
    return dict(os.environ, LD_LIBRARY_PATH=":".join([*map(str, library_path), *([given] if given else [])]))


def address(transport, socket, said):
    """Where the worker listens, once its log says so; else None. rdma needs an address of TCP."""
    where = r"127\.0\.0\.1:\d+" if transport == "rdma" else re.escape(f"unix:{socket}")
    found = re.search(f"listening on ({where})", said)
    return found and found[1]


@contextlib.contextmanager
def worker(program, variables, transport=None):
    """Yields its address, and a function that reads what it has said so far."""
    with tempfile.TemporaryDirectory(prefix="amd-worker-") as folder:
        socket, log = pathlib.Path(folder, "worker"), pathlib.Path(folder, "log")
        options = ["--runtime", "amd", "--no-sandbox", "--socket", str(socket), "--port", "0"]
        with log.open("w") as said, subprocess.Popen([str(program), *options], env=variables, stderr=said) as process:
            try:
                deadline = time.monotonic() + STARTS_S
                while (listens := address(transport, socket, log.read_text())) is None:
                    if process.poll() is not None or time.monotonic() > deadline:
                        sys.exit(f"{program} does not start: {log.read_text()}")
                    time.sleep(0.01)
                yield listens, log.read_text
            finally:
                process.terminate()
                try:
                    process.wait(STARTS_S)
                except subprocess.TimeoutExpired:
                    process.kill()
