# SPDX-License-Identifier: Apache-2.0
"""What programs do to the library: fork, threads at exit, static destructors, broken files, many sessions."""
import os
import sys
import tempfile

from harness import (BUILD, NOT_INITIALIZED, FaultTest, MIB, SANITIZED, SLOWER, TRANSPORTS, Worker, descriptors_of,
                     eventually, main, resident_kib)

SEQUENTIAL = int(os.environ.get("TF_TEST_SESSIONS", 30 if SANITIZED else 200))  # a proof by hand: 10000
AT_ONCE = 16
INVALID_IMAGE = 200


class Processes(FaultTest):
    def test_fork(self):
        for transport in TRANSPORTS:
            with self.subTest(transport), Worker() as worker, worker.client(transport, "fork") as client:
                client.expect("hello")
                self.assertEqual(client.expect("child"), [NOT_INITIALIZED, NOT_INITIALIZED])
                self.assertEqual(client.expect("child_ended")[0], 0)
                client.expect("hello")
                self.assertEqual(client.wait(), 0)
                told = [line for line in client.errors() if line.startswith("hip-remote:")]
                self.assertEqual(len(told), 1, told)
                self.assertIn("fork()", told[0])

    def test_exit_with_threads_in_calls(self):
        with Worker() as worker:
            for transport in TRANSPORTS * 2:
                with self.subTest(transport), worker.client(transport, "threads") as client:
                    client.expect("exiting")
                    self.assertEqual(client.wait(5), 0, client.errors())
            self.assertTrue(eventually(worker.idle, 3), worker.children())

    def test_static_destructors(self):
        for transport in TRANSPORTS:
            with self.subTest(transport), Worker() as worker, worker.client(transport, "static") as client:
                client.expect("hello")
                self.assertEqual(client.expect("atexit")[0], 0)
                self.assertEqual(client.expect("destructor"), [0, 0])
                self.assertEqual(client.wait(5), 0)
                self.assertEqual(client.errors(), [])

    def test_code_object_files_that_are_cut_off(self):
        with Worker() as worker, tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "kernels.co")
            with open(os.path.join(BUILD, "tests", "faults", "fault_kernels.co"), "rb") as file:
                whole = file.read()
            for cut in (1, 3, 24, 31, 32, 63, 64, 100, 4096, len(whole) // 2, len(whole) - 1):
                with open(path, "wb") as file:
                    file.write(whole[:cut])
                with self.subTest(cut), worker.client("tcp", "load", path) as client:
                    self.assertEqual(client.expect("loaded")[0], INVALID_IMAGE)
                    self.assertEqual(client.wait(), 0, client.errors())
            # A fat binary's wrapper holds a pointer: in a file it leads nowhere.
            with open(path, "wb") as file:
                file.write(b"FPIH\x01\x00\x00\x00" + b"\x41" * 56)
            with worker.client("tcp", "load", path) as client:
                self.assertEqual(client.expect("loaded")[0], INVALID_IMAGE)
                self.assertEqual(client.wait(), 0, client.errors())


class ManySessions(FaultTest):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory(prefix="hip-sessions-")  # where sessions have their folders
        self.addCleanup(self.temporary.cleanup)

    def measure(self, worker):
        self.assertTrue(eventually(worker.idle, 10), worker.children())
        return (descriptors_of(worker.pid), len(os.listdir("/dev/shm")), sorted(os.listdir(worker.directory.name)),
                sum(len(files) + len(folders) for _, folders, files in os.walk(self.temporary.name)))

    def test_one_after_another_leaves_nothing_behind(self):
        with Worker(environment={"TMPDIR": self.temporary.name}) as worker:
            for transport in TRANSPORTS:
                self.expect_served(worker, transport)
            before, resident = self.measure(worker), resident_kib(worker.pid)
            for number in range(SEQUENTIAL):
                self.expect_served(worker, TRANSPORTS[number % len(TRANSPORTS)])
            self.assertEqual(self.measure(worker), before)
            grown = resident_kib(worker.pid) - resident
            print(f"{SEQUENTIAL} sessions: {grown} KiB more", file=sys.stderr)
            self.assertLess(grown, 2048 * SLOWER)

    def test_many_at_once(self):
        with Worker("--spares", "4") as worker:
            self.assertTrue(eventually(lambda: len(worker.children()) == 4, 10))
            clients = [worker.client(TRANSPORTS[number % len(TRANSPORTS)], "hold", MIB) for number in range(AT_ONCE)]
            try:
                for client in clients:
                    self.assertEqual(client.expect("holding", 20)[0], 0)
                for client in clients:
                    client.poke()
                for client in clients:
                    client.expect("alive", 20)
                for client in clients[::2]:
                    client.kill()
                for client in clients[1::2]:
                    client.poke()
                    client.expect("alive", 20)
            finally:
                for client in clients:
                    client.__exit__()
            self.assertTrue(eventually(lambda: len(worker.children()) == 4, 10), worker.children())


if __name__ == "__main__":
    main()
