#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Examples on AMD's own HIP runtime above the stand-in for HSA's, natively and through a worker: both print the same.

stack_test.py FOLDER-OF-STAND-IN HIP-REMOTE TRANSPORT...

The examples compile their kernels at run time: AMD's hiprtc and comgr make gfx90a code of them, and tests/amd/isa runs
it on the host's cores. No AMD hardware takes part.
"""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from stand_in import amd_folder, why_not  # noqa: E402

STAND_IN = pathlib.Path(sys.argv[1])
HIP_REMOTE = pathlib.Path(sys.argv[2])
TRANSPORTS = sys.argv[3:]
EXAMPLES = ("rtc_axpy", "matmul", "train_mlp")
LIMIT_S = 90


def run(command, library_path):
    environment = dict(os.environ, LD_LIBRARY_PATH=":".join(map(str, library_path)))
    return subprocess.run([str(part) for part in command], env=environment, text=True, capture_output=True,
                          timeout=LIMIT_S)


class Stack(unittest.TestCase):
    def expect_passed(self, result):
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        self.assertIn("PASSED", result.stdout)
        self.assertNotIn("stops:", result.stderr)

    def test_examples(self):
        # hiprtc of AMD's runtime 5.7 opens the runtime by the name that only the package for developers has.
        names = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (names / "libamdhip64.so").symlink_to(amd_folder() / "libamdhip64.so.5")
        for name in EXAMPLES:
            program = HIP_REMOTE.parent / name
            with self.subTest(example=name, how="natively"):
                native = run([program], [STAND_IN, amd_folder(), names])
                self.expect_passed(native)
            for transport in TRANSPORTS:
                with self.subTest(example=name, how=transport):
                    remote = run([HIP_REMOTE, "run", "--local", "--runtime", "amd", "--transport", transport, "--",
                                  program], [STAND_IN, names])
                    self.expect_passed(remote)
                    self.assertEqual(remote.stdout, native.stdout)


if __name__ == "__main__":
    reason = why_not(amd_comgr="libamd-comgr2")
    if reason is not None:
        print("all tests skipped:", reason)
    else:
        unittest.main(argv=sys.argv[:1])
