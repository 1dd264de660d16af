#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hip-remote info: the lines of transports, whatever this machine has. info_test.py HIP-REMOTE TRANSPORTS [--rdma]

TRANSPORTS: their names, best first, with commas. --rdma: the build has that transport.
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

PROGRAM, TRANSPORTS, HAS_RDMA = sys.argv[1], sys.argv[2].split(","), "--rdma" in sys.argv[3:]
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
NO_LIBRARY = "rdma needs libibverbs.so.1: "
NO_RDMA = "this build has no rdma transport"


def run(*words, **changes):
    done = subprocess.run([PROGRAM, "info", *words], capture_output=True, text=True, env={**ENVIRONMENT, **changes})
    if done.returncode != 0:
        raise AssertionError(f"exit status {done.returncode}: {done.stderr}")
    return done.stdout


def from_json(**changes):
    """{name: (available, why not, details)} in the order of the list."""
    rows = json.loads(run("--json", **changes))["transports"]
    return {row["name"]: (row["available"], row["why_not"], row["details"]) for row in rows}


def from_text(**changes):
    section = run(**changes).partition("Transports (TF_TRANSPORT)\n")[2].partition("  huge pages")[0]
    rows = {}
    for line in section.splitlines():
        head = re.match(r"  (\w+) +(yes|no) +(.*)", line)
        if head:
            name = head.group(1)
            rows[name] = (head.group(2) == "yes", head.group(3), [])
        elif line.startswith(" " * 11):
            rows[name][2].append(line.strip())
        else:  # of a reason with more than one line
            rows[name] = (rows[name][0], rows[name][1] + "\n" + line, rows[name][2])
    return rows


class Info(unittest.TestCase):
    def test_every_transport_in_order_of_preference(self):
        self.assertEqual(list(from_json()), TRANSPORTS)
        self.assertEqual(list(from_text()), TRANSPORTS)

    def test_rdma_has_devices_or_a_reason(self):
        for rows in (from_json(), from_text()):
            available, why, details = rows["rdma"]
            if available:
                self.assertEqual(why, "")
                self.assertRegex("\n".join(details), r"\w+: port \d+ active")
            else:
                self.assertRegex(why, "RDMA|libibverbs")

    def test_text_and_json_agree(self):
        text = from_text()
        for name, (available, why, details) in from_json().items():
            self.assertEqual((text[name][0], text[name][1]), (available, why))
            self.assertEqual(text[name][2], details if available else [])

    @unittest.skipUnless(HAS_RDMA, "this build has no rdma")
    def test_a_library_that_cannot_be_loaded_is_the_reason(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "libibverbs.so.1").write_text("no library")
            for rows in (from_json(LD_LIBRARY_PATH=folder), from_text(LD_LIBRARY_PATH=folder)):
                available, why, details = rows["rdma"]
                self.assertFalse(available)
                self.assertTrue(why.startswith(NO_LIBRARY + folder), why)
                self.assertEqual(details, [])

    @unittest.skipUnless(HAS_RDMA, "this build has no rdma")
    def test_a_device_that_is_not_there_is_the_reason(self):
        available, why, _ = from_json(TF_RDMA_DEVICE="none_of_these")["rdma"]
        self.assertFalse(available)
        without = from_json()["rdma"]
        if without[0]:
            self.assertIn('TF_RDMA_DEVICE: there is no device "none_of_these"; devices here:', why)
            self.assertIn(without[2][0], why)

    @unittest.skipIf(HAS_RDMA, "this build has rdma")
    def test_a_build_without_says_so(self):
        available, why, _ = from_json()["rdma"]
        self.assertFalse(available)
        self.assertTrue(why.startswith(NO_RDMA), why)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
