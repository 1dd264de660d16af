# SPDX-License-Identifier: Apache-2.0
"""hip-remote run --stats: a program whose calls are known, over each transport, ended in every way.

usage: stats_test.py HIP_REMOTE STATS_CLIENT [--no-preload]
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

HIP_REMOTE, CLIENT = sys.argv[1:3]
PRELOAD = sys.argv[3:]
TRANSPORTS = os.environ["TF_TEST_TRANSPORTS"].split(",")
MIB = 1 << 20


def run(transport, *program, stats, code=0, **variables):
    """What came to standard error of one run under hip-remote."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("TF_")} | variables
    command = [HIP_REMOTE, "run", "--local", "--runtime", "cpu", "--transport", transport, *PRELOAD, stats, "--",
               *program]
    done = subprocess.run(command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=60)
    if done.returncode != code:
        raise AssertionError(f"{command} ended with {done.returncode}: {done.stderr}")
    if done.stdout:
        raise AssertionError(f"on standard output: {done.stdout}")
    return done.stderr


def counted(transport, *program, code=0, **variables):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "stats.json")
        run(transport, *program, stats=f"--stats={path}", code=code, **variables)
        with open(path, encoding="utf-8") as file:
            return json.load(file)


class Counts(unittest.TestCase):
    def test_known_program(self):
        for transport in TRANSPORTS:
            with self.subTest(transport):
                self.check_known(counted(transport, CLIENT, "calls"), transport)

    def check_known(self, stats, transport):
        functions = stats["functions"]
        query = functions["hipDeviceGetSharedMemConfig"]
        self.assertEqual((query["calls"], query["local"], query["posts"], query["round_trips"]), (7, 0, 0, 7))
        self.assertEqual(query["waits"].keys(), {"reply"})
        waited = query["waits"]["reply"]
        self.assertGreater(waited["total_ns"], 0)
        self.assertLessEqual(waited["longest_ns"], waited["total_ns"])
        self.assertAlmostEqual(waited["mean_ns"], waited["total_ns"] / 7, delta=waited["total_ns"] / 1000)
        device = functions["hipGetDevice"]
        self.assertEqual((device["calls"], device["local"], device["round_trips"]), (3, 3, 0))
        fill = functions["hipMemsetAsync"]
        self.assertEqual((fill["calls"], fill["local"], fill["posts"], fill["round_trips"]), (5, 0, 5, 0))
        self.assertEqual(functions["hipDeviceSynchronize"]["round_trips"], 1)
        self.assertEqual(functions["hipMalloc"]["waits"]["connection"]["count"], 1)
        self.assertEqual(functions["hipMemcpy"]["calls"], 3)
        self.assertEqual(stats["to_device"], {"count": 2, "bytes": 2 * MIB})
        self.assertEqual(stats["from_device"], {"count": 1, "bytes": MIB})
        self.assertEqual(stats["round_trips"], sum(each["round_trips"] for each in functions.values()))
        self.assertEqual(len(stats["processes"]), 1)
        process = stats["processes"][0]
        self.assertEqual((process["program"], process["transport"]), ("stats_client", transport))
        self.assertTrue(process["ended"])
        self.assertFalse(process["lost"])
        self.assertLessEqual(process["wall_s"], stats["wall_s"])

    def test_payload_over_tcp_is_waited_for(self):
        copies = counted("tcp", CLIENT, "calls")["functions"]["hipMemcpy"]
        self.assertGreaterEqual(copies["waits"]["payload"]["count"], 1)

    def test_small_copies_over_shm_have_buffers(self):
        """Where the device's memory is not mapped, and the stream stands still."""
        copies = counted("shm", CLIENT, "small", TF_TEST_TAKE_WINDOW="1")["functions"]["hipMemcpyAsync"]
        self.assertEqual(copies["calls"], 20)
        self.assertNotIn("payload", copies["waits"])

    def test_threads_add_up(self):
        for transport in TRANSPORTS:
            query = counted(transport, CLIENT, "threads")["functions"]["hipDeviceGetSharedMemConfig"]
            self.assertEqual((query["calls"], query["waits"]["reply"]["count"]), (200, query["round_trips"]))
            self.assertEqual(query["round_trips"], 200)


class Ends(unittest.TestCase):
    def check_ends(self, mode, queries, ended, code=0):
        """`queries`: of each process, in the order of their starts."""
        for transport in TRANSPORTS:
            with self.subTest(transport):
                stats = counted(transport, CLIENT, mode, code=code)
                self.assertEqual(stats["functions"]["hipDeviceGetSharedMemConfig"]["calls"], queries)
                self.assertEqual([process["ended"] for process in stats["processes"]], ended)

    def test_without_destructors(self):
        self.check_ends("leave", 6, [False])

    def test_killed(self):
        self.check_ends("abandoned", 6, [False], code=128 + 9)

    def test_fork(self):
        self.check_ends("fork", 4 + 2, [True, True])

    def test_exec(self):
        self.check_ends("exec", 3 + 6, [False, False])

    def test_children_of_a_shell(self):
        stats = counted("shm", "sh", "-c", f"{CLIENT} leave; {CLIENT} calls")
        self.assertEqual(stats["functions"]["hipDeviceGetSharedMemConfig"]["calls"], 6 + 7)
        self.assertEqual(len(stats["processes"]), 2)  # the shell calls no HIP


class Telling(unittest.TestCase):
    def test_table(self):
        for transport in TRANSPORTS:
            text = run(transport, CLIENT, "calls", stats="--stats")
            rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if line.strip()}
            self.assertEqual(rows["hipDeviceGetSharedMemConfig"][:5], ["7", "0", "0", "7", "reply"], text)
            self.assertEqual(rows["hipGetDevice"][:4], ["3", "3", "0", "-"], text)
            self.assertIn("copied to the device 2.0 MiB in 2 copies, from the device 1.0 MiB in 1", text)

    def test_no_hip_at_all(self):
        self.assertIn("nothing was counted", run("shm", "true", stats="--stats"))
        self.assertEqual(counted("shm", "true")["processes"], [])

    def test_a_file_that_cannot_be_written(self):
        text = run("shm", "true", stats="--stats=/nonexistent/stats.json", code=125)
        self.assertIn("/nonexistent/stats.json", text)


class Distance(unittest.TestCase):
    """TF_SHAPE, seen by what the calls wait for."""

    def test_every_round_trip_takes_its_time(self):
        for transport in TRANSPORTS:
            with self.subTest(transport):
                stats = counted(transport, CLIENT, "calls", TF_SHAPE="rtt=20ms,rate=1Gbit")
                query = stats["functions"]["hipDeviceGetSharedMemConfig"]["waits"]["reply"]
                self.assertEqual(query["count"], 7)
                self.assertGreaterEqual(query["mean_ns"], 20e6)
                # 3 MiB at a gigabit a second, and two waits for payload at least; nothing shared to look at.
                copies = stats["functions"]["hipMemcpy"]
                self.assertNotIn("shared_word", copies["waits"])
                self.assertGreaterEqual(copies["waited_ns"], 3 * MIB * 8)

    def test_a_wrong_shape_says_what_is_possible(self):
        text = run("shm", CLIENT, "calls", stats="--stats", code=2, TF_SHAPE="rtt=far")
        self.assertIn("TF_SHAPE", text)
        self.assertIn("rtt=100us,rate=10Gbit", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
