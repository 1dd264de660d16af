#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Debian's rocRAND on AMD's own HIP runtime above the stand-in for HSA's: its words are those of references.py.

rocrand_test.py FOLDER-OF-STAND-IN HIP-REMOTE TRANSPORT...

Natively, and through a worker over each transport. rocRAND's kernels are the machine code for gfx90a that Debian ships;
tests/amd/isa runs it on the host's cores. No AMD hardware takes part.
"""
import os
import pathlib
import subprocess
import sys
import unittest

import references

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from stand_in import amd_folder, why_not  # noqa: E402

STAND_IN = pathlib.Path(sys.argv[1])
HIP_REMOTE = pathlib.Path(sys.argv[2])
TRANSPORTS = sys.argv[3:]
PROGRAM = pathlib.Path(__file__).parent / "random_words.py"
SEED = 0x123456789A  # both halves are used
# The first words, and the second ones of the first engines.
BOUNDS = (0, 512, references.ENGINES, references.ENGINES + 256)
LIMIT_S = 120


def words(generator, transport):
    """Of the program, natively without a transport."""
    command = [sys.executable, PROGRAM, generator, SEED, BOUNDS[-1], *BOUNDS]
    library_path = [STAND_IN, *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    if transport is None:
        library_path.insert(1, amd_folder())
    else:
        command = [HIP_REMOTE, "run", "--local", "--runtime", "amd", "--transport", transport, "--", *command]
    done = subprocess.run([str(word) for word in command], text=True, capture_output=True, timeout=LIMIT_S,
                          env=dict(os.environ, LD_LIBRARY_PATH=":".join(map(str, library_path))))
    if done.returncode != 0 or "stops:" in done.stderr:
        raise AssertionError(f"{generator} over {transport}: {done.stdout[-500:]}{done.stderr}")
    return [int(word, 16) for word in done.stdout.split()]


class Generators(unittest.TestCase):
    def check(self, generator):
        indices = [*range(*BOUNDS[:2]), *range(*BOUNDS[2:])]
        expected = getattr(references, generator)(SEED, indices)
        for transport in (None, *TRANSPORTS):
            with self.subTest(transport=transport or "natively"):
                made = words(generator, transport)
                self.assertEqual(len(made), len(indices))
                wrong = [index for index, word in zip(indices, made) if word != expected[index]]
                self.assertEqual(wrong, [], "indices of words that differ")

    def test_philox(self):
        self.check("philox")

    def test_mrg32k3a(self):
        self.check("mrg32k3a")

    def test_xorwow(self):
        self.check("xorwow")

    def test_sobol32(self):
        self.check("sobol32")

    def test_mtgp32_is_the_same_remotely(self):
        """Without a reference: its parameters are tables of rocRAND's."""
        native = words("mtgp32", None)
        self.assertEqual(len(set(native)), len(native), "no word twice among a few hundred")
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                self.assertEqual(words("mtgp32", transport), native)


if __name__ == "__main__":
    reason = why_not(rocrand="librocrand1")
    if reason is not None:
        print("all tests skipped:", reason)
    else:
        unittest.main(argv=sys.argv[:1])
