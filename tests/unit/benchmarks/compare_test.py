#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""benchmarks/compare: which figures become which lines, and when a target holds."""
import pathlib
import sys
import types
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "benchmarks"))

from compare import conduct, figures, keyed, rows  # noqa: E402
from harness import ours  # noqa: E402
from harness.processes import Unavailable  # noqa: E402
from peers import measure, peer  # noqa: E402


def run_row(bench, transport, metric, size, value, limit, name="memcpy"):
    return {"bench": bench, "transport": transport, "metric": metric, "bytes": size, "value": value, "limit": limit,
            "limit_name": name}


def peer_row(name, transport, metric, size, value):
    return {"peer": name, "transport": transport, "metric": metric, "bytes": size, "value": value}


class Targets(unittest.TestCase):
    def test_ratio(self):
        self.assertTrue(rows.holds(rows.at_most(1.6), 100, 1.6, {}))
        self.assertFalse(rows.holds(rows.at_most(1.6), 100, 1.7, {}))
        self.assertTrue(rows.holds(rows.at_least(0.95), 1, 0.95, {}))
        self.assertFalse(rows.holds(rows.at_least(0.95), 1, None, {}))

    def test_value_and_peers(self):
        target = rows.Target(rows.HIGHER, value=25e6, ahead=True)
        self.assertTrue(rows.holds(target, 26e6, None, {"UCX": 11e6}))
        self.assertFalse(rows.holds(target, 26e6, None, {"UCX": 27e6}))
        self.assertFalse(rows.holds(target, 24e6, None, {}))

    def test_either_is_enough(self):
        target = rows.Target(rows.HIGHER, ratio=0.98, value=8e6, either=True)
        self.assertTrue(rows.holds(target, 9e6, 0.5, {}))
        self.assertTrue(rows.holds(target, 3e6, 0.98, {}))
        self.assertFalse(rows.holds(target, 3e6, 0.9, {}))
        self.assertFalse(rows.holds(target, 3e6, None, {}))
        self.assertEqual(rows.text(target), "ratio >= 0.98 or value >= 8 million")

    def test_reported_rows_hold_nothing(self):
        self.assertIsNone(rows.holds(rows.REPORTED_LOW, 5, None, {"UCX": 1}))
        self.assertEqual(rows.text(rows.REPORTED_LOW), "reported")

    def test_every_row_of_the_table_is_there(self):
        names = {spec.row for spec in rows.all_specs()}
        self.assertEqual(len(names), 10)
        for spec in rows.all_specs():
            self.assertIn(spec.limit, figures.LIMITS)


class Runs(unittest.TestCase):
    """hip_bench prints the rows only whose names start as it was told."""

    def test_every_figure_of_hip_bench_is_asked_for(self):
        options = types.SimpleNamespace(only="", transports=("shm", "tcp"))
        run = conduct.Run(None, options, None)
        for spec in run.specs:
            if spec.bench == "hip_bench":
                asked = [name for group in run.groups(spec.transport) for name in group.split(",")]
                self.assertTrue(any(spec.metric.startswith(name) for name in asked), spec.metric)

    def test_every_copy_with_keys_is_asked_for(self):
        for groups in keyed.GROUPS.values():
            asked = [name for group in groups for name in group[0].split(",")]
            for metric, _ in keyed.COPIES:
                self.assertTrue(any(metric.startswith(name) for name in asked), metric)


class Keys(unittest.TestCase):
    """Figures of two turns: each level is compared with what was in clear in its own turn."""

    @staticmethod
    def figures(call, launches, rate):
        return {keyed.CALL: call, keyed.LAUNCH: launches, **{key: rate for key in keyed.COPIES}}

    def lines(self, reasons=None, placement="pinned", **more):
        def turns(where):
            made = original(where)
            made.found = {"clear": [self.figures(10_000, 4e5, 4.0), self.figures(90_000, 1e5, 0.8)],
                          "encrypt": [self.figures(11_000, 3e5, 1.8), self.figures(91_500, 0.9e5, 0.4)], **more}
            made.reasons, made.aead = reasons or {}, [2.0, 1.0]
            return made
        original = keyed.Turns
        with unittest.mock.patch.object(keyed, "Turns", turns):
            found = list(keyed.lines(None, 0, True, None))
        return {line["metric"]: line for line in found if line["placement"] == placement}

    def test_a_call_is_longer_by_what_it_is_longer_in_its_turn(self):
        line = self.lines()["sync_call_added_encrypt"]
        self.assertEqual((line["value"], line["holds"]), (1250, True))

    def test_copies_are_compared_with_the_slower_of_encryption_and_lane(self):
        for placement in ("pinned", "unpinned"):
            line = self.lines(placement=placement)["h2d_pinned_encrypt"]
            self.assertEqual((line["limit_name"], line["ratio"], line["holds"]), (keyed.SLOWER, 0.7, False))

    def test_only_encrypted_copies_are_measured_unpinned(self):
        self.assertEqual(set(self.lines(placement="unpinned")), {"h2d_pinned_encrypt", "d2h_pinned_encrypt"})

    def test_launches_are_compared_with_those_in_clear(self):
        self.assertEqual(self.lines()["launch_drained_encrypt"]["ratio"], (3 / 4 + 9 / 10) / 2)

    def test_a_tunnel_that_is_faster_is_a_peer_that_is_ahead(self):
        faster = {"stunnel": [self.figures(10_500, 3.5e5, 1.9)]}
        lines = self.lines(**faster)
        self.assertEqual(lines["sync_call_added_encrypt"]["peers"], {"stunnel": 500})
        self.assertFalse(lines["launch_drained_encrypt"]["holds"])

    def test_what_did_not_run_says_why(self):
        line = self.lines({"auth": "no OpenSSL"})["sync_call_added_auth"]
        self.assertEqual((line["value"], line["why"]), (None, "no OpenSSL"))


class Rest(unittest.TestCase):
    def looks(self, used):
        """(what rest() returns, how often it looked) for a worker that has used so many seconds at each look."""
        seen = []
        worker = types.SimpleNamespace(cpu_seconds=lambda: (seen.append(0), used(len(seen)))[1])
        with unittest.mock.patch.object(ours.time, "sleep"):
            return ours.Worker.rest(worker), len(seen)

    def test_a_worker_that_frees_a_sessions_memory_is_waited_for(self):
        self.assertEqual(self.looks(lambda look: min(look, 4) / 10), (0.4, 5))
        self.assertEqual(self.looks(lambda look: 2.0), (2.0, 2))

    def test_but_not_for_ever(self):
        self.assertEqual(self.looks(float)[1], ours.REST_LOOKS + 1)

    def test_hip_bench_waits_before_it_connects(self):
        order = []
        worker = types.SimpleNamespace(rest=lambda: order.append("rest"), environment=lambda transport: {})
        programs = types.SimpleNamespace(path=str, lib=pathlib.Path("lib"))
        with unittest.mock.patch.object(ours, "run", lambda *words: (order.append("run"), ("", None))[1]):
            ours.hip_bench(programs, "tcp", types.SimpleNamespace(client={0}), worker)
        self.assertEqual(order, ["rest", "run"])


class Network(unittest.TestCase):
    def run_without_namespace(self, no_peers):
        said = []
        options = types.SimpleNamespace(only="shm sync", transports=["shm"], turns=1, quick=True, no_install=True,
                                        no_peers=no_peers)
        peers = lambda programs, placement, wanted, say, private_network: (private_network(), ([], []))[1]
        with unittest.mock.patch.object(conduct.network, "enter_private_network", return_value="no namespace"), \
                unittest.mock.patch.object(conduct.peers_measure, "compare", peers), \
                unittest.mock.patch.multiple(conduct.Run, transports=unittest.mock.DEFAULT,
                                             hip_calls=unittest.mock.DEFAULT, watched=lambda self: ()):
            list(conduct.everything(None, options, said.append))
        return said

    def test_peers_do_not_run_on_the_loopback_that_others_share(self):
        with self.assertRaisesRegex(Unavailable, "every interface.*--no-peers"):
            self.run_without_namespace(no_peers=False)

    def test_our_own_programs_do(self):
        self.assertIn("loopback of this machine", self.run_without_namespace(no_peers=True)[0])


class Lines(unittest.TestCase):
    def setUp(self):
        self.figures = figures.Figures()

    def line(self, transport, metric, size, placement="pinned"):
        lines = figures.lines_of(self.figures, {}, ["shm", "tcp"])
        return next(one for one in lines if (one["transport"], one["metric"], one["bytes"], one["placement"])
                    == (transport, metric, size, placement))

    def test_what_was_not_run_says_so_and_has_no_number(self):
        line = self.line("shm", "stream_query", 0)
        self.assertIsNone(line["value"])
        self.assertIsNone(line["holds"])
        self.assertTrue(line["why"])

    def test_median_of_ratios_within_runs(self):
        for value, limit in ((100, 50), (300, 100), (90, 90)):
            self.figures.add([run_row("hip_bench", "shm", "stream_query", 0, value, limit)], "pinned")
        line = self.line("shm", "stream_query", 0)
        self.assertEqual((line["value"], line["limit"], line["ratio"]), (100, 90, 2.0))
        self.assertAlmostEqual(line["spread"], 1.0)

    def test_native_run_is_the_limit_of_posted_calls(self):
        self.figures.add([run_row("hip_bench", "native", "launch_caller", 0, 100, None)], "pinned")
        self.figures.add([run_row("hip_bench", "shm", "launch_caller", 0, 50, None)], "pinned")
        line = self.line("shm", "launch_caller", 0)
        self.assertEqual((line["limit_name"], line["ratio"]), ("native runtime", 0.5))

    def test_a_target_of_near_cores_is_none_where_lines_are_slow(self):
        self.figures.add([run_row("hip_bench", "shm", "launch_caller", 0, 50, None)], "pinned")
        line = self.line("shm", "launch_caller", 0)
        self.assertEqual((line["holds"], line["note"][-21:]), (None, "that was not measured"))
        self.figures.add([run_row("transport_bench", "raw", "round_trip", 64, 119, 60)], "pinned")
        self.assertTrue(self.line("shm", "launch_caller", 0)["holds"])
        self.figures.add([run_row("transport_bench", "raw", "round_trip", 64, 200, 60)], "pinned")
        line = self.line("shm", "launch_caller", 0)
        self.assertEqual((line["holds"], line["note"]),
                         (None, "value <= 60 where two lines cost under 120 ns; here they cost 160"))

    def test_a_round_trip_stands_beside_two_lines_of_its_own_run(self):
        for trip, lines in ((200, 160), (300, 300), (130, 100)):
            self.figures.add([run_row("transport_bench", "raw", "round_trip", 64, lines, 70),
                              run_row("transport_bench", "shm", "round_trip", 64, trip, 70)], "pinned")
        line = self.line("shm", "round_trip", 64)
        self.assertEqual((line["value"], line["limit"], line["ratio"], line["holds"]), (200, 160, 1.25, True))
        self.figures.add([run_row("transport_bench", "tcp", "round_trip", 64, 11, 10, "raw TCP ping-pong")], "pinned")
        self.assertEqual(self.line("tcp", "round_trip", 64)["ratio"], 1.1)

    def test_small_copy_is_a_time_beside_trip_and_memcpy(self):
        self.figures.add([run_row("hip_bench", "shm", "sync_call", 0, 600, 100),
                          run_row("hip_bench", "shm", "h2d_pinned", 4096, 4.096, 40.96)], "pinned")
        line = self.line("shm", "h2d_pinned", 4096)
        self.assertAlmostEqual(line["value"], 1000)
        self.assertAlmostEqual(line["limit"], 200)
        self.assertAlmostEqual(line["ratio"], 5)

    def test_a_sender_that_copies_is_the_limit_of_tcp_and_iperf3_is_shown(self):
        self.figures.add([run_row("hip_bench", "tcp", "h2d_pinned", rows.MIB, 4.8, 5, "raw TCP stream")], "pinned")
        self.figures.peer_rows = [peer_row("iperf3", "tcp", "bulk", rows.MIB, 8)]
        line = self.line("tcp", "h2d_pinned", rows.MIB)
        self.assertEqual((line["limit"], line["limit_name"], line["holds"]), (5, "raw TCP stream", True))
        self.assertEqual(line["peers"], {"iperf3": 8})

    def test_peers_are_shown_where_they_measure_the_same(self):
        self.figures.add([run_row("transport_bench", "shm", "posted", 64, 30e6, 60e6)], "pinned")
        self.figures.peer_rows = [peer_row("UCX", "shm", "one_way", 64, 11e6), peer_row("X", "tcp", "one_way", 64, 1)]
        line = self.line("shm", "posted", 64)
        self.assertEqual((line["peers"], line["holds"]), ({"UCX": 11e6}, True))


class Selection(unittest.TestCase):
    def run_of(self, only):
        return conduct.Run(None, types.SimpleNamespace(only=only, transports=["shm", "tcp"]), print)

    def test_only_what_the_rows_need_is_run(self):
        self.assertEqual(self.run_of("shm synchronous").groups("shm"), ["event", "stream", "sync"])
        self.assertEqual(self.run_of("shm synchronous").groups("tcp"), [])
        self.assertEqual(self.run_of("shm small").groups("shm"), ["h2d,d2h", "sync"])
        self.assertEqual(self.run_of("").groups("shm"), ["event", "h2d,d2h", "launch", "memset", "stream", "sync"])

    def test_peers_run_where_a_row_shows_them(self):
        self.assertFalse(self.run_of("idle").needs_peers())
        self.assertTrue(self.run_of("processor").needs_peers())
        self.assertTrue(self.run_of("shm posted").needs_peers())


class Leads(unittest.TestCase):
    def test_above_one_is_ahead(self):
        self.assertEqual(measure.lead(peer.ROUND_TRIP, 100, 200), 2)
        self.assertEqual(measure.lead(peer.ONE_WAY, 100, 200), 0.5)


if __name__ == "__main__":
    unittest.main()
