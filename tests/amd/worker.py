# SPDX-License-Identifier: Apache-2.0
"""A worker on AMD's own HIP runtime, above the stand-in for HSA's."""
import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time

STARTS_S = 20  # it ends in as much


def environment(*library_path):
    """With these folders before those that are set."""
    given = os.environ.get("LD_LIBRARY_PATH")
    return dict(os.environ, LD_LIBRARY_PATH=":".join([*map(str, library_path), *([given] if given else [])]))


@contextlib.contextmanager
def worker(program, variables):
    """Yields its address, and a function that reads what it has said so far."""
    with tempfile.TemporaryDirectory(prefix="amd-worker-") as folder:
        socket, log = pathlib.Path(folder, "worker"), pathlib.Path(folder, "log")
        options = ["--runtime", "amd", "--no-sandbox", "--socket", str(socket), "--port", "0"]
        with log.open("w") as said, subprocess.Popen([str(program), *options], env=variables, stderr=said) as process:
            try:
                deadline = time.monotonic() + STARTS_S
                while not socket.exists():
                    if process.poll() is not None or time.monotonic() > deadline:
                        sys.exit(f"{program} does not start: {log.read_text()}")
                    time.sleep(0.01)
                yield f"unix:{socket}", log.read_text
            finally:
                process.terminate()
                try:
                    process.wait(STARTS_S)
                except subprocess.TimeoutExpired:
                    process.kill()
