#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kernels that fail on AMD's own HIP runtime, above the stand-in for HSA's, through a worker.

failed_kernel_test.py FOLDER-OF-STAND-IN HIP-REMOTE PROGRAM

AMD's runtime 5.2.3 ends the process where a kernel fails. Through a worker that is the process of one session: its
client learns at once that it has lost the worker, the worker's log says why, and others go on. No AMD hardware takes
part.
"""
import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from stand_in import why_not  # noqa: E402
from worker import environment, worker  # noqa: E402

STAND_IN, HIP_REMOTE, PROGRAM = map(pathlib.Path, sys.argv[1:4])
LIMIT_S = 60
# What AMD's runtime says before it ends the process.
KERNELS = {"trap": "HSA_STATUS_ERROR_EXCEPTION", "assert": "HSA_STATUS_ERROR_EXCEPTION",
           "wild write": "HSA_STATUS_ERROR_MEMORY_FAULT"}


class FailedKernels(unittest.TestCase):
    def client(self, address, case, **variables):
        command = [HIP_REMOTE, "run", "--worker", address, "--transport", "shm", "--", PROGRAM,
                   "--gtest_filter=" + case, "--gtest_also_run_disabled_tests"]
        return subprocess.run([str(word) for word in command], env=dict(os.environ, **variables), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT_S)

    def test_end_their_session_and_no_other(self):
        with worker(HIP_REMOTE.parent / "hip-worker", environment(STAND_IN)) as (address, said):
            for kernel, words in KERNELS.items():
                with self.subTest(kernel=kernel):
                    before = len(said())
                    failed = self.client(address, "FailedKernelProcess.DISABLED_Run",
                                         HIP_TEST_PARTNER=f"{kernel}/null/device synchronize")
                    self.assertEqual(failed.returncode, 1, failed.stdout)
                    self.assertIn("lost the worker", failed.stdout)
                    self.assertIn("hipErrorDeinitialized", failed.stdout)
                    # The client may learn of it before the supervisor has said it.
                    deadline = time.monotonic() + LIMIT_S
                    while "ended: killed by signal 6" not in said()[before:] and time.monotonic() < deadline:
                        time.sleep(0.05)
                    self.assertIn("ended: killed by signal 6", said()[before:])
                    self.assertIn(words, said()[before:])
                    other = self.client(address, "Launch.*")
                    self.assertEqual(other.returncode, 0, other.stdout)


if __name__ == "__main__":
    reason = why_not()
    if reason is not None:
        print("all tests skipped:", reason)
    else:
        unittest.main(argv=sys.argv[:1])
