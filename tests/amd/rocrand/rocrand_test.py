#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Debian's rocRAND on AMD's own HIP runtime above the stand-in for HSA's: its words are those of references.py, and
the numbers of its distributions those of distributions.py.

rocrand_test.py FOLDER-OF-STAND-IN HIP-REMOTE TRANSPORT...

Natively, and through a worker over each transport. rocRAND's kernels are the machine code for gfx90a that Debian ships;
tests/amd/isa runs it on the host's cores. No AMD hardware takes part.
"""
import os
import pathlib
import subprocess
import sys
import unittest

import random_words
import references
from distributions import FORMS, FORMS_OF_MRG32K3A, FORMS_OF_SOBOL32

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


def lines(generator, transport):
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
    return done.stdout.split()


def value(line):
    return float.fromhex(line) if "x" in line else int(line)


def wrong(made, form, groups):
    """Which of these numbers are not what the form makes of the words, with what they should be."""
    expected = [pair for group in groups for pair in form.function(*group)]
    return [(index, made[index], number) for index, (number, tolerance) in enumerate(expected)
            if not abs(made[index] - number) <= tolerance]


class Generators(unittest.TestCase):
    def check(self, generator, reference, forms):
        native = lines(generator, None)
        made = list(map(value, native))
        groups = reference.take(BOUNDS[-1], 1, [*range(*BOUNDS[:2]), *range(*BOUNDS[2:])])
        self.assertEqual(len(made), len(groups) + random_words.VALUES * len(random_words.DISTRIBUTIONS))
        self.assertEqual(wrong(made[:len(groups)], forms["word"], groups), [], "words")
        made = made[len(groups):]
        for name in random_words.DISTRIBUTIONS:
            with self.subTest(distribution=name):
                form = forms[name]
                groups = reference.take(random_words.VALUES // form.numbers, form.words)
                self.assertEqual(wrong(made[:random_words.VALUES], form, groups), [])
            made = made[random_words.VALUES:]
        self.check_remotely(generator, native)

    def check_remotely(self, generator, native):
        """Every bit is the same."""
        for transport in TRANSPORTS:
            with self.subTest(transport=transport):
                self.assertEqual(lines(generator, transport), native)

    def test_philox(self):
        self.check("philox", references.Philox(SEED), FORMS)

    def test_mrg32k3a(self):
        self.check("mrg32k3a", references.Mrg32k3a(SEED), FORMS_OF_MRG32K3A)

    def test_xorwow(self):
        self.check("xorwow", references.Xorwow(SEED), FORMS)

    def test_sobol32(self):
        self.check("sobol32", references.Sobol32(SEED), FORMS_OF_SOBOL32)

    def test_mtgp32_is_the_same_remotely(self):
        """Without a reference: its parameters are tables of rocRAND's."""
        native = lines("mtgp32", None)
        words = native[:BOUNDS[1] + BOUNDS[3] - BOUNDS[2]]
        self.assertEqual(len(set(words)), len(words), "no word twice among a few hundred")
        self.check_remotely("mtgp32", native)


if __name__ == "__main__":
    reason = why_not(rocrand="librocrand1")
    if reason is not None:
        print("all tests skipped:", reason)
    else:
        unittest.main(argv=sys.argv[:1])
