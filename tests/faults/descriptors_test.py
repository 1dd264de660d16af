# SPDX-License-Identifier: Apache-2.0
"""Descriptors 0 to 2 are the program's, also while they are closed; and programs that have none left."""
import os
import re
import resource
import subprocess
import tempfile

from harness import BUILD, CLIENT, Client, FaultTest, TRANSPORTS, Worker, eventually, main

SUBSETS = range(8)
ENGINES = ("poll", "uring")
LIMITS = range(4, 40)


class StandardDescriptors(FaultTest):
    def test_programs_that_close_them(self):
        with Worker() as worker:
            for transport in TRANSPORTS:
                for subset in SUBSETS:
                    engine = ENGINES[subset % 2]
                    with self.subTest(f"{transport} {engine} {subset:03b}"), \
                            worker.client(transport, "closed", subset, TF_DEBUG="1", TF_TCP_ENGINE=engine) as client:
                        self.assertEqual(client.expect("ours", 30), [0, 0])
                        self.assertEqual(client.expect("closed", 30), [0])
                        self.assertEqual(client.wait(), 0)

    def test_nobody_reads_standard_error(self):
        """Where a line of ours would raise SIGPIPE."""
        with Worker() as worker:
            read_end, write_end = os.pipe()
            os.close(read_end)
            environment = {**os.environ, **worker.environment("tcp"), "TF_DEBUG": "1",
                           "LD_LIBRARY_PATH": os.path.join(BUILD, "lib"), "ASAN_OPTIONS": "detect_leaks=0"}
            done = subprocess.run([CLIENT, "hello"], stdout=subprocess.PIPE, stderr=write_end, env=environment,
                                  timeout=60, check=False)
            os.close(write_end)
            self.assertEqual((done.returncode, done.stdout), (0, b"hello 42 0\n"))

    def start_worker_without(self, subset):
        """A worker whose starter has closed those descriptors."""
        with tempfile.NamedTemporaryFile("w", prefix="hip-worker-", suffix=".sh", delete=False) as script:
            self.addCleanup(os.unlink, script.name)
            closing = " ".join(text for number, text in enumerate(("<&-", ">&-", "2>&-")) if subset >> number & 1)
            script.write(f'#!/bin/sh\nexec {BUILD}/bin/hip-worker "$@" {closing}\n')
        os.chmod(script.name, 0o755)
        return Worker(program=script.name)

    def test_workers_that_have_none(self):
        for subset in SUBSETS:
            with self.subTest(f"{subset:03b}"), self.start_worker_without(subset) as worker:
                for transport in TRANSPORTS:
                    self.expect_served(worker, transport)
                # Ended sessions have gone: only the next spare is left.
                self.assertTrue(eventually(worker.idle, 10), worker.children())
                for pid in [worker.pid, *worker.children()]:
                    for number in range(3):
                        if number == 2 and pid != worker.pid:  # what it says goes to the supervisor
                            self.assertTrue(os.readlink(f"/proc/{pid}/fd/2").startswith("pipe:"))
                        elif subset >> number & 1:
                            self.assertEqual(os.readlink(f"/proc/{pid}/fd/{number}"), "/dev/null")


class NoDescriptors(FaultTest):
    def test_too_few_to_connect(self):
        """Served, or told why not; with every number of descriptors that lets the program itself start."""
        with Worker() as worker:
            served = dict.fromkeys(TRANSPORTS, 0)
            for transport in TRANSPORTS:
                for limit in LIMITS:
                    environment = {**os.environ, **worker.environment(transport),
                                   "LD_LIBRARY_PATH": os.path.join(BUILD, "lib"),
                                   "ASAN_OPTIONS": "detect_leaks=0"}
                    done = subprocess.run(
                        [CLIENT, "hello"], stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment,
                        timeout=60, check=False,
                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit)))
                    with self.subTest(f"{transport} {limit}"):
                        self.assertIn(done.returncode, (0, 3), done.stderr)
                        if done.returncode == 0:
                            served[transport] += 1
                            continue
                        self.assertRegex(done.stderr, r"(?i)too many open files|no descriptor is free")
                        told = re.findall("^hip-remote: ", done.stderr, re.MULTILINE)
                        self.assertEqual(len(told), 1, done.stderr)
            for transport, count in served.items():
                self.assertGreater(count, 5, transport)
            self.expect_served(worker)

    def test_none_left_in_the_middle(self):
        with Worker() as worker:
            for transport in TRANSPORTS:
                with self.subTest(transport), worker.client(transport, "exhaust") as client:
                    self.assertEqual(client.expect("exhausted", 30), [0, 0], client.errors())
                    self.assertEqual(client.expect("free", 30), [0, 0], client.errors())
                    self.assertEqual(client.wait(), 0)
                    self.assertEqual(client.errors(), [])


if __name__ == "__main__":
    main()
