#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/bench-gate: what it takes for a regression and what not, as users call it."""
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

GATE = pathlib.Path(__file__).resolve().parents[3] / "tools" / "bench-gate"


def row(ratio, metric="stream_query", better="lower", limit=80.0, limit_name="cache-line ping-pong", **more):
    return {"row": "shm synchronous call", "bench": "hip_bench", "transport": "shm", "metric": metric, "bytes": 0,
            "value": None if ratio is None else ratio * limit, "unit": "ns", "limit": limit, "limit_name": limit_name,
            "ratio": ratio, "better": better, "target": "ratio <= 1.6", "holds": False, "peers": {},
            "placement": "pinned", **more}


class Gate(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.baseline = pathlib.Path(self.folder.name) / "baseline.json"

    def run_file(self, *rows):
        path = pathlib.Path(self.folder.name) / f"run{len(list(pathlib.Path(self.folder.name).iterdir()))}.jsonl"
        path.write_text("progress is no row\n" + "\n".join(json.dumps(one) for one in rows) + "\n")
        return str(path)

    def gate(self, *words):
        done = subprocess.run([sys.executable, str(GATE), "--baseline", str(self.baseline), *words],
                              capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def update(self, *rows):
        code, text = self.gate("--update", self.run_file(*rows))
        self.assertEqual(code, 0, text)
        return self.rows()

    def rows(self, machine=""):
        """What the baseline has for this machine."""
        entries = json.loads(self.baseline.read_text())["machines"]
        return next(entry["rows"] for entry in entries if entry["machine"] == machine)

    def passes(self, *rows):
        code, text = self.gate(self.run_file(*rows))
        self.assertEqual(code, 0, text)
        return text

    def fails(self, word, *rows):
        code, text = self.gate(self.run_file(*rows))
        self.assertEqual(code, 1, text)
        self.assertIn(word, text)

    def test_noise_is_no_regression(self):
        self.update(row(2.0, spread=0.1))
        self.passes(row(2.0))
        self.passes(row(2.25))

    def test_latency_that_grows_falls_behind(self):
        self.update(row(2.0, spread=0.1))
        self.fails("BEHIND", row(2.4))

    def test_bandwidth_that_shrinks_falls_behind(self):
        self.update(row(0.9, better="higher", spread=0.0))
        self.fails("BEHIND", row(0.7, better="higher"))
        self.passes(row(1.2, better="higher"))

    def test_slower_machine_is_no_regression(self):
        self.update(row(2.0, limit=80))
        self.passes(row(2.0, limit=120))

    def test_each_class_of_machine_has_rows_of_its_own(self):
        for ratio, name in ((2.0, "2 x old"), (4.0, "2 x new")):
            self.assertEqual(self.gate("--update", self.run_file(row(ratio, machine=name)))[0], 0)
        self.passes(row(4.1, machine="2 x new"))
        self.fails("BEHIND", row(4.1, machine="2 x old"))
        self.assertEqual(self.gate("--update", self.run_file(row(3.0, machine="2 x new")))[0], 0)
        self.assertEqual([self.rows(name)[0]["ratio"] for name in ("2 x old", "2 x new")], [2.0, 3.0])

    def test_a_machine_without_rows_says_which_have_some(self):
        self.assertEqual(self.gate("--update", self.run_file(row(2.0, machine="2 x old")))[0], 0)
        code, text = self.gate(self.run_file(row(2.0, machine="16 x new")))
        self.assertEqual(code, 2, text)
        self.assertRegex(text, r"no rows for this class of machine: 16 x new; it has them for:\n +2 x old\n")
        code, text = self.gate("--machine", "2 x old", self.run_file(row(2.0, machine="16 x new")))
        self.assertEqual(code, 0, text)

    def test_runs_of_several_machines_are_refused(self):
        files = [self.run_file(row(2.0, machine="2 x old")), self.run_file(row(2.0, "event_query", machine="2 x new"))]
        code, text = self.gate("--update", *files)
        self.assertEqual(code, 2, text)
        self.assertIn("several machines: 2 x new; 2 x old", text)

    def test_a_machine_that_was_not_free_is_not_compared(self):
        self.update(row(8.0, limit=80))
        self.assertIn("OTHER", self.passes(row(20.0, limit=370)))

    def test_ratios_to_different_limits_are_not_compared(self):
        self.update(row(3.0))
        self.assertIn("the limit was cache-line ping-pong and is two cache lines now",
                      self.passes(row(9.0, limit_name="two cache lines")))
        self.fails("BEHIND", row(9.0))

    def test_limit_of_our_own_making_excuses_nothing(self):
        self.update(row(1.0, better="higher", limit=8e6, limit_name="fewer threads"))
        self.fails("BEHIND", row(0.5, better="higher", limit=2e6, limit_name="fewer threads"))

    def test_good_side_of_a_floor_is_unchanged(self):
        entries = self.update(row(0.0, limit=0.1, limit_name="allowed"))
        self.assertEqual(entries[0]["floor"], 1.0)
        self.passes(row(0.9, limit=0.1, limit_name="allowed"))
        self.fails("BEHIND", row(1.1, limit=0.1, limit_name="allowed"))

    def test_margin_follows_the_spread_and_stays(self):
        self.assertEqual(self.update(row(2.0, spread=0.4))[0]["margin"], 0.6)
        self.assertEqual(self.update(row(1.0, spread=0.0))[0]["margin"], 0.6)

    def test_margins_from_two_runs(self):
        self.update(row(2.0, spread=0.6), row(3.0, metric="event_query", spread=0.6))
        first = self.run_file(row(2.0, spread=0.9), row(3.0, metric="event_query"))
        second = self.run_file(row(2.4, spread=0.9), row(3.0, metric="event_query"), row(1.0, metric="new"))
        code, text = self.gate("--update", "--margins", first, second)
        self.assertEqual(code, 0, text)
        margins = {one["metric"]: one["margin"] for one in self.rows()}
        self.assertEqual(margins, {"stream_query": 0.27, "event_query": 0.15, "new": 0.3})
        for words in (("--update", "--margins", first), ("--margins", first, second)):
            code, text = self.gate(*words)
            self.assertEqual(code, 2)
            self.assertIn("two runs", text)

    def test_missing_row_fails_unless_partial(self):
        self.update(row(2.0), row(3.0, metric="event_query"))
        self.fails("MISSING", row(2.0))
        self.fails("MISSING", row(2.0), row(None, metric="event_query"))
        code, text = self.gate("--partial", self.run_file(row(2.0)))
        self.assertEqual(code, 0, text)

    def test_median_of_runs(self):
        self.update(row(2.0, spread=0.0))
        files = [self.run_file(row(ratio)) for ratio in (2.0, 2.1, 9.0)]
        self.assertEqual(self.gate(*files)[0], 0)

    def test_wrong_files_say_what_would_be_right(self):
        code, text = self.gate(self.run_file(row(1.0)))
        self.assertEqual(code, 2)
        self.assertIn("make one with --update", text)
        code, text = self.gate(self.run_file())
        self.assertEqual(code, 2)
        self.assertIn("--compare --json", text)
        self.assertEqual(self.gate("/nowhere.jsonl")[0], 2)
        self.baseline.write_text("[]")
        self.assertEqual(self.gate(self.run_file(row(1.0)))[0], 2)


if __name__ == "__main__":
    unittest.main()
