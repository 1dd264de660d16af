# SPDX-License-Identifier: Apache-2.0
"""Clients that are killed in the middle of something, and a worker that is told to stop."""
import signal
import time

from harness import FaultTest, MIB, SLOWER, TRANSPORTS, Worker, eventually, is_running, main

COPY_BYTES = 256 * MIB
FOREVER = 10**15  # steps of the kernel


class ClientDeath(FaultTest):
    def strike(self, transport, arguments, until):
        """Kills a client while another one lives on; its session ends and its memory is free again."""
        with Worker() as worker, worker.client(transport, "hold", MIB) as other:
            other.expect("holding")
            self.assertTrue(eventually(lambda: len(worker.children()) == 2, 5))
            before = set(worker.children())
            with worker.client(transport, *arguments) as client:
                client.expect(until, 20)
                self.assertTrue(eventually(lambda: len(worker.children()) == 3, 5))
                gone = before - self.others(worker, before, other)
                client.kill()
                for pid in gone:
                    self.expect_ends(pid, 3.5)
            self.assertTrue(eventually(lambda: len(worker.children()) == 2, 3.5), worker.children())
            other.poke()
            other.expect("alive")
            self.expect_served(worker, transport)

    @staticmethod
    def others(worker, before, _):
        """The oldest session process is the first client's."""
        return {min(before & set(worker.children()))}

    def test_in_the_middle_of_a_copy_to_the_device(self):
        for transport in TRANSPORTS:
            with self.subTest(transport):
                self.strike(transport, ("copy-in", COPY_BYTES), "copying")

    def test_in_the_middle_of_a_copy_from_the_device(self):
        for transport in TRANSPORTS:
            with self.subTest(transport):
                self.strike(transport, ("copy-out", COPY_BYTES), "copying")

    def test_in_the_middle_of_a_kernel(self):
        self.strike("shm", ("kernel", FOREVER), "running")

    def test_while_idle(self):
        self.strike("tcp", ("hold", 64 * MIB), "holding")

    def test_the_child_of_a_fork_does_not_keep_the_session(self):
        for transport in TRANSPORTS:
            with self.subTest(transport), Worker() as worker:
                serving = worker.children()[0]
                with worker.client(transport, "fork-and-wait") as client:
                    client.expect("hello")
                    child, _ = client.expect("forked")
                    client.kill()
                    try:
                        self.assertTrue(is_running(child))
                        self.expect_ends(serving)
                    finally:
                        import os
                        os.kill(child, signal.SIGKILL)

    def test_sigterm_waits_for_a_busy_session_only_so_long(self):
        with Worker() as worker, worker.client("shm", "copy-in", COPY_BYTES) as copying, \
                worker.client("tcp", "kernel", FOREVER) as running:
            copying.expect("copying", 20)
            running.expect("running", 20)
            children = worker.children()
            start = time.monotonic()
            worker.process.send_signal(signal.SIGTERM)
            self.expect_loss(copying, 6)
            self.expect_loss(running, 8)
            self.assertEqual(worker.process.wait(10 * SLOWER), 0)
            self.assertLess(time.monotonic() - start, 8 * SLOWER)
            for pid in children:
                self.expect_ends(pid, 1)


if __name__ == "__main__":
    main()
