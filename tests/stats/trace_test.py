# SPDX-License-Identifier: Apache-2.0
"""hip-remote run --trace: the file is what trace viewers read, and adds up to what --stats counts.

usage: trace_test.py HIP_REMOTE STATS_CLIENT [--no-preload] [EXAMPLE]
"""
import collections
import json
import os
import subprocess
import sys
import tempfile
import unittest

HIP_REMOTE, CLIENT = sys.argv[1:3]
PRELOAD = [word for word in sys.argv[3:] if word.startswith("-")]
EXAMPLES = [word for word in sys.argv[3:] if not word.startswith("-")]
TRANSPORTS = os.environ["TF_TEST_TRANSPORTS"].split(",")
OUTSIDE = "(outside of calls)"
WAITS = {"wait: reply": "reply", "wait: payload": "payload", "wait: shared word": "shared_word", "wait: room": "room",
         "wait: connection": "connection"}


def traced(transport, *program, code=0):
    """A run's trace and statistics, as they are in their files."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
    with tempfile.TemporaryDirectory() as directory:
        trace, stats = os.path.join(directory, "trace.json"), os.path.join(directory, "stats.json")
        command = [HIP_REMOTE, "run", "--local", "--runtime", "cpu", "--transport", transport, *PRELOAD,
                   "--trace", trace, f"--stats={stats}", "--", *program]
        done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=120, check=False)
        if done.returncode != code:
            raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}")
        with open(trace, encoding="utf-8") as one, open(stats, encoding="utf-8") as other:
            return json.load(one), json.load(other)


def check_format(trace):
    """The rules of the Trace Event Format for the phases that we write; slices of a thread lie inside each other."""
    slices = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int), event
        assert event["ph"] in ("M", "X", "i") and event["name"], event
        if event["ph"] == "M":
            assert event["name"] == "process_name" and event["args"]["name"], event
            continue
        assert event["ts"] > 0 and event["cat"] in ("call", "wait", "post", "to device", "from device"), event
        if event["ph"] == "i":
            assert event["s"] == "t" and "dur" not in event, event
        else:
            assert event["dur"] >= 0, event
            slices[event["pid"], event["tid"]].append((round(event["ts"] * 1000), round(event["dur"] * 1000)))
    for of_thread in slices.values():
        open_until = []
        for begin, length in sorted(of_thread, key=lambda one: (one[0], -one[1])):
            while open_until and open_until[-1] <= begin:
                open_until.pop()
            assert not open_until or begin + length <= open_until[-1], (begin, length, open_until)
            open_until.append(begin + length)


def totals(trace):
    """What --stats counts, by function, of a trace."""
    functions = collections.defaultdict(lambda: {"calls": 0, "posts": 0, "waits": collections.Counter(),
                                                 "waited_ns": collections.Counter()})
    copies = {"to device": [0, 0], "from device": [0, 0]}
    for event in trace["traceEvents"]:
        if event["ph"] == "M":
            continue
        if event["cat"] == "call":
            functions[event["name"]]["calls"] += 1
            continue
        of = functions[event["args"]["function"]]
        if event["cat"] == "post":
            of["posts"] += 1
        elif event["cat"] == "wait":
            of["waits"][WAITS[event["name"]]] += 1
            of["waited_ns"][WAITS[event["name"]]] += round(event["dur"] * 1000)
        else:
            copies[event["cat"]][0] += 1
            copies[event["cat"]][1] += event["args"]["bytes"]
    return functions, copies


class Traces(unittest.TestCase):
    def check(self, trace, stats):
        check_format(trace)
        self.assertEqual(trace["otherData"]["events_left_out"], 0)
        self.assertEqual(trace["otherData"]["processes_left_out"], 0)
        functions, copies = totals(trace)
        self.assertEqual(set(functions) - {OUTSIDE}, set(stats["functions"]) - {OUTSIDE})
        for name, counted in stats["functions"].items():
            with self.subTest(name):
                seen = functions[name]
                self.assertEqual((seen["calls"], seen["posts"]), (counted["calls"], counted["posts"]))
                self.assertEqual(dict(seen["waits"]), {kind: wait["count"] for kind, wait in counted["waits"].items()})
                for kind, wait in counted["waits"].items():  # each time in the trace is rounded, the sum is not
                    self.assertAlmostEqual(seen["waited_ns"][kind], wait["total_ns"], delta=wait["count"] + 1)
        for way, name in (("to device", "to_device"), ("from device", "from_device")):
            self.assertEqual(copies[way], [stats[name]["count"], stats[name]["bytes"]])

    def test_a_known_program(self):
        for transport in TRANSPORTS:
            trace, stats = traced(transport, CLIENT, "calls")
            self.check(trace, stats)
            calls = [event for event in trace["traceEvents"] if event["name"] == "hipDeviceGetSharedMemConfig"]
            self.assertEqual(len(calls), 7)
            names = {event["args"]["name"] for event in trace["traceEvents"] if event["ph"] == "M"}
            self.assertEqual(names, {"stats_client"})

    def test_threads_have_tracks_of_their_own(self):
        trace, stats = traced("shm", CLIENT, "threads")
        self.check(trace, stats)
        tracks = {event["tid"] for event in trace["traceEvents"] if event.get("cat") == "call"}
        self.assertGreater(len(tracks), 2)

    def test_processes_and_their_ends(self):
        for mode, processes, code in (("fork", 2, 0), ("exec", 2, 0), ("abandoned", 1, 128 + 9), ("leave", 1, 0)):
            with self.subTest(mode):
                trace, stats = traced("shm", CLIENT, mode, code=code)
                self.check_ended(trace, stats, processes)

    def check_ended(self, trace, stats, processes):
        check_format(trace)
        # A program that another one has become in the same process has a trace of its own.
        self.assertEqual(sum(event["ph"] == "M" for event in trace["traceEvents"]), processes)
        functions, _ = totals(trace)
        query = "hipDeviceGetSharedMemConfig"
        self.assertEqual(functions[query]["calls"], stats["functions"][query]["calls"])

    @unittest.skipUnless(EXAMPLES, "the examples were not built")
    def test_an_example_adds_up(self):
        for transport in TRANSPORTS:
            self.check(*traced(transport, EXAMPLES[0]))

    def test_without_stats_and_without_hip(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "trace.json")
            for program, processes in (([CLIENT, "leave"], 1), (["true"], 0)):
                subprocess.run([HIP_REMOTE, "run", "--local", "--runtime", "cpu", *PRELOAD, "--trace", path, "--",
                                *program], check=True, timeout=60, capture_output=True)
                with open(path, encoding="utf-8") as file:
                    trace = json.load(file)
                check_format(trace)
                self.assertEqual(len({event["pid"] for event in trace["traceEvents"]}), processes)

    def test_a_file_that_cannot_be_written(self):
        ran = subprocess.run([HIP_REMOTE, "run", "--local", "--runtime", "cpu", "--trace", "/nonexistent/trace", "--",
                              "true"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(ran.returncode, 125)
        self.assertIn("--trace /nonexistent/trace", ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
