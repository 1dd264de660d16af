# SPDX-License-Identifier: Apache-2.0
"""Limits of the system: few descriptors, none left."""
import os
import resource
import subprocess

from harness import BUILD, FaultTest, SLOWER, TRANSPORTS, Worker, descriptors_of, eventually, limited_to, main

ENOUGH = 64


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Descriptors(FaultTest):
    def test_too_few_are_told_at_once(self):
        for few in (12, ENOUGH - 1):
            ran = subprocess.run(
                [os.path.join(BUILD, "bin", "hip-worker"), "--port", "0", "--runtime", "cpu"], timeout=20 * SLOWER,
                stderr=subprocess.PIPE, check=False,
                preexec_fn=limited_to(few))
            self.assertEqual(ran.returncode, 1, ran.stderr)
            self.assertIn(f"the limit of open files is {few} here (ulimit -Hn), and a worker needs at least {ENOUGH}",
                          ran.stderr.decode())

    def test_just_enough_serve(self):
        with Worker(descriptors=ENOUGH) as worker:
            for transport in TRANSPORTS:
                self.expect_served(worker, transport)

    def test_idle_connections_take_no_descriptor_that_a_session_needs(self):
        with Worker(descriptors=ENOUGH) as worker:
            strangers = [worker.connect(door) for _ in range(ENOUGH + 8) for door in ("tcp", "unix")]
            for transport in TRANSPORTS:
                self.expect_served(worker, transport)
            self.assertNotIn("Too many open files", worker.log())
            for connection in strangers:
                connection.close()

    def test_none_left_has_words_and_costs_no_processor(self):
        with Worker(descriptors=ENOUGH) as worker:
            resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (descriptors_of(worker.pid), ENOUGH))
            stranger = worker.connect("unix")
            words = "Too many open files for this process, which may have"
            self.assertTrue(eventually(lambda: words in worker.log(), 3), worker.log())
            before = processor_seconds(worker.pid)
            self.assertFalse(eventually(lambda: worker.process.poll() is not None, 1 / SLOWER))
            self.assertLess(processor_seconds(worker.pid) - before, 0.2)
            resource.prlimit(worker.pid, resource.RLIMIT_NOFILE, (ENOUGH, ENOUGH))
            stranger.close()
            self.expect_served(worker)


if __name__ == "__main__":
    main()
