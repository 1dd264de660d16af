# SPDX-License-Identifier: Apache-2.0
"""Work that takes longer than TF_IO_TIMEOUT: nobody is lost, over any transport, size and direction."""
import os

from harness import FaultTest, MIB, Worker, main

TIMEOUT_S = 1
BUSY_MS = 4500  # several times the timeout, and what a kernel takes to notice
COPY_BYTES = 96 * MIB  # more than all buffers on the way
# Each is a transport and the engine of both ends.
WAYS = (("shm", ""), ("tcp", "uring"), ("tcp", "poll"))


class BusyPeers(FaultTest):
    def setUp(self):
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ["TF_IO_TIMEOUT"] = str(TIMEOUT_S)  # the worker's

    def copy_while(self, scenario):
        for transport, engine in WAYS:
            os.environ["TF_TCP_ENGINE"] = engine
            with self.subTest(f"{transport} {engine}"), Worker() as worker:
                with worker.client(transport, scenario, COPY_BYTES, BUSY_MS, TF_IO_TIMEOUT=str(TIMEOUT_S),
                                   TF_TCP_ENGINE=engine) as client:
                    try:
                        took, wrong = client.expect("busy", 60)
                    except AssertionError as error:
                        raise AssertionError(f"{error}; worker: {worker.log()}") from error
                    self.assertEqual(client.wait(), 0, client.errors())
                    self.assertEqual(wrong, 0)
                    self.assertGreater(took, BUSY_MS - 100)
                    self.assertEqual(client.errors(), [])
                self.assertNotIn(" ended: ", worker.log())

    def test_copy_to_the_device_behind_a_slow_host_callback(self):
        self.copy_while("busy-in")

    def test_copy_that_is_not_waited_for_behind_a_slow_host_callback(self):
        self.copy_while("busy-async")

    def test_copy_to_the_device_behind_a_long_kernel(self):
        self.copy_while("busy-kernel")

    def test_copy_from_the_device_during_a_slow_host_callback(self):
        self.copy_while("busy-out")


if __name__ == "__main__":
    main()
