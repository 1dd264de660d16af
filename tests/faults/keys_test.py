# SPDX-License-Identifier: Apache-2.0
"""Clients that have to prove a key: who comes in, who does not and why, what travels, and what strangers can do."""
import os
import re
import signal
import socket
import struct
import threading
import unittest

from harness import CLIENT, FaultTest, SLOWER, Worker, descriptors_of, eventually, main, resident_kib
from keys import Keys
from tap import CHANGES, Tap
from wire_test import HELLO, closed_within, frame, hello_payload

LEVELS = {"auth": 1, "encrypt": 2}
SEQUENTIAL = int(os.environ.get("TF_TEST_SESSIONS", 20))  # a proof by hand: 5000, each with one that is refused
IDENTIFY_S = 5  # kIdentifyTime of the worker
IS_ROOT = os.geteuid() == 0


def attach(token=bytes(16), kind=0, lane=0, level="encrypt"):
    return frame(1, token + struct.pack("<IIII", kind, lane, LEVELS.get(level, 0), 0), flags=8)


class KeysTest(FaultTest):
    def setUp(self):
        self.keys = Keys()
        self.addCleanup(self.keys.directory.cleanup)
        self.alice = self.keys.make("alice")
        self.keys.authorize(self.alice)

    def worker(self, *extra, **changes):
        worker = self.keys.worker(*extra, **changes)
        self.addCleanup(worker.__exit__)
        return worker

    def client(self, worker, name="alice", *arguments, **changes):
        return worker.client("tcp", *(arguments or ["hello"]), **self.keys.environment(name, **changes))

    def served(self, worker, name="alice", **changes):
        """What a client that is served told."""
        with self.client(worker, name, **changes) as client:
            self.assertEqual(client.wait(20), 0, client.errors())
            return "\n".join(client.errors())

    def refused(self, worker, name="alice", **changes):
        """What a client that is not served told."""
        with self.client(worker, name, **changes) as client:
            self.assertNotEqual(client.wait(20), 0, client.errors())
            return "\n".join(client.errors())


class WhoComesIn(KeysTest):
    def test_at_every_level_and_the_worker_is_met_once(self):
        for level in LEVELS:
            with self.subTest(level):
                worker = self.worker("--security", level, "-v")
                told = self.served(worker, TF_SECURITY=level)
                self.assertIn("met the worker at 127.0.0.1:", told)
                self.assertIn(self.keys.fingerprint("worker"), told)
                self.assertNotIn("met the worker", self.served(worker, TF_SECURITY=level))
                self.expect_logged(worker, re.escape(f"alice, {self.keys.fingerprint('alice')}, from 127.0.0.1:"))
                self.expect_logged(worker, re.escape(f"level {level}) started"))

    def test_a_worker_of_auth_takes_encrypted_sessions_but_not_the_other_way(self):
        self.assertIn("level encrypt", self.served(self.worker("--security", "auth"), TF_DEBUG="1"))
        told = self.refused(self.worker(), TF_SECURITY="auth")
        self.assertIn("this worker takes only sessions of the level encrypt", told)

    def test_a_key_that_nobody_knows(self):
        self.keys.make("mallory")
        worker = self.worker()
        print_of = self.keys.fingerprint("mallory")
        told = self.refused(worker, "mallory")
        self.assertIn("the worker refused: this worker does not know the key", told)
        self.assertIn(print_of, told)
        self.expect_logged(worker, re.escape(print_of))
        self.served(worker)

    def test_an_expired_key(self):
        self.keys.authorize(self.alice + " expires=2020-01-01")
        self.assertIn("the key of alice has expired", self.refused(self.worker()))

    def test_no_key(self):
        worker = self.worker()
        told = self.refused(worker, TF_KEY_FILE="")
        self.assertIn("this worker wants a key", told)
        self.assertIn("hip-remote keygen", told)
        told = self.refused(worker, TF_KEY_FILE=self.keys.path("none"))
        self.assertIn("there is none", told)
        self.assertIn("hip-remote keygen", told)

    def test_a_key_that_others_may_read(self):
        worker = self.worker()
        os.chmod(self.keys.path("alice"), 0o644)
        self.assertIn("chmod 600", self.refused(worker))
        os.chmod(self.keys.path("alice"), 0o600)
        self.served(worker)

    @unittest.skipUnless(IS_ROOT, "only root can make a file that it would not trust")
    def test_a_key_that_belongs_to_another(self):
        worker = self.worker()
        os.chown(self.keys.path("alice"), 12345, 12345)
        self.assertIn("belongs to user 12345", self.refused(worker))

    def test_another_worker_than_before(self):
        worker = self.worker()
        self.keys.make("impostor")
        with open(self.keys.path("impostor.pub"), encoding="ascii") as line:
            _, kind, key = line.read().split()
        with open(self.keys.path("known"), "w", encoding="ascii") as known:
            known.write(f"# mine\n127.0.0.1:{worker.port} {kind} {key}\n")
        told = self.refused(worker)
        self.assertIn("is not the one that was met there before", told)
        self.assertIn(self.keys.fingerprint("worker"), told)
        self.assertIn(self.keys.fingerprint("impostor"), told)
        self.assertIn("remove line 2 of", told)
        self.assertNotIn("alice", worker.log(), "the client's key was shown to a worker that it does not trust")

    def test_a_worker_without_keys(self):
        with Worker() as worker:
            told = self.refused(worker)
            self.assertIn("this worker has no keys", told)
            self.expect_served(worker)

    def test_a_full_worker_says_so(self):
        worker = self.worker("--sessions-max", "1")
        with self.client(worker, "alice", "hold", 4096) as client:
            client.expect("holding", 30)
            self.assertIn("this worker serves 1 clients already", self.refused(worker))
            client.poke()
            client.expect("alive")

    def test_the_unix_socket_needs_no_key(self):
        worker = self.worker()
        self.expect_served(worker, "shm")

    def test_words_of_the_environment(self):
        worker = self.worker()
        self.assertIn("TF_SECURITY=tls: expected encrypt, auth or none", self.refused(worker, TF_SECURITY="tls"))
        told = self.refused(worker, TF_SECURITY="none")
        self.assertIn("this worker wants a key", told)


class Reload(KeysTest):
    def reload(self, worker, expected, *lines):
        self.keys.authorize(*lines)
        os.kill(worker.pid, signal.SIGHUP)
        self.assertTrue(eventually(lambda: expected in worker.log(), 10), worker.log())

    def test_a_revoked_key_ends_its_sessions_and_no_others(self):
        bob = self.keys.make("bob")
        self.keys.authorize(self.alice, bob)
        worker = self.worker()
        with self.client(worker, "alice", "hold", 4096) as hers, self.client(worker, "bob", "hold", 4096) as his:
            hers.expect("holding", 30)
            his.expect("holding", 30)
            self.reload(worker, "is ended: this worker does not know the key", bob)
            hers.poke()
            self.expect_loss(hers)
            his.poke()
            his.expect("alive")
        self.assertIn("does not know the key", self.refused(worker, "alice"))
        self.served(worker, "bob")

    def test_a_new_key_comes_in_without_a_restart(self):
        worker = self.worker()
        bob = self.keys.make("bob")
        self.refused(worker, "bob")
        with self.client(worker, "alice", "hold", 4096) as hers:
            hers.expect("holding", 30)
            self.reload(worker, "read again: 2 keys may come in", self.alice, bob)
            self.served(worker, "bob")
            hers.poke()
            hers.expect("alive")

    def test_a_file_that_is_wrong_changes_nothing(self):
        worker = self.worker()
        self.reload(worker, "line 2: unknown option \"sudo\"", "# none\n" + self.alice + " sudo")
        self.assertIn("the authorized keys stay as they were", worker.log())
        self.served(worker)


class Programs(KeysTest):
    """What programs do to the library, while OpenSSL is in it."""

    def test_exit_with_threads_in_calls(self):
        worker = self.worker()
        for _ in range(10):
            with self.client(worker, "alice", "threads") as client:
                self.assertEqual(client.wait(20), 0, client.errors())
        self.assertTrue(eventually(worker.idle, 10))

    def test_static_destructors(self):
        """They run after OpenSSL has cleaned up, and still make calls."""
        with self.client(self.worker(), "alice", "static") as client:
            client.expect("hello")
            self.assertEqual(client.expect("atexit")[0], 0)
            self.assertEqual(client.expect("destructor"), [0, 0])
            self.assertEqual(client.wait(20), 0, client.errors())

    def test_fork(self):
        with self.client(self.worker(), "alice", "fork") as client:
            client.expect("hello")
            client.expect("child")
            self.assertEqual(client.expect("child_ended")[0], 0)
            client.expect("hello")
            self.assertEqual(client.wait(20), 0, client.errors())

    def test_many_sessions_leave_nothing_behind(self):
        worker = self.worker()
        self.served(worker)
        self.assertTrue(eventually(worker.idle, 10))
        before = descriptors_of(worker.pid)
        resident = resident_kib(worker.pid)
        for _ in range(SEQUENTIAL):
            self.served(worker)
            self.refused(worker, TF_KEY_FILE="", TF_SECURITY="")
        self.assertTrue(eventually(lambda: worker.idle() and descriptors_of(worker.pid) == before, 10))
        self.assertLess(resident_kib(worker.pid) - resident, 2048 * SLOWER)


class Strangers(KeysTest):
    def strike(self, worker, payload):
        with worker.connect("tcp") as connection:
            try:
                connection.sendall(payload)
            except OSError:
                pass
            said = closed_within(connection, IDENTIFY_S + 5)
        self.assertIsNotNone(said, f"still open: {payload[:80]!r}")
        return said

    def client_hello(self):
        """What a client says first."""
        heard = []
        with socket.create_server(("127.0.0.1", 0)) as listener:
            def listen():
                connection, _ = listener.accept()
                with connection:
                    connection.settimeout(10)
                    while sum(map(len, heard)) < 56 + 100:
                        heard.append(connection.recv(4096))
            thread = threading.Thread(target=listen)
            thread.start()
            worker = self.worker()
            worker.port, port = listener.getsockname()[1], worker.port
            self.refused(worker, TF_CONNECT_TIMEOUT="1")
            worker.port = port
            thread.join()
        return worker, b"".join(heard)

    def test_garbage_halves_and_silence(self):
        worker, hello = self.client_hello()
        self.assertEqual(hello[:56], attach())
        self.strike(worker, b"")
        self.strike(worker, hello[:56])
        self.strike(worker, hello[:100])
        self.strike(worker, hello[:56] + b"\x16\x03\x01" + bytes(200))
        self.strike(worker, attach() + b"GET / HTTP/1.0\r\n\r\n")
        said = self.strike(worker, hello + bytes(4000))
        self.assertNotIn(struct.pack("<I", 0x48495052), said, "nothing is said in clear")
        said = self.strike(worker, attach(level="none") + frame(HELLO, hello_payload()))
        self.assertIn(b"this worker wants a key", said)
        self.expect_logged(worker, "its key was not proven in time")
        self.served(worker)

    def test_lanes_need_a_proof(self):
        worker = self.worker("--security", "auth")
        with Tap(worker.port) as tap, \
                self.client(worker, "alice", "hold", 4096, TF_WORKER_PORT=str(tap.port), TF_SECURITY="auth") as client:
            client.expect("holding", 30)
            token = tap.attached["bulk"][24:40]
            for lane in (0, 1, 2):
                for level in ("none", "auth", "encrypt"):
                    with self.subTest(f"{lane} {level}"):
                        said = self.strike(worker, attach(token, 3, lane, level) + bytes(32 + 32))
                        self.assertLessEqual(len(said), 64)
            with socket.socket(socket.AF_UNIX) as near:  # and not through the other door either
                near.settimeout(IDENTIFY_S * SLOWER)
                near.connect(worker.socket)
                near.sendall(attach(token, 3, 1, "none"))
                self.assertEqual(near.recv(1), b"")
            self.assertTrue(eventually(lambda: "the proof of a lane is wrong" in worker.log(), 5), worker.log())
            self.assertIn("a lane of another level than its session", worker.log())
            client.poke()
            client.expect("alive")


class OnTheWire(KeysTest):
    BYTES = 1 << 18

    def rounds(self, worker, tap, level, **changes):
        client = self.client(worker, "alice", "rounds", self.BYTES, TF_WORKER_PORT=str(tap.port), TF_SECURITY=level,
                             **changes)
        self.addCleanup(client.__exit__)
        client.expect("round", 30)  # payload has travelled
        return client

    def test_what_can_be_read(self):
        """At the level auth lanes are clear, and the control connection is not; at encrypt nothing is."""
        for level, clear in (("auth", True), ("encrypt", False)):
            with self.subTest(level):
                worker = self.worker("--security", level)
                with Tap(worker.port) as tap:
                    self.rounds(worker, tap, level).kill()
                    heard = {lane: bytes(data) for lane, data in tap.heard.items()}
                self.assertGreater(len(heard["control"]), 1000)
                self.assertNotIn(os.path.basename(CLIENT).encode(), heard["control"])
                self.assertNotIn(b"x86_64-cpu", heard["control"])
                self.assertEqual(b"x" * 64 in heard["bulk"], clear)
                self.assertGreater(len(heard["bulk"]), self.BYTES)
                self.assertNotIn(b"alice", b"".join(heard.values()))

    def test_what_is_changed_on_the_way_ends_the_session_with_its_reason(self):
        for lane in ("message", "bulk"):
            for way in ("to the worker", "to the client"):
                for change in CHANGES:
                    with self.subTest(f"{lane} {way}: {change}"):
                        self.expect_noticed(lane, way, change)

    def expect_noticed(self, lane, way, change):
        """What is dropped, with nothing behind it, is missed when it does not arrive in time."""
        worker = self.worker(environment={"TF_IO_TIMEOUT": "2"})
        with Tap(worker.port) as tap:
            client = self.rounds(worker, tap, "encrypt", TF_IO_TIMEOUT="2")
            self.assertTrue(tap.spoil(lane, way, change).wait(10 * SLOWER))
            self.expect_loss(client, 8)
            told = "\n".join(client.errors())
        reasons = ["a record was changed", *(["have not arrived"] if "dropped" in change else [])]
        self.assertTrue(eventually(lambda: any(reason in told + worker.log() for reason in reasons), 5),
                        told + worker.log())
        self.served(worker)
        worker.__exit__()


if __name__ == "__main__":
    main()
