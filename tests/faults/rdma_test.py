#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links that are cut, peers that die and memory that may not be locked, over rdma on real verbs.

Runs as root where rxe0 (interface v0, 10.9.0.1) and rxe1 (v1) are joined by a wire: `tools/rdma-vm --faults`. Workers
have rxe0, clients rxe1. TF_FAULT_TRANSPORT=tcp runs what does not need rdma over tcp, which tests the tests.
"""
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import harness  # noqa: E402
from harness import MIB, FaultTest, Worker, eventually  # noqa: E402

TRANSPORT = os.environ.get("TF_FAULT_TRANSPORT", "rdma")
NEAR = "10.9.0.1"
INTERFACES = ("v0", "v1")
CLIENT_ENVIRONMENT = {"TF_RDMA_DEVICE": "rxe1", "TF_IO_TIMEOUT": "10"}
NOTICE_S = 5  # with 10 s queue pairs give up after two; emulation is slow, and the harness allows four times this
SHORT_CUT_S = 4  # which queue pairs outlast that may take 30 s: rdma/retries.h
OUTLASTED_S = 5.5  # so long may it have become when it is over; else it says nothing, and is tried again
SHORT_CUT_TRIES = 3
TOO_FEW_BYTES = 64 << 10  # to lock: not even one ring
FEW_BYTES = 8 << 20  # what many systems allow: the rings and the small buffers
THREADS = 8  # of a flood
STOPPED_S = 4
TEST_LIMIT_S = 150  # for one test, whatever it waits for
needs_rdma = unittest.skipUnless(TRANSPORT == "rdma", "tcp does not use that link")


def command(*words):
    subprocess.run(words, check=True, capture_output=True, timeout=20)


def locking(limit):
    """What runs a program that may lock so many bytes. Root may lock what it likes, whatever the limit, unless it has
    lost that capability."""
    return ["setpriv", "--bounding-set=-ipc_lock", "prlimit", f"--memlock={limit}:{limit}"]


def cut(share):
    """Loses so much of what crosses the wire, as "100%", each way."""
    for interface in INTERFACES:
        command("tc", "qdisc", "replace", "dev", interface, "root", "netem", "loss", share)


def active():
    text = subprocess.run(["rdma", "link"], capture_output=True, text=True, timeout=20).stdout
    return text.count("state ACTIVE") == len(INTERFACES)


def listening(port):
    tables = [pathlib.Path("/proc/net/" + name).read_text(encoding="ascii") for name in ("tcp", "tcp6")]
    return any(f":{port:04X} " in line and " 0A " in line for line in "".join(tables).splitlines())


def heal():
    for interface in INTERFACES:
        subprocess.run(["tc", "qdisc", "del", "dev", interface, "root"], capture_output=True, timeout=20)
        command("ip", "link", "set", interface, "up")
    if not eventually(active, 10):
        raise AssertionError("the devices did not come back")


def workers():
    """Processes of hip-worker, whose ever they are."""
    def name(folder):
        try:
            return (folder / "comm").read_text(encoding="ascii").strip()
        except OSError:
            return ""
    pids = [int(folder.name) for folder in pathlib.Path("/proc").iterdir() if folder.name.isdigit() and
            name(folder) == "hip-worker"]
    return [pid for pid in pids if harness.is_running(pid)]


def holdings():
    """What is only there while somebody uses it: processes, shared memory, objects of the RDMA devices."""
    objects = ""
    if TRANSPORT == "rdma":
        objects = subprocess.run(["rdma", "resource", "show"], check=True, capture_output=True, text=True,
                                 timeout=20).stdout
    return {"workers": len(workers()), "/dev/shm": sorted(os.listdir("/dev/shm")), "rdma": objects}


def on_alarm(*_):
    raise AssertionError(f"the test did not end within {TEST_LIMIT_S} s")


class RdmaFaults(FaultTest):
    def setUp(self):
        signal.signal(signal.SIGALRM, on_alarm)
        signal.alarm(TEST_LIMIT_S)
        self.addCleanup(signal.alarm, 0)
        os.environ["TF_RDMA_DEVICE"] = "rxe0"  # the workers'
        os.environ["TF_IO_TIMEOUT"] = CLIENT_ENVIRONMENT["TF_IO_TIMEOUT"]
        self.addCleanup(self.expect_nothing_left, holdings())
        self.addCleanup(heal)

    def expect_nothing_left(self, before):
        eventually(lambda: holdings() == before, 5)
        self.assertEqual(holdings(), before)

    def client(self, worker, *arguments, **changes):
        return worker.client(TRANSPORT, *arguments, **{**CLIENT_ENVIRONMENT, **changes})

    def expect_next_session(self, worker):
        with self.client(worker, "hello") as client:
            self.assertEqual(client.wait(15), 0, client.errors())

    def strike_during(self, scenario, strike):
        """`strike(worker, session)` happens in the middle of `scenario`; the next session is fine."""
        with Worker() as worker:
            self.assertTrue(eventually(worker.idle, 10))
            before = worker.children()
            with self.client(worker, scenario, 4 * MIB) as client:
                client.expect("copying", 30)
                session = self.session_of(worker, before)
                strike(worker, session)
                self.expect_loss(client, NOTICE_S)
            self.expect_ends(session, 5)
            heal()
            self.expect_next_session(worker)

    def ping_pong(self, then):
        """ibv_rc_pingpong over the wire, which repeats what is lost for ever; `then` gets its client."""
        words = ["ibv_rc_pingpong", "-g", "1", "-n", "200", "-p", "18700"]
        with tempfile.TemporaryFile() as output:
            server = subprocess.Popen([*words, "-d", "rxe0"], stdout=output, stderr=output)
            try:
                self.assertTrue(eventually(lambda: listening(18700), 10))
                client = subprocess.Popen([*words, "-d", "rxe1", NEAR], stdout=output, stderr=output)
                try:
                    then(client)
                    status = client.wait(30)
                    output.seek(0)
                    self.assertEqual(status, 0, output.read())
                finally:
                    client.kill()
                    client.wait()
            finally:
                server.kill()
                server.wait()

    @needs_rdma
    def test_the_wire_that_is_cut_is_the_one_in_use(self):
        def watch(client):
            time.sleep(3)
            self.assertIsNone(client.poll(), "nothing should get through")
            heal()

        self.ping_pong(lambda _: None)  # the ends know each other's Ethernet addresses from here on
        cut("100%")
        self.ping_pong(watch)

    @needs_rdma
    def test_link_cut_during_copies_in(self):
        self.strike_during("copy-in", lambda *_: cut("100%"))

    @needs_rdma
    def test_link_cut_during_copies_out(self):
        self.strike_during("copy-out", lambda *_: cut("100%"))

    @needs_rdma
    def test_interface_down_during_copies(self):
        self.strike_during("copy-in", lambda *_: command("ip", "link", "set", INTERFACES[1], "down"))

    @needs_rdma
    def test_link_cut_while_nothing_happens(self):
        with Worker() as worker:
            with self.client(worker, "hold", MIB) as client:
                client.expect("holding", 30)
                cut("100%")
                client.poke()
                self.expect_loss(client, NOTICE_S)
            heal()
            self.expect_next_session(worker)

    @needs_rdma
    def test_link_cut_for_less_than_the_timeout_ends_nothing(self):
        os.environ["TF_IO_TIMEOUT"] = "30"  # the worker's
        with Worker() as worker:
            for _ in range(SHORT_CUT_TRIES):
                with self.client(worker, "hold", MIB, TF_IO_TIMEOUT="30") as client:
                    client.expect("holding", 30)
                    start = time.monotonic()
                    cut("100%")
                    client.poke()
                    time.sleep(SHORT_CUT_S)
                    got = select.select([client.process.stdout], [], [], 0)[0]
                    heal()
                    took = time.monotonic() - start
                    if took < OUTLASTED_S:
                        self.assertEqual(got, [], "nothing should get through")
                        client.expect("alive", NOTICE_S)
                        return
        self.skipTest(f"this host is too slow for a short cut: it took {took:.1f} s")

    @needs_rdma
    def test_lossy_link_loses_nothing(self):
        with Worker() as worker:
            cut("1%")
            for _ in range(3):
                self.expect_next_session(worker)

    def test_session_killed_during_copies_in(self):
        self.strike_during("copy-in", lambda _, session: os.kill(session, signal.SIGKILL))

    def test_session_killed_during_copies_out(self):
        self.strike_during("copy-out", lambda _, session: os.kill(session, signal.SIGKILL))

    def test_client_killed_during_copies(self):
        with Worker() as worker:
            self.assertTrue(eventually(worker.idle, 10))
            before = worker.children()
            with self.client(worker, "copy-in", 4 * MIB) as client:
                client.expect("copying", 30)
                session = self.session_of(worker, before)
                client.kill()
            self.expect_ends(session, 5)
            self.expect_next_session(worker)

    def test_session_stopped_while_everything_fills(self):
        with Worker() as worker:
            self.assertTrue(eventually(worker.idle, 10))
            before = worker.children()
            with self.client(worker, "flood", THREADS) as client:
                client.expect("ready", 30)
                session = self.session_of(worker, before)
                os.kill(session, signal.SIGSTOP)
                try:
                    client.poke()
                    posted, total = client.expect("stuck", 30)
                    self.assertLess(posted, total)
                    time.sleep(STOPPED_S)
                    self.assertIsNone(client.process.poll(), client.errors())
                finally:
                    os.kill(session, signal.SIGCONT)
                self.assertEqual(client.expect("flooded", 30), [0, 0], client.errors())
                self.assertEqual(client.wait(), 0)
                self.assertEqual(client.errors(), [])
            self.expect_next_session(worker)

    def test_supervisor_killed_during_copies(self):
        with Worker() as worker:
            self.assertTrue(eventually(worker.idle, 10))
            with self.client(worker, "copy-in", 4 * MIB) as client:
                client.expect("copying", 30)
                self.assertTrue(eventually(lambda: len(worker.children()) == 2, 10))  # the session and a spare
                children = worker.children()
                worker.process.kill()
                worker.process.wait()
                self.expect_loss(client, NOTICE_S)
            for pid in children:
                self.expect_ends(pid, 5)
            with self.client(worker, "hello") as client:
                client.expect("failed", NOTICE_S)
                self.assertEqual(client.wait(), 3)
                told = [line for line in client.errors() if line.startswith("hip-remote:")]
                self.assertEqual(len(told), 1, told)
                self.assertIn("refused", told[0])
        with Worker() as worker:
            self.expect_next_session(worker)

    def hello_within(self, worker, limit):
        """(exit status, errors) of a client that may lock so many bytes."""
        environment = {**os.environ, **worker.environment(TRANSPORT), **CLIENT_ENVIRONMENT,
                       "LD_LIBRARY_PATH": os.path.join(harness.BUILD, "lib")}
        done = subprocess.run([*locking(limit), harness.CLIENT, "hello"], env=environment, capture_output=True,
                              text=True, timeout=60)
        return done.returncode, done.stderr

    @needs_rdma
    def test_client_that_may_not_lock_memory(self):
        with Worker() as worker:
            status, errors = self.hello_within(worker, TOO_FEW_BYTES)
            self.assertEqual(status, 3, errors)
            self.assertIn("ulimit -l", errors)
            self.expect_next_session(worker)

    @needs_rdma
    def test_client_that_may_lock_little_memory(self):
        with Worker() as worker:
            status, errors = self.hello_within(worker, FEW_BYTES)
            self.assertEqual(status, 0, errors)

    def worker_within(self, limit):
        """Whose sessions may lock so many bytes."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        program = os.path.join(folder.name, "hip-worker")
        with open(program, "w", encoding="ascii") as script:
            script.write("#!/bin/sh\nexec " + " ".join(locking(limit)) + f" {harness.BUILD}/bin/hip-worker \"$@\"\n")
        os.chmod(program, 0o755)
        return Worker(program=program)

    @needs_rdma
    def test_worker_that_may_not_lock_memory(self):
        with self.worker_within(TOO_FEW_BYTES) as worker:
            with self.client(worker, "hello") as client:
                self.assertEqual(client.wait(30), 3, client.errors())
                self.assertIn("ulimit -l", "\n".join(client.errors()))
        with Worker() as worker:
            self.expect_next_session(worker)

    @needs_rdma
    def test_worker_that_may_lock_little_memory(self):
        with self.worker_within(FEW_BYTES) as worker:
            self.expect_next_session(worker)


if __name__ == "__main__":
    harness.main()
