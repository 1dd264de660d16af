# SPDX-License-Identifier: Apache-2.0
"""What the tests of the front door have in common: the programs as a user starts them."""
import os
import pathlib
import re
import signal
import socket
import subprocess
import threading
import time

LIMIT_S = 60
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Best first.
TRANSPORTS = re.findall(r'^[^#\n].*$', (ROOT / 'transport/factory/transports.txt').read_text(), re.M)


def listed(*before, word='or'):
    """What a message says that it expects: "auto, shm, rdma or tcp"."""
    names = [*before, *TRANSPORTS]
    return '%s %s %s' % (', '.join(names[:-1]), word, names[-1])

CLEAN = {name: value for name, value in os.environ.items()
         if not name.startswith(('TF_', 'HIP_', 'TENSOR_FUSION_')) and name not in ('LD_PRELOAD', 'LD_LIBRARY_PATH')}


def run(*words, **changes):
    """A command to its end, with variables as keywords. stdout, stderr, returncode."""
    return subprocess.run([str(word) for word in words], capture_output=True, text=True, timeout=LIMIT_S,
                          stdin=subprocess.DEVNULL, check=False, env={**CLEAN, **changes})


class Server:
    """Takes connections on loopback, reads a little, says `answer`, and then closes or stays silent."""

    def __init__(self, answer=b'', close=True):
        self.answer, self.close_after = answer, close
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.port = self.listener.getsockname()[1]
        self.held = []
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                one, _ = self.listener.accept()
            except OSError:
                return
            one.recv(4096)
            one.sendall(self.answer)
            if self.close_after:
                one.close()
            else:
                self.held.append(one)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        for one in self.held:
            one.close()


def free_port():
    with socket.create_server(('127.0.0.1', 0)) as one:
        return one.getsockname()[1]


def parents():
    """{pid: (parent, command line)} of everything that lives."""
    found = {}
    for folder in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            status = (folder / 'stat').read_text()
            words = (folder / 'cmdline').read_bytes().replace(b'\0', b' ').decode(errors='replace')
        except OSError:
            continue
        state, parent = status.rpartition(')')[2].split()[:2]
        if state != 'Z':
            found[int(folder.name)] = (int(parent), words)
    return found


def descendants(pid):
    found, all_of_them = {pid}, parents()
    while True:
        more = {one for one, (parent, _) in all_of_them.items() if parent in found} - found
        if not more:
            return found - {pid}
        found |= more


def living(pids):
    alive = parents()
    return {pid: alive[pid][1] for pid in pids if pid in alive}


def gone(pids, within_s):
    """What still lives after so long."""
    until = time.monotonic() + within_s
    while living(pids) and time.monotonic() < until:
        time.sleep(0.02)
    return living(pids)


def end(process):
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
