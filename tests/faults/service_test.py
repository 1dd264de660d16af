# SPDX-License-Identifier: Apache-2.0
"""What a service manager hears of hip-worker (sd_notify(3)): ready, reloading, stopping, and the watchdog."""
import os
import signal
import socket
import tempfile
import unittest

from harness import FaultTest, Worker, eventually, main
from keys import Keys

USER = 61234  # nobody has it


class ServiceTest(FaultTest):
    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="hip-notify-")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "notify")
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(self.socket.close)
        self.socket.bind(self.path)
        self.socket.setblocking(False)
        self.heard = []

    def worker(self, *extra, **variables):
        worker = Worker(*extra, environment={"NOTIFY_SOCKET": self.path, **variables})
        self.addCleanup(worker.__exit__)
        return worker

    def listen(self):
        """All states so far, by their first line."""
        try:
            while True:
                self.heard.append(self.socket.recv(4096).decode())
        except BlockingIOError:
            return [one.split("\n")[0] for one in self.heard]

    def expect(self, *states):
        self.assertTrue(eventually(lambda: self.listen() == list(states), 10), self.heard)

    def environment_of(self, pid):
        with open(f"/proc/{pid}/environ", "rb") as file:
            return [one.split(b"=")[0].decode() for one in file.read().split(b"\0") if one]


class States(ServiceTest):
    def test_ready_and_stopping(self):
        worker = self.worker()
        self.expect("READY=1")
        self.assertIn("STATUS=64 clients at most", self.heard[0])
        worker.process.send_signal(signal.SIGTERM)
        self.assertEqual(worker.process.wait(20), 0)
        self.expect("READY=1", "STOPPING=1")

    def test_an_abstract_socket(self):
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as abstract:
            name = f"hip-notify-test-{os.getpid()}"
            abstract.bind("\0" + name)
            abstract.settimeout(20)
            self.worker(NOTIFY_SOCKET="@" + name)
            self.assertTrue(abstract.recv(4096).startswith(b"READY=1\n"))

    def test_reload(self):
        keys = Keys()
        self.addCleanup(keys.__exit__)
        worker = self.worker(*keys.options())
        self.expect("READY=1")
        keys.authorize(keys.make("alice"))
        os.kill(worker.pid, signal.SIGHUP)
        self.expect("READY=1", "RELOADING=1", "READY=1")
        self.assertRegex(self.heard[1], r"\nMONOTONIC_USEC=\d+$")
        self.assertIn("STATUS=1 keys may come in", self.heard[2])
        keys.authorize("not a key")
        os.kill(worker.pid, signal.SIGHUP)
        self.expect("READY=1", "RELOADING=1", "READY=1", "RELOADING=1", "READY=1")
        self.assertNotIn("may come in", self.heard[4])

    def test_sessions_cannot_report(self):
        worker = self.worker()
        self.assertTrue(eventually(worker.children, 10))
        for pid in worker.children():
            self.assertNotIn("NOTIFY_SOCKET", self.environment_of(pid))

    def test_nobody_listens(self):
        worker = self.worker(NOTIFY_SOCKET=self.path + ".gone")
        self.assertIn("nobody hears there that this worker is ready", worker.log())
        with worker.client("shm", "hello") as client:
            self.assertEqual(client.wait(30), 0, client.errors())

    @unittest.skipUnless(os.geteuid() == 0, "takes root, who gives the key away")
    def test_a_key_that_root_gives(self):
        keys = Keys()
        self.addCleanup(keys.__exit__)
        os.chmod(keys.directory.name, 0o755)
        os.chown(keys.path("worker"), 0, USER)
        os.chmod(keys.authorized, 0o644)
        for mode, is_taken in ((0o440, True), (0o444, False), (0o460, False)):
            with self.subTest(mode=oct(mode)):
                os.chmod(keys.path("worker"), mode)
                if is_taken:
                    with Worker(*keys.options(), user=USER) as worker:
                        self.assertIn("this worker's key is", worker.log())
                else:
                    with self.assertRaisesRegex(AssertionError, "the output ended"):
                        Worker(*keys.options(), user=USER)


class Watchdog(ServiceTest):
    def test_it_is_told(self):
        worker = self.worker(WATCHDOG_USEC="400000")
        self.assertTrue(eventually(lambda: self.listen().count("WATCHDOG=1") >= 5, 10), self.heard)
        for pid in worker.children():
            self.assertNotIn("WATCHDOG_USEC", self.environment_of(pid))

    def test_that_of_another_process(self):
        self.worker(WATCHDOG_USEC="200000", WATCHDOG_PID="1")
        self.expect("READY=1")
        self.assertFalse(eventually(lambda: "WATCHDOG=1" in self.listen(), 0.5), self.heard)


if __name__ == "__main__":
    main()
