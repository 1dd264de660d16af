# SPDX-License-Identifier: Apache-2.0
"""A kernel that crashes: the program hears of it and goes on; its user and the worker's log read which one it was."""
from harness import FaultTest, TRANSPORTS, Worker, main

ILLEGAL_ADDRESS = 700


class KernelCrash(FaultTest):
    def test_everybody_is_told(self):
        for transport in TRANSPORTS:
            with self.subTest(transport), Worker() as worker:
                with worker.client(transport, "crash") as client:
                    self.assertEqual(client.expect("crashed")[0], ILLEGAL_ADDRESS, client.errors())
                    self.assertEqual(client.expect("again"), [ILLEGAL_ADDRESS, ILLEGAL_ADDRESS])
                    self.assertEqual(client.wait(), 0, client.errors())
                    told = [line for line in client.errors() if "hip-remote" in line]
                    self.assertEqual(len(told), 1, told)
                    for words in ("device 0", "kernel spin crashed", "at address 0x40", "hipErrorIllegalAddress"):
                        self.assertIn(words, told[0])
                log = worker.log()
                lines = [line for line in log.splitlines() if "kernel spin crashed" in line]
                self.assertEqual(len(lines), 1, log)
                self.assertIn(f'"fault_client"[{client.pid}]', lines[0])
                self.assertIn("device 0", lines[0])
                self.assertNotIn("killed by signal", log)
                self.expect_served(worker, transport)


if __name__ == "__main__":
    main()
