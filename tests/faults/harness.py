# SPDX-License-Identifier: Apache-2.0
"""What the fault tests share: a real hip-worker, real client processes, and looks at /proc.

Every wait has a deadline. Processes are ended by their own pid.
"""
import os
import re
import resource
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

BUILD = os.environ.get("TF_BUILD_DIR", "")
CLIENT = os.path.join(BUILD, "bin", "tests", "fault_client")
TRANSPORTS = os.environ.get("TF_TEST_TRANSPORTS", "").split(",")  # those that work on any machine
SANITIZED = os.environ.get("TF_SANITIZED", "")  # by which sanitizers the programs are built
SLOWER = 4 if SANITIZED else 2  # shared machines are slow at times: what a deadline of the tests' own is multiplied by
DEINITIALIZED = 4
NOT_INITIALIZED = 3
MIB = 1 << 20


def eventually(condition, seconds):
    """Whether `condition()` became true within `seconds`."""
    deadline = time.monotonic() + seconds * SLOWER
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return bool(condition())


def is_running(pid):
    """Whether there is such a process that is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def descriptors_of(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


def resident_kib(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        return int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))


def limited_to(descriptors):
    """For preexec_fn: the process may have so many."""
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))


def moved_to(cgroup):
    """For preexec_fn: the process is in that cgroup."""
    return lambda: (cgroup / "cgroup.procs").write_text(str(os.getpid()), encoding="ascii")


def as_user(user):
    """For Popen: the process is that user's, with the group of that number and no others."""
    return {} if user is None else {"user": user, "group": user, "extra_groups": []}


class Lines:
    """Lines that a process writes, with a deadline for each."""

    def __init__(self, descriptor):
        self.descriptor = descriptor
        self.rest = b""
        self.seen = []

    def next(self, seconds):
        deadline = time.monotonic() + seconds * SLOWER
        while b"\n" not in self.rest:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.descriptor], [], [], left)[0]:
                raise AssertionError(f"no line within {seconds} s; so far {self.seen} {self.rest!r}")
            got = os.read(self.descriptor, 65536)
            if not got:
                raise AssertionError(f"the output ended; so far {self.seen} {self.rest!r}")
            self.rest += got
        line, self.rest = self.rest.split(b"\n", 1)
        self.seen.append(line.decode())
        return self.seen[-1]


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return [int(child) for child in children.read().split()]


def is_smi_process(pid):
    """Whether a worker with --metrics has started it to read SMI values."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as line:
            return b"--session-smi" in line.read().split(b"\0")
    except OSError:
        return False


class Worker:
    """hip-worker with the CPU runtime, on loopback and a Unix socket in a directory of its own."""

    def __init__(self, *extra, program=None, descriptors=None, user=None, inherits=(), within=None, environment=None):
        self.directory = tempfile.TemporaryDirectory(prefix="hip-faults-")
        if user is not None:
            os.chown(self.directory.name, user, user)
        self.socket = os.path.join(self.directory.name, "worker.sock")
        self.log_path = os.path.join(self.directory.name, "log")
        read_end, write_end = os.pipe()
        command = [program or os.path.join(BUILD, "bin", "hip-worker"), "--port", "0", "--socket", self.socket,
                   "--runtime", "cpu", "--ready-fd", str(write_end), *extra]
        before = limited_to(descriptors) if descriptors else moved_to(within) if within else None
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(command, stderr=log, pass_fds=[write_end, *inherits], **as_user(user),
                                            env={**os.environ, **(environment or {})}, preexec_fn=before)
        os.close(write_end)
        try:
            self.port = int(Lines(read_end).next(20).split()[1])
        finally:
            os.close(read_end)
        self.pid = self.process.pid

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(10 * SLOWER)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.directory.cleanup()

    def log(self):
        with open(self.log_path, encoding="utf-8", errors="replace") as log:
            return log.read()

    def children(self):
        """The session processes, spares included."""
        return [pid for pid in children_of(self.pid) if not is_smi_process(pid)]

    def smi_processes(self):
        return [pid for pid in children_of(self.pid) if is_smi_process(pid)]

    def idle(self):
        """Nothing but the spare is left."""
        return len(self.children()) == 1

    def environment(self, transport):
        environment = {"TF_TRANSPORT": transport, "TF_WORKER_HOST": "127.0.0.1", "TF_WORKER_PORT": str(self.port)}
        if transport == "shm":
            environment["TF_WORKER_SOCKET"] = self.socket
        return environment

    def client(self, transport, *arguments, user=None, **changes):
        """Its lanes are as many on every machine: some tests know them by number."""
        return Client({"TF_TCP_LANES": "1", **self.environment(transport), **changes}, *arguments, user=user)

    def connect(self, kind):
        if kind == "tcp":
            return socket.create_connection(("127.0.0.1", self.port), 5)
        connection = socket.socket(socket.AF_UNIX)
        connection.settimeout(5)
        connection.connect(self.socket)
        return connection


class Client:
    """fault_client with the proxy in front, as `hip-remote run` starts it."""

    def __init__(self, environment, *arguments, user=None):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
        clean["LD_LIBRARY_PATH"] = os.path.join(BUILD, "lib")
        clean["ASAN_OPTIONS"] = "detect_leaks=0"  # these programs end with threads in the middle of calls
        self.errors_file = tempfile.TemporaryFile()
        self.process = subprocess.Popen(
            [CLIENT, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.errors_file, env={**clean, **environment}, **as_user(user))
        self.pid = self.process.pid
        self.lines = Lines(self.process.stdout.fileno())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors_file.close()

    def expect(self, word, seconds=10):
        """The numbers of the next line, which begins with `word`."""
        line = self.lines.next(seconds).split()
        if line[0] != word:
            raise AssertionError(f"expected '{word}', got {line}; errors: {self.errors()}")
        return [int(number) for number in line[1:]]

    def poke(self):
        self.process.stdin.write(b"\n")
        self.process.stdin.flush()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def wait(self, seconds=10):
        return self.process.wait(seconds * SLOWER)

    def errors(self):
        """Lines on its standard error."""
        self.errors_file.seek(0)
        return self.errors_file.read().decode(errors="replace").splitlines()


class FaultTest(unittest.TestCase):
    """Assertions that several files make."""

    def expect_served(self, worker, transport="tcp"):
        with worker.client(transport, "hello") as client:
            self.assertEqual(client.wait(15), 0, client.errors())

    def expect_logged(self, worker, pattern, seconds=5):
        """The worker may answer a client before it logs that."""
        self.assertTrue(eventually(lambda: re.search(pattern, worker.log()), seconds), f"{pattern}: {worker.log()}")

    def expect_ends(self, pid, seconds=3):
        self.assertTrue(eventually(lambda: not is_running(pid), seconds), f"process {pid} still runs")

    def session_of(self, worker, before):
        """The session process that serves: not among `before` unless it was the spare."""
        serving = [pid for pid in before if pid in worker.children()]
        self.assertEqual(len(serving), 1, "the spare of before should serve now")
        return serving[0]

    def expect_loss(self, client, within=3):
        """The client notices, says so once, and every later call fails at once."""
        start = time.monotonic()
        error, _ = client.expect("error", within + 5)
        took = time.monotonic() - start
        self.assertEqual(error, DEINITIALIZED)
        self.assertLess(took, within * SLOWER)
        failed, milliseconds = client.expect("later")
        self.assertEqual(failed, 2000)
        self.assertLess(milliseconds, 500 * SLOWER)
        self.assertEqual(client.wait(), 0)
        told = [line for line in client.errors() if line.startswith("hip-remote: ") and "met the worker" not in line]
        self.assertEqual(len(told), 1, told)
        self.assertIn("lost the worker", told[0])
        return took


def main():
    if not os.path.exists(CLIENT):
        sys.exit(f"TF_BUILD_DIR: no {CLIENT}")
    unittest.main(verbosity=2)
