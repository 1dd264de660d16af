# SPDX-License-Identifier: Apache-2.0
"""hip-remote run --trace: the file is what trace viewers read, and adds up to what --stats counts.

usage: trace_test.py HIP_REMOTE STATS_CLIENT [--no-preload] [EXAMPLE]
"""
import collections
import json
import os
import socket
import subprocess
import sys
import tempfile
import unittest

HIP_REMOTE, CLIENT = sys.argv[1:3]
HIP_WORKER = os.path.join(os.path.dirname(HIP_REMOTE), "hip-worker")
PRELOAD = [word for word in sys.argv[3:] if word.startswith("-")]
EXAMPLES = [word for word in sys.argv[3:] if not word.startswith("-")]
TRANSPORTS = os.environ["TF_TEST_TRANSPORTS"].split(",")
WORKER_PIDS = 1_000_000_000  # and above: run_trace.cc
POST_NS = 50_000_000  # that a thread may lose its processor for, between a post and its note
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


CATEGORIES = {"X": ("call", "wait", "execution"), "i": ("post", "to device", "from device"), "s": ("request",),
              "f": ("request",)}
TRACKS = ("process_name", "thread_name")


def check_event(event):
    """The rules of the Trace Event Format for one event of the phases that we write."""
    for number in ("pid", "tid"):
        assert isinstance(event[number], int) and event[number] >= 0, event
    assert isinstance(event["name"], str) and event["name"], event
    if event["ph"] == "M":
        assert event["name"] in TRACKS and event["args"]["name"] and "ts" not in event, event
        return
    assert event["cat"] in CATEGORIES[event["ph"]] and event["ts"] > 0, event
    assert ("dur" in event) == (event["ph"] == "X") and event.get("dur", 0) >= 0, event
    assert ("s" in event) == (event["ph"] == "i") and event.get("s", "t") == "t", event
    assert ("id" in event) == (event["ph"] in "sf"), event
    assert event.get("bp") == ("e" if event["ph"] == "f" else None), event


def in_ns(event):
    """Begin and end. The format counts in microseconds."""
    begin = round(event["ts"] * 1000)
    return begin, begin + round(event.get("dur", 0) * 1000)


def check_nesting(slices):
    """Slices of a thread lie inside each other, or apart."""
    open_until = []
    for begin, end in sorted(slices, key=lambda one: (one[0], -one[1])):
        while open_until and open_until[-1] <= begin:
            open_until.pop()
        assert not open_until or end <= open_until[-1], (begin, end, open_until)
        open_until.append(end)


def check_arrows(trace, tracks):
    """Each arrow has two ends, and each end a slice to which a viewer can tie it: from a call to an execution."""
    arrows = collections.defaultdict(dict)
    for event in trace["traceEvents"]:
        if event["ph"] in "sf":
            assert event["ph"] not in arrows[event["id"]], event
            arrows[event["id"]][event["ph"]] = event
    executions = {(one["pid"], one["tid"], one["ts"]) for one in trace["traceEvents"] if one.get("cat") == "execution"}
    for ends in arrows.values():
        assert set(ends) == {"s", "f"}, ends
        begin, _ = in_ns(ends["s"])
        track = tracks[ends["s"]["pid"], ends["s"]["tid"]]
        assert any(first <= begin <= last for first, last in track), ends
        assert (ends["f"]["pid"], ends["f"]["tid"], ends["f"]["ts"]) in executions, ends
    return arrows


def check_format(trace):
    assert set(trace) == {"displayTimeUnit", "traceEvents", "otherData"}, set(trace)
    assert trace["displayTimeUnit"] in ("ms", "ns")
    tracks, named = collections.defaultdict(list), set()
    for event in trace["traceEvents"]:
        check_event(event)
        if event["ph"] == "M" and event["name"] == "process_name":
            named.add(event["pid"])
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(in_ns(event))
    assert {pid for pid, _ in tracks} <= named
    for slices in tracks.values():
        check_nesting(slices)
    check_arrows(trace, tracks)


def of_category(trace, category):
    return [event for event in trace["traceEvents"] if event.get("cat") == category]


def processes(trace):
    """The programs', as opposed to the devices of their workers."""
    return [event["args"]["name"] for event in trace["traceEvents"]
            if event["ph"] == "M" and event["name"] == "process_name" and event["pid"] < WORKER_PIDS]


def totals(trace):
    """What --stats counts, by function, of a trace."""
    functions = collections.defaultdict(lambda: {"calls": 0, "posts": 0, "waits": collections.Counter(),
                                                 "waited_ns": collections.Counter()})
    copies = {"to device": [0, 0], "from device": [0, 0]}
    for event in trace["traceEvents"]:
        if event["ph"] in "Msf" or event["cat"] == "execution":
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
            self.assertEqual(processes(trace), ["stats_client"])
            self.check_worker(trace, 5)
            operations = collections.Counter(one["args"]["operation"] for one in of_category(trace, "execution"))
            self.assertEqual(operations["Fill"], 5)
            if transport == "tcp":
                self.assertEqual((operations["CopyToDevice"], operations["CopyFromDevice"]), (2, 1))

    def check_worker(self, trace, executions_least):
        """Each execution is a request's that the program has posted, after the post and before the program's end."""
        (worker,) = trace["otherData"]["workers"]
        self.assertEqual(worker["clock_ahead_ns"], 0)  # it is on this host
        self.assertIn(worker["clock_error_ns"], range(1, 100_000_000))
        self.assertEqual(trace["otherData"]["executions_left_out"], 0)
        posts = {one["args"]["request"]: in_ns(one)[0] for one in of_category(trace, "post")}
        last = max(in_ns(one)[1] for one in of_category(trace, "call"))
        executions = of_category(trace, "execution")
        self.assertGreaterEqual(len(executions), executions_least)
        self.assertEqual(len({one["args"]["request"] for one in executions}), len(executions))
        for one in executions:
            begin, end = in_ns(one)
            # A post is noted when its message is on its way.
            self.assertGreater(begin + worker["clock_error_ns"] + POST_NS, posts[one["args"]["request"]], one)
            self.assertLess(end - worker["clock_error_ns"], last + 1_000_000_000, one)

    def test_a_worker_whose_clock_shows_another_time(self):
        ahead_s = 86400
        apart = ["unshare", "--user", "--map-root-user", "--time", "--monotonic", str(ahead_s), "--fork",
                 "--kill-child"]
        if subprocess.run([*apart, "true"], capture_output=True, check=False).returncode != 0:
            self.skipTest("no time namespace can be made here")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TF_")}
        with tempfile.TemporaryDirectory() as directory, socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port = str(probe.getsockname()[1])
            probe.close()
            trace = os.path.join(directory, "trace.json")
            worker = subprocess.Popen([*apart, HIP_WORKER, "--runtime", "cpu", "--port", port],
                                      env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                      stderr=subprocess.PIPE, text=True)
            try:
                for line in worker.stderr:
                    if port in line:
                        break
                subprocess.run([HIP_REMOTE, "run", "--worker", f"127.0.0.1:{port}", "--transport", "tcp", *PRELOAD,
                                "--trace", trace, "--", CLIENT, "calls"], env=environment, check=True, timeout=60)
            finally:
                worker.kill()  # and unshare kills it
                worker.communicate(timeout=30)
            with open(trace, encoding="utf-8") as file:
                self.check_moved(json.load(file), ahead_s * 1_000_000_000)

    def check_moved(self, trace, ahead_ns):
        check_format(trace)
        (worker,) = trace["otherData"]["workers"]
        self.assertAlmostEqual(worker["clock_ahead_ns"], ahead_ns, delta=worker["clock_error_ns"])
        begin = min(in_ns(one)[0] for one in of_category(trace, "call"))
        end = max(in_ns(one)[1] for one in of_category(trace, "call"))
        fills = [one for one in of_category(trace, "execution") if one["args"]["operation"] == "Fill"]
        self.assertEqual(len(fills), 5)
        for one in fills:
            self.assertGreater(in_ns(one)[0], begin)
            self.assertLess(in_ns(one)[1], end + worker["clock_error_ns"])

    def test_threads_have_tracks_of_their_own(self):
        trace, stats = traced("shm", CLIENT, "threads")
        self.check(trace, stats)
        tracks = {event["tid"] for event in trace["traceEvents"] if event.get("cat") == "call"}
        self.assertGreater(len(tracks), 2)

    def test_processes_and_their_ends(self):
        for mode, count, code in (("fork", 2, 0), ("exec", 2, 0), ("abandoned", 1, 128 + 9), ("leave", 1, 0)):
            with self.subTest(mode):
                trace, stats = traced("shm", CLIENT, mode, code=code)
                self.check_ended(trace, stats, count)

    def check_ended(self, trace, stats, count):
        check_format(trace)
        # A program that another one has become in the same process has a trace of its own.
        self.assertEqual(len(processes(trace)), count)
        functions, _ = totals(trace)
        query = "hipDeviceGetSharedMemConfig"
        self.assertEqual(functions[query]["calls"], stats["functions"][query]["calls"])

    @unittest.skipUnless(EXAMPLES, "the examples were not built")
    def test_an_example_adds_up(self):
        for transport in TRANSPORTS:
            trace, stats = traced(transport, EXAMPLES[0])
            self.check(trace, stats)
            self.check_worker(trace, 1)
            executions = of_category(trace, "execution")
            kernels = [one for one in executions if one["args"]["operation"] == "Launch"]
            launches = {name for name in stats["functions"] if name.endswith("LaunchKernel")}
            self.assertEqual(len(kernels), sum(stats["functions"][name]["calls"] for name in launches))
            self.assertNotIn("Launch", {one["name"] for one in kernels})  # they have names
            # Arrows lead from the calls that launched them.
            launching = {one["args"]["request"] for one in of_category(trace, "post")
                         if one["args"]["function"] in launches}
            self.assertLessEqual({one["args"]["request"] for one in kernels}, launching)

    def test_without_stats_and_without_hip(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "trace.json")
            for program, count in (([CLIENT, "leave"], 1), (["true"], 0)):
                subprocess.run([HIP_REMOTE, "run", "--local", "--runtime", "cpu", *PRELOAD, "--trace", path, "--",
                                *program], check=True, timeout=60, capture_output=True)
                with open(path, encoding="utf-8") as file:
                    trace = json.load(file)
                check_format(trace)
                self.assertEqual(len(processes(trace)), count)

    def test_a_file_that_cannot_be_written(self):
        ran = subprocess.run([HIP_REMOTE, "run", "--local", "--runtime", "cpu", "--trace", "/nonexistent/trace", "--",
                              "true"], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(ran.returncode, 125)
        self.assertIn("--trace /nonexistent/trace", ran.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
