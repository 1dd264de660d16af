# SPDX-License-Identifier: Apache-2.0
"""One lane of a tcp session that is lost, changed on its way, or silent: the session ends, once, with its reason."""
import os
import socket
import time

from between import ALWAYS, Between, Flip, PAYLOAD, TO_CLIENT, TO_WORKER
from harness import DEINITIALIZED, FaultTest, MIB, SLOWER, Worker, eventually, main

TIMEOUT_S = 3
AT_ONCE_S = 1.5
NOTICE_S = TIMEOUT_S + 2  # the last probe may leave late, and the machine may be slow
ARRIVAL_S = TIMEOUT_S + 3 * TIMEOUT_S / 4 + 1  # a report and two looks more, each a quarter of the time
ROUND_BYTES = 1 * MIB
FIELDS = {"message": (0, 4, 6, 8, 11, 12, 16, 20), "bulk": (0, 7, 8, 10, 12, 16, 20, 24)}
PIECE_FIELDS = (0, 7, 8, 13, 16, 18, 20, 24)
ROUNDS = (("rounds", ROUND_BYTES), "round")
COPIES = ((("copy-in", 32 * MIB), "copying"), (("copy-out", 32 * MIB), "copying"))


class LaneTest(FaultTest):
    def setUp(self):
        before = os.environ.get("TF_IO_TIMEOUT")
        os.environ["TF_IO_TIMEOUT"] = str(TIMEOUT_S)  # the worker's

        def restore():
            os.environ.pop("TF_IO_TIMEOUT")
            if before is not None:
                os.environ["TF_IO_TIMEOUT"] = before
        self.addCleanup(restore)

    def client(self, worker, between, *arguments, **changes):
        return worker.client("tcp", *arguments, TF_WORKER_PORT=str(between.port), TF_IO_TIMEOUT=str(TIMEOUT_S),
                             **changes)

    def strike(self, scenario, until, how, within, session_within=AT_ONCE_S, **changes):
        """`how(between)` while the scenario runs. Returns what the client told and the worker's log."""
        with Worker() as worker, Between(worker.port) as between:
            self.assertTrue(eventually(worker.idle, 10), worker.children())
            before = worker.children()
            with self.client(worker, between, *scenario, **changes) as client:
                client.expect(until, 30)
                session = self.session_of(worker, before)
                how(between)
                if until == "holding":
                    time.sleep(within)
                    client.poke()
                self.expect_loss(client, within)
                told = client.errors()
            self.expect_ends(session, session_within + 3)  # and what calls of the runtime may take
            self.expect_served(worker)
            return "\n".join(told), worker.log()


class OneLane(LaneTest):
    def test_closed_alone(self):
        for lane in ALWAYS:
            for scenario, until in (ROUNDS, *COPIES, (("hold", MIB), "holding")):
                with self.subTest(f"{lane} {scenario[0]}"):
                    self.strike(scenario, until, lambda between, lane=lane: between.close(lane), AT_ONCE_S)

    def test_cut_alone(self):
        """The network carries one connection no longer, and the others as before. Where it has something to send in
        both directions, no kernel tells that by itself."""
        for lane in FIELDS:
            for scenario, until in (ROUNDS, *COPIES):
                with self.subTest(f"{lane} {scenario[0]}"):
                    told, log = self.strike(scenario, until, lambda between, lane=lane: between.fall_silent(lane),
                                            ARRIVAL_S, ARRIVAL_S)
                    self.assertRegex(told + log, "lane have not arrived|timed out")

    def test_changed_on_its_way(self):
        for lane in FIELDS:
            for direction in (TO_WORKER, TO_CLIENT):
                for offset in FIELDS[lane]:
                    with self.subTest(f"{lane} {direction} byte {offset}"):
                        def flip(between, lane=lane, direction=direction, offset=offset):
                            between.flip = Flip(lane, direction, offset)

                        told, log = self.strike(("rounds", ROUND_BYTES), "round", flip, AT_ONCE_S)
                        self.assertRegex(told if direction == TO_CLIENT else log, "seal|magic")


class PayloadLane(LaneTest):
    """One of two, with the other going on as before."""

    def test_closed_alone(self):
        for scenario, until in (*COPIES, (("hold", MIB), "holding")):
            with self.subTest(scenario[0]):
                self.strike(scenario, until, lambda between: between.close(PAYLOAD[0]), AT_ONCE_S, TF_TCP_LANES="2")

    def test_cut_alone(self):
        for scenario, until in COPIES:
            with self.subTest(scenario[0]):
                told, log = self.strike(scenario, until, lambda between: between.fall_silent(PAYLOAD[0]), ARRIVAL_S,
                                        ARRIVAL_S, TF_TCP_LANES="2")
                self.assertRegex(told + log, "payload 1 lane have not arrived|timed out")

    def test_changed_on_its_way(self):
        for direction in (TO_WORKER, TO_CLIENT):
            for offset in PIECE_FIELDS:
                with self.subTest(f"{direction} byte {offset}"):
                    def flip(between, direction=direction, offset=offset):
                        between.flip = Flip(PAYLOAD[0], direction, offset)

                    told, log = self.strike(*ROUNDS, flip, AT_ONCE_S, TF_TCP_LANES="2")
                    self.assertRegex(told if direction == TO_CLIENT else log, "seal|magic")


class Rails(LaneTest):
    """Payload goes over two addresses of the worker, and one of them is lost: the session goes on."""

    def go_on(self, how, within, size=4 * MIB, **changes):
        with Worker() as worker, Between(worker.port) as between:
            rails = f"127.0.0.1:{between.port},127.0.0.1"
            with worker.client("tcp", "checked", size, TF_TCP_RAILS=rails, TF_IO_TIMEOUT=str(TIMEOUT_S),
                               **changes) as client:
                for _ in range(3):
                    client.expect("checked", 30)
                self.assertEqual(client.errors(), [])
                self.assertTrue(between.of_lanes([PAYLOAD[0]]))
                how(between)
                client.expect("checked", within + 5)
                for _ in range(20):
                    client.expect("checked", within + 5)
                self.assertTrue(eventually(client.errors, 5))
                told = client.errors()
                client.kill()
            self.expect_served(worker)
            self.assertEqual(len(told), 1, told)
            self.assertIn("payload 1 connection was lost, another one goes on", told[0])
            return told[0], worker.log()

    def test_closed(self):
        for engine in ("poll", "uring"):
            with self.subTest(engine):
                self.go_on(lambda between: between.close(PAYLOAD[0]), AT_ONCE_S, TF_TCP_ENGINE=engine)
        with self.subTest("one piece at a time"):
            self.go_on(lambda between: between.close(PAYLOAD[0]), AT_ONCE_S, MIB // 4)

    def test_cut(self):
        """Where nothing arrives any more and nothing says so, the counts of both sides do."""
        for engine in ("poll", "uring"):
            with self.subTest(engine):
                told, log = self.go_on(lambda between: between.fall_silent(PAYLOAD[0]), ARRIVAL_S,
                                       TF_TCP_ENGINE=engine)
                self.assertRegex(told + log, "lane have not arrived|timed out")

    def test_never_there(self):
        with socket.socket() as unheard:
            unheard.bind(("127.0.0.1", 0))
            port = unheard.getsockname()[1]
            self.expect_without(port)

    def expect_without(self, port):
        with Worker() as worker:
            with worker.client("tcp", "checked", 4 * MIB, TF_TCP_RAILS=f"127.0.0.1:{port},127.0.0.1") as client:
                for _ in range(3):
                    client.expect("checked", 30)
                self.assertRegex("".join(client.errors()), f"payload does not go over 127.0.0.1:{port} .*refused")
                client.kill()
            with worker.client("tcp", "checked", 4 * MIB, TF_TCP_RAILS=f"127.0.0.1:{port}") as client:
                for _ in range(3):
                    client.expect("checked", 30)
                client.kill()

    def test_what_is_no_address(self):
        with Worker() as worker, worker.client("tcp", "checked", MIB, TF_TCP_RAILS="unix:/tmp/x") as client:
            client.wait(10)
            self.assertRegex("".join(client.errors()), 'TF_TCP_RAILS="unix:/tmp/x" is not one of: up to 8 hosts')


class Network(LaneTest):
    def test_cut_while_busy(self):
        for scenario, until in ((("rounds", ROUND_BYTES), "round"), (("copy-in", 64 * MIB), "copying"),
                                (("copy-out", 64 * MIB), "copying")):
            for engine in ("poll", "uring"):
                with self.subTest(f"{scenario[0]} {engine}"):
                    self.strike(scenario, until, lambda between: between.fall_silent(), NOTICE_S, NOTICE_S,
                                TF_TCP_ENGINE=engine)

    def test_cut_while_nothing_happens(self):
        self.strike(("hold", MIB), "holding", lambda between: between.fall_silent(), NOTICE_S, NOTICE_S)

    def test_cut_while_the_peer_is_busy(self):
        """A copy that waits for a busy worker: its window is shut, which alone is nobody's loss."""
        with Worker() as worker, Between(worker.port) as between:
            self.assertTrue(eventually(worker.idle, 10), worker.children())
            before = worker.children()
            busy_ms = 60_000
            with self.client(worker, between, "busy-in", 96 * MIB, busy_ms) as client:
                time.sleep(2 + TIMEOUT_S)
                session = self.session_of(worker, before)
                self.assertIsNone(client.process.poll(), client.errors())
                self.assertEqual(client.errors(), [])
                start = time.monotonic()
                between.fall_silent()
                error, _ = client.expect("error", NOTICE_S + 2)
                self.assertEqual(error, DEINITIALIZED)
                self.assertLess(time.monotonic() - start, NOTICE_S * SLOWER)
                client.kill()
            self.expect_ends(session, NOTICE_S + 3)
            self.expect_served(worker)


if __name__ == "__main__":
    main()
