# SPDX-License-Identifier: Apache-2.0
"""Sockets that a service manager has bound, and hands to hip-worker (sd_listen_fds(3)), as hip-worker.socket has it."""
import os
import signal
import socket
import subprocess
import tempfile

from harness import BUILD, Client, FaultTest, Worker, main
from keys import Keys

LAUNCHER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "activate.py")


class Activation(FaultTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="hip-handed-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "socket")
        self.places = [os.open("/dev/null", os.O_RDONLY) for _ in range(4)]  # so that the worker's others are above
        for place in self.places:
            self.addCleanup(os.close, place)

    def bound(self, kind=socket.SOCK_STREAM, listens=True, address=None):
        """A listening socket: of `address`, or a Unix socket at self.path."""
        made = socket.socket(socket.AF_UNIX if address is None else socket.AF_INET, kind)
        self.addCleanup(made.close)
        made.bind(address or self.path)
        if listens:
            made.listen(8)
        return made

    def worker(self, *sockets, options=(), **variables):
        numbers = [one.fileno() for one in sockets]
        worker = Worker(*options, program=LAUNCHER, inherits=numbers,
                        environment={"HANDED": ",".join(map(str, numbers)), **variables})
        self.addCleanup(worker.__exit__)
        return worker

    def refused(self, made, *options, **variables):
        """The log of a worker that does not start with this socket."""
        number = made.fileno()
        done = subprocess.run([LAUNCHER, "--runtime", "cpu", *options], pass_fds=[number], stderr=subprocess.PIPE,
                              env={**os.environ, "HANDED": str(number), **variables}, check=False, timeout=60,
                              text=True)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def serves(self, worker, transport, **changes):
        with worker.client(transport, "hello", **changes) as client:
            self.assertEqual(client.process.wait(60), 0, client.errors())

    def test_they_stand_in_for_the_options(self):
        port = self.bound(address=("127.0.0.1", 0))
        worker = self.worker(self.bound(), port)
        self.assertEqual(worker.port, port.getsockname()[1])
        self.assertFalse(os.path.exists(worker.socket), "it has opened that of --socket, too")
        self.assertIn(f"listening on unix:{self.path}", worker.log())
        worker.socket = self.path
        self.serves(worker, "shm")
        self.serves(worker, "tcp")

    def test_who_came_before_the_worker_is_served(self):
        made = self.bound()
        variables = {"TF_TRANSPORT": "shm", "TF_WORKER_SOCKET": self.path, "TF_CONNECT_TIMEOUT": "60"}
        with Client(variables, "hello") as client:
            self.worker(made)
            self.assertEqual(client.process.wait(60), 0, client.errors())

    def test_they_outlive_the_worker(self):
        made = self.bound()
        for _ in range(2):
            worker = self.worker(made)
            worker.socket = self.path
            self.serves(worker, "shm")
            worker.process.send_signal(signal.SIGTERM)
            self.assertEqual(worker.process.wait(20), 0)
            self.assertTrue(os.path.exists(self.path), "the worker has removed a file that is not its own")

    def test_sessions_get_none(self):
        made = self.bound()
        worker = self.worker(made)
        inode = os.readlink(f"/proc/self/fd/{made.fileno()}")
        for pid in [*worker.children(), worker.pid]:
            theirs = [os.readlink(f"/proc/{pid}/fd/{one}") for one in os.listdir(f"/proc/{pid}/fd")]
            self.assertEqual(inode in theirs, pid == worker.pid, theirs)
        for pid in worker.children():
            with open(f"/proc/{pid}/environ", "rb") as file:
                self.assertNotIn(b"LISTEN_", file.read())

    def test_those_of_another_process_are_not_taken(self):
        worker = self.worker(self.bound(), LISTEN_PID="1")
        self.assertNotIn(self.path, worker.log())
        self.serves(worker, "shm")

    def test_with_keys_it_may_be_any_address(self):
        keys = Keys()
        self.addCleanup(keys.__exit__)
        keys.authorize(keys.make("alice"))
        made = self.bound(address=("0.0.0.0", 0))
        worker = self.worker(made, options=keys.options())
        self.assertIn("1 keys may come in", worker.log())
        self.serves(worker, "tcp", **keys.environment("alice"))

    def test_without_keys_only_loopback(self):
        made = self.bound(address=("0.0.0.0", 0))
        self.assertIn("Off loopback it takes --key-file and --authorized-keys", self.refused(made))

    def test_no_tcp_means_those_too(self):
        made = self.bound(address=("127.0.0.1", 0))
        self.assertIn("--no-tcp forbids it", self.refused(made, "--no-tcp", "--socket", self.path))

    def test_what_cannot_be_listened_on(self):
        self.assertIn("no stream socket that listens", self.refused(self.bound(socket.SOCK_DGRAM, listens=False)))
        os.unlink(self.path)
        self.assertIn("no stream socket that listens", self.refused(self.bound(listens=False)))
        with open(os.path.join(BUILD, "bin", "hip-worker"), "rb") as file:
            self.assertIn("it is no socket", self.refused(file))

    def test_numbers_that_are_none(self):
        made = self.bound()
        for number in ("0", "17", "-1", "many"):
            self.assertIn(f"LISTEN_FDS={number}: expected 1 to 16 sockets", self.refused(made, LISTEN_FDS=number))


if __name__ == "__main__":
    main()
