# SPDX-License-Identifier: Apache-2.0
"""Other users at the worker's doors (its Unix socket, and its port on loopback): refused before a byte of theirs is
read, unless an option names them.

Another user is a child of this process that has become one, which takes root.
"""
import os
import re
import socket
import stat
import struct
import time

from harness import CLIENT, FaultTest, SLOWER, Worker, descriptors_of, eventually, main
from users import Another, OTHER, needs_root
from wire_test import HELLO, attach, closed_within, frame, hello_payload

GROUP = 54321
HEADER_BYTES = 24  # of a frame; HELLO's answer begins with its code


def reached_by(user):
    """Whether the path of the build is open to `user`, from the root down."""
    path = os.path.realpath(CLIENT)
    while path != "/":
        path = os.path.dirname(path)
        mode = os.stat(path)
        if mode.st_uid != user and not mode.st_mode & stat.S_IXOTH:
            return False
    return True


def connected(address):
    """`address`: a Unix socket, or a port on loopback."""
    of_port = isinstance(address, int)
    connection = socket.socket(socket.AF_INET if of_port else socket.AF_UNIX)
    connection.settimeout(5)
    try:
        if of_port:
            connection.connect(("127.0.0.1", address))
        else:
            connection.connect("\0" + address[1:] if address.startswith("@") else address)
    except OSError:
        connection.close()
        raise
    return connection


def speaking(address, payload):
    """For Another: connects, says `payload`, and answers what it heard until the worker hung up."""
    def work(answer):
        with connected(address) as connection:
            try:
                connection.sendall(payload)
            except OSError:
                pass
            heard = closed_within(connection, 5)
            answer(b"still open" if heard is None else heard)
    return work


HELLO_OF_A_STRANGER = attach() + frame(HELLO, hello_payload(), request=1)
WAS_READ = b"another set of messages"  # the answer of a session process to that


class DoorTest(FaultTest):
    def worker(self, *extra, open_file=False, **how):
        """A worker whose folder is open to all; `open_file`: the socket's file, too."""
        worker = Worker("-v", *extra, **how)
        self.addCleanup(worker.__exit__)
        os.chmod(worker.directory.name, 0o755)
        if open_file:
            os.chmod(worker.socket, 0o666)
        return worker

    def abstract(self, *extra):
        worker = self.worker("--socket", f"@hip-doors-{os.getpid()}-{time.monotonic_ns()}", *extra)
        worker.socket = re.search(r"listening on unix:(@\S+)", worker.log()).group(1)
        return worker

    def sessions(self, worker):
        return len(re.findall(r"session \d+: process", worker.log()))

    def expect_refused(self, worker, said, user=OTHER, group=OTHER):
        self.assertIn(b"user %d may not use this worker, which user %d has started" % (user, os.geteuid()), said)
        self.assertIn(b"--allow-uid %d or --allow-gid %d" % (user, group), said)
        self.expect_logged(worker, rf"a connection refused: user {user}, group {group}, process \d+; "
                           rf"--allow-uid {user} or --allow-gid {group} would let it in")
        self.assertEqual(self.sessions(worker), 0, "its HELLO was read")

    def expect_read(self, said):
        self.assertIn(WAS_READ, said)


class OwnUser(DoorTest):
    def test_is_served_as_ever(self):
        for worker in (self.worker(), self.abstract()):
            self.expect_served(worker, "shm")
            self.assertNotIn("a connection refused", worker.log())

    def test_the_file_is_the_owners_whatever_the_umask(self):
        for umask in (0, 0o22, 0o77):
            before = os.umask(umask)
            try:
                worker = self.worker()
            finally:
                os.umask(before)
            self.assertEqual(stat.S_IMODE(os.stat(worker.socket).st_mode), 0o600)

    def test_the_mode_that_was_asked_for(self):
        worker = self.worker("--socket-mode", "0640")
        self.assertEqual(stat.S_IMODE(os.stat(worker.socket).st_mode), 0o640)
        self.expect_served(worker, "shm")


@needs_root
class Refused(DoorTest):
    def test_on_a_path_that_is_open_to_all(self):
        worker = self.worker(open_file=True)
        self.expect_refused(worker, Another(speaking(worker.socket, HELLO_OF_A_STRANGER)).said())
        self.expect_served(worker, "shm")

    def test_on_an_abstract_name(self):
        worker = self.abstract()
        self.expect_refused(worker, Another(speaking(worker.socket, HELLO_OF_A_STRANGER)).said())
        self.expect_served(worker, "shm")

    def test_before_it_has_said_a_word(self):
        worker = self.worker(open_file=True)
        self.expect_refused(worker, Another(speaking(worker.socket, b"")).said())

    def test_by_the_mode_if_that_is_as_it_was(self):
        worker = self.worker()
        self.assertIn(b"PermissionError", Another(speaking(worker.socket, b"")).said())

    def test_whoever_is_not_named(self):
        for extra in (("--allow-uid", "1"), ("--allow-gid", "1"), ("--allow-uid", "root", "--allow-gid", "root")):
            worker = self.worker(*extra, open_file=True)
            self.expect_refused(worker, Another(speaking(worker.socket, HELLO_OF_A_STRANGER)).said())
            self.expect_refused(worker, Another(speaking(worker.socket, HELLO_OF_A_STRANGER), groups=[GROUP]).said())

    def test_a_lane_though_the_token_is_right(self):
        """The control connection is its owner's; the lane is not."""
        for worker in (self.worker(open_file=True), self.abstract()):
            with connected(worker.socket) as asking:
                asking.sendall(HELLO_OF_A_STRANGER)
                schema = int(re.search(rb"the worker has ([0-9a-f]{16})", closed_within(asking, 10)).group(1), 16)
            with connected(worker.socket) as control:
                control.sendall(attach() + frame(HELLO, hello_payload(schema=schema), request=1))
                self.assertEqual(struct.unpack("<I", control.recv(HEADER_BYTES + 4)[HEADER_BYTES:])[0], 0)
                lanes = [attach(bytes(range(1, 17)), kind=self.kind_of_tcp(), lane=lane) for lane in range(2)]
                for lane in lanes:
                    heard = Another(speaking(worker.socket, lane)).said()
                    self.assertIn(b"user %d may not use this worker" % OTHER, heard)
                self.assertNotIn("started", worker.log())
                own = [connected(worker.socket) for _ in lanes]
                for connection, lane in zip(own, lanes):
                    connection.sendall(lane)
                self.assertTrue(eventually(lambda worker=worker: "started" in worker.log(), 5), worker.log())
                for connection in own:
                    connection.close()

    @staticmethod
    def kind_of_tcp():
        with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../tcp/transport.h"),
                  encoding="utf-8") as header:
            return int(re.search(r"kKind\D*(\d+)", header.read()).group(1))

    def test_a_thousand_times(self):
        worker = self.worker(open_file=True)
        before = descriptors_of(worker.pid)

        def flood(answer):
            refused = 0
            while refused < 1000:
                with connected(worker.socket) as connection:
                    if b"may not use this worker" not in (closed_within(connection, 5) or b""):
                        break
                    refused += 1
            answer(b"%d" % refused)
        self.assertEqual(Another(flood).said(), b"1000")
        lines = worker.log().splitlines()
        self.assertLess(len(lines), 60, "\n".join(lines[-20:]))
        self.assertLessEqual(descriptors_of(worker.pid), before)
        self.expect_served(worker, "shm")
        time.sleep(1.1)
        Another(speaking(worker.socket, b"")).said()
        self.assertRegex(worker.log(), r"\d+ lines about refused connections were left out")

    def test_without_end_and_others_are_served_meanwhile(self):
        worker = self.worker(open_file=True)

        def flood(_):
            while True:
                try:
                    connected(worker.socket).close()
                except BlockingIOError:  # the worker has as many to accept as it may have
                    pass
        floods = [Another(flood) for _ in range(3)]
        try:
            self.assertTrue(eventually(lambda: "a connection refused" in worker.log(), 5))
            for transport in ("shm", "tcp"):
                self.expect_served(worker, transport)
        finally:
            died = [one.kill() for one in floods]
        self.assertEqual(died, [b""] * len(floods), "a flood had ended before")
        self.assertLess(worker.log().count("a connection refused"), 60)


@needs_root
class Loopback(DoorTest):
    """The TCP port on loopback, without keys: the same users as at the Unix socket."""

    def expect_refused_over_tcp(self, worker, said, user=OTHER):
        self.assertIn(b"user %d may not use this worker, which user %d has started" % (user, os.geteuid()), said)
        self.expect_logged(worker, f"a connection refused: user {user}, over TCP; --allow-uid {user} would let it in")
        self.assertEqual(self.sessions(worker), 0, "its HELLO was read")

    def test_another_user_is_refused(self):
        worker = self.worker()
        self.expect_refused_over_tcp(worker, Another(speaking(worker.port, b"")).said())
        self.expect_refused_over_tcp(worker, Another(speaking(worker.port, HELLO_OF_A_STRANGER)).said())
        self.assertIn(WAS_READ, self.heard_by_own(worker))

    def heard_by_own(self, worker):
        with connected(worker.port) as connection:
            connection.sendall(HELLO_OF_A_STRANGER)
            return closed_within(connection, 10)

    def test_a_group_does_not_count(self):
        worker = self.worker("--allow-gid", str(OTHER))
        self.expect_refused_over_tcp(worker, Another(speaking(worker.port, b"")).said())

    def test_a_guest_is_admitted(self):
        worker = self.worker("--allow-uid", str(OTHER))
        self.expect_read(Another(speaking(worker.port, HELLO_OF_A_STRANGER)).said())

    def test_who_has_hung_up_is_nobody(self):
        """The kernel then names root, and this worker is root's."""
        worker = self.worker()

        def hang_up(_):
            for _ in range(300):
                with connected(worker.port) as connection:
                    connection.sendall(HELLO_OF_A_STRANGER)
        self.assertEqual(Another(hang_up).said(), b"")
        self.assertIn(WAS_READ, self.heard_by_own(worker))
        self.assertEqual(self.sessions(worker), 1)

    def test_a_worker_of_another_user(self):
        worker = self.worker(user=OTHER)
        self.expect_read(Another(speaking(worker.port, HELLO_OF_A_STRANGER)).said())
        with connected(worker.port) as connection:
            heard = closed_within(connection, 10)
        self.assertIn(b"user 0 may not use this worker, which user %d has started" % OTHER, heard)


@needs_root
class Admitted(DoorTest):
    def expect_admitted(self, *extra, **who):
        for worker in (self.worker(*extra), self.abstract(*extra)):
            self.expect_read(Another(speaking(worker.socket, HELLO_OF_A_STRANGER), **who).said())
            self.assertNotIn("a connection refused", worker.log())

    def test_by_user(self):
        self.expect_admitted("--allow-uid", str(OTHER))
        self.expect_admitted("--allow-uid", f"1,{OTHER}", "--allow-uid", "2")

    def test_by_primary_group(self):
        self.expect_admitted("--allow-gid", str(GROUP), group=GROUP)

    def test_by_supplementary_group(self):
        self.expect_admitted("--allow-gid", str(GROUP), groups=[1, GROUP, 2])
        self.expect_admitted("--allow-gid", str(GROUP), groups=[*range(60000, 60300), GROUP])

    def test_the_file_is_as_open_as_that_needs_and_no_more(self):
        for extra, mode, group in ((("--allow-uid", str(OTHER)), 0o666, 0), (("--allow-uid", "root"), 0o600, 0),
                                   (("--allow-gid", str(GROUP)), 0o660, GROUP),
                                   (("--allow-gid", f"{GROUP},{OTHER}"), 0o666, 0),
                                   (("--allow-uid", str(OTHER), "--socket-group", str(GROUP)), 0o660, GROUP),
                                   (("--allow-uid", str(OTHER), "--socket-group", str(GROUP), "--socket-mode", "620"),
                                    0o620, GROUP)):
            made = os.stat(self.worker(*extra).socket)
            self.assertEqual((stat.S_IMODE(made.st_mode), made.st_gid), (mode, group), extra)


@needs_root
class Programs(DoorTest):
    """Whole programs of another user."""

    def setUp(self):
        if not reached_by(OTHER):
            self.skipTest(f"user {OTHER} cannot reach the build's programs: a folder above them is closed to others")

    def errors_of(self, worker, transport, user):
        with worker.client(transport, "hello", user=user, TF_WORKER_SOCKET=worker.socket) as client:
            self.assertNotEqual(client.wait(30), 0)
            return "\n".join(client.errors())

    def expect_served_as(self, user, worker, transport):
        with worker.client(transport, "hello", user=user, TF_WORKER_SOCKET=worker.socket) as client:
            self.assertEqual(client.wait(30), 0, client.errors())

    def test_a_guest_is_served(self):
        for transport in ("shm", "tcp"):
            self.expect_served_as(OTHER, self.worker("--allow-uid", str(OTHER)), transport)
            self.expect_served_as(OTHER, self.abstract("--allow-gid", str(OTHER)), transport)

    def test_who_is_refused_hears_it_at_once(self):
        worker = self.worker(open_file=True)
        start = time.monotonic()
        for _ in range(10):  # the worker may have hung up before the program has said a word, or after
            for transport in ("shm", "tcp", "auto"):
                self.assertIn(f"the worker refused: user {OTHER} may not use this worker",
                              self.errors_of(worker, transport, OTHER))
        self.assertLess(time.monotonic() - start, 30 * SLOWER)

    def test_who_may_not_open_the_file_hears_what_to_do(self):
        errors = self.errors_of(self.worker(), "shm", OTHER)
        self.assertIn("Permission denied", errors)
        self.assertIn("--allow-uid, --allow-gid, --socket-mode", errors)

    def test_who_is_refused_at_the_port_hears_it(self):
        worker = self.worker()
        for _ in range(10):
            with worker.client("tcp", "hello", user=OTHER) as client:
                self.assertNotEqual(client.wait(30), 0)
                self.assertIn(f"the worker refused: user {OTHER} may not use this worker", "\n".join(client.errors()))

    def test_root_is_no_exception(self):
        worker = self.worker(user=OTHER)
        self.assertIn("the worker refused: user 0 may not use this worker", self.errors_of(worker, "shm", None))
        self.expect_served_as(OTHER, worker, "shm")
        self.expect_served_as(None, self.worker("--allow-uid", "root", user=OTHER), "shm")

    def test_a_worker_that_anybody_may_have_started(self):
        """shm maps nothing of a worker of another user whose socket is in a folder for all."""
        worker = self.worker("--allow-uid", "root", user=OTHER)
        os.chmod(worker.directory.name, 0o777)
        self.assertIn(f"runs as user {OTHER}, which is neither", self.errors_of(worker, "shm", None))


if __name__ == "__main__":
    main()
