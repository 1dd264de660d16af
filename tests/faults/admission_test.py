# SPDX-License-Identifier: Apache-2.0
"""Who keeps others out by being there: idle connections at each door, HELLOs in parts, many sessions of one tenant."""
import contextlib
import os
import re
import resource
import select
import signal
import socket
import struct
import threading
import time

from harness import FaultTest, SLOWER, Worker, eventually, main
from keys import Keys
from users import Another, OTHER, needs_root
from wire_test import HELLO, attach, closed_within, frame, hello_payload

SEATS = 256  # kSeatsPerDoor
IDLE = 1000
HEADER_BYTES = 24
WAS_READ = b"another set of messages"  # the answer of a session process to hello()
DOORS = {"tcp": "TCP", "unix": "the Unix socket"}  # and what the worker calls them


def hello(**changes):
    return attach() + frame(HELLO, hello_payload(**changes), request=1)


def from_address(worker, address):
    """A connection over TCP that comes from there."""
    return socket.create_connection(("127.0.0.1", worker.port), 5, source_address=(address, 0))


class Idlers:
    """Connections that say nothing: `IDLE` come at once, and then the door is kept full."""

    def __init__(self, worker, door):
        self.worker, self.door = worker, door
        self.first = []
        while len(self.first) < IDLE:
            self.first.append(self.one())
        self.stop = threading.Event()
        self.thread = threading.Thread(target=self.keep_full)

    def one(self):
        while True:
            try:
                return self.worker.connect(self.door)
            except BlockingIOError:  # the backlog of a Unix socket
                time.sleep(0.01)

    def keep_full(self):
        poller = select.poll()
        held = {connection.fileno(): connection for connection in self.first[-SEATS:]}
        for number in held:
            poller.register(number, select.POLLIN)
        while not self.stop.wait(0.05):
            for number, _ in poller.poll(0):
                poller.unregister(number)
                held.pop(number).close()
                again = self.one()
                held[again.fileno()] = again
                poller.register(again, select.POLLIN)
        for connection in held.values():
            connection.close()

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.stop.set()
        self.thread.join()
        for connection in self.first:
            connection.close()


class AdmissionTest(FaultTest):
    def setUp(self):
        before = resource.getrlimit(resource.RLIMIT_NOFILE)
        if before[1] < 2 * IDLE:
            self.skipTest(f"the limit of open files is {before[1]} here")
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * IDLE, before[1]))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, before)
        self.open = contextlib.ExitStack()
        self.addCleanup(self.open.close)

    def worker(self, *extra, **how):
        return self.open.enter_context(Worker(*extra, **how))

    def seconds_to_serve(self, worker, transport):
        start = time.monotonic()
        self.expect_served(worker, transport)
        return time.monotonic() - start

    def hold(self, connections):
        for connection in connections:
            self.open.callback(connection.close)
        return connections


class IdleConnections(AdmissionTest):
    def test_a_thousand_delay_nobody(self):
        for door, transport in (("tcp", "tcp"), ("unix", "shm"), ("tcp", "shm"), ("unix", "tcp")):
            with self.subTest(f"at the door {door}, a client over {transport}"), Worker() as worker:
                before = self.seconds_to_serve(worker, transport)
                with Idlers(worker, door):
                    after = [self.seconds_to_serve(worker, transport) for _ in range(3)]
                self.assertLess(min(after), before + 1 * SLOWER)

    def test_who_gives_way_is_told_and_counted(self):
        for door, name in DOORS.items():
            with self.subTest(door), Worker() as worker:
                idle = self.hold([worker.connect(door) for _ in range(SEATS + 100)])
                words = f"all {SEATS} seats of {name} for connections without a session were taken"
                said = closed_within(idle[0], 10)
                self.assertIn(words.encode(), said)
                line = re.compile(rf"a connection of (user|address) \S+ gave way, \d+ in all: {words}")
                self.assertRegex(worker.log(), line)
                self.assertLess(len(worker.log().splitlines()), 60)
                for connection in idle[-SEATS:]:
                    self.assertEqual(select.select([connection], [], [], 0)[0], [], "a later one gave way")

    @needs_root
    def test_other_users_and_the_other_door_keep_their_seats(self):
        worker = self.worker("--allow-uid", str(OTHER))
        own = self.hold([worker.connect(door) for door in DOORS])

        def flood(answer):
            held = [worker.connect("tcp") for _ in range(SEATS + 100)]
            answer(b"none gave way" if closed_within(held[0], 10) is None else b"gave way")
            signal.pause()
        other = Another(flood)
        self.open.callback(other.kill)
        self.assertEqual(other.says(), b"gave way")
        for connection in own:
            connection.sendall(hello())
            self.assertIn(WAS_READ, closed_within(connection, 10))

    def test_other_addresses_keep_their_seats_where_keys_are_needed(self):
        keys = Keys()
        self.open.callback(keys.directory.cleanup)
        keys.authorize(keys.make("alice"))
        worker = self.open.enter_context(keys.worker())
        own = from_address(worker, "127.0.0.1")
        flood = [from_address(worker, "127.0.0.2") for _ in range(SEATS + 100)]
        self.hold([own, *flood])
        self.assertIsNotNone(closed_within(flood[0], 10))
        self.assertEqual(select.select([own], [], [], 0)[0], [], "its seat was taken")

    def test_who_has_proven_a_key_keeps_its_seat(self):
        keys = Keys()
        self.open.callback(keys.directory.cleanup)
        keys.authorize(keys.make("alice"))
        worker = self.open.enter_context(keys.worker())
        flood = self.hold([worker.connect("tcp") for _ in range(SEATS + 100)])
        self.assertEqual(closed_within(flood[0], 10), b"", "strangers hear nothing")
        with worker.client("tcp", "hello", **keys.environment("alice")) as client:
            self.assertEqual(client.wait(20), 0, client.errors())


class HellosInParts(AdmissionTest):
    def test_cost_no_process(self):
        worker = self.worker("-v")
        whole = hello()
        for cut in (57, 56 + HEADER_BYTES, len(whole) - 1):
            for door in DOORS:
                before = worker.log().count(": process ")
                with worker.connect(door) as connection:
                    connection.sendall(whole[:cut])
                    with worker.connect(door) as other:  # it comes later, and is served while the first waits
                        other.sendall(whole)
                        self.assertIn(WAS_READ, closed_within(other, 10))
                    self.assertEqual(worker.log().count(": process "), before + 1, "a part of HELLO took a process")
                    connection.sendall(whole[cut:])
                    self.assertIn(WAS_READ, closed_within(connection, 10))

    def test_their_time_is_limited(self):
        worker = self.worker()
        with worker.connect("tcp") as connection:
            connection.sendall(hello()[:-1])
            self.assertEqual(closed_within(connection, 7), b"")
        self.assertTrue(eventually(lambda: "its HELLO was not complete in time" in worker.log(), 3), worker.log())


class Sessions(AdmissionTest):
    def test_one_tenant_leaves_places_to_others(self):
        keys = Keys()
        self.open.callback(keys.directory.cleanup)
        keys.authorize(keys.make("alice"), keys.make("bob"))
        worker = self.open.enter_context(keys.worker("--sessions-max", "4"))
        for _ in range(3):
            client = self.open.enter_context(worker.client("tcp", "hold", 4096, **keys.environment("alice")))
            client.expect("holding", 30)
        with worker.client("tcp", "hello", **keys.environment("alice")) as client:
            self.assertNotEqual(client.wait(20), 0)
            self.assertIn("tenant alice has 3 sessions already, as many as one may have here (--sessions-per-tenant)",
                          "\n".join(client.errors()))
        with worker.client("tcp", "hello", **keys.environment("bob")) as client:
            self.assertEqual(client.wait(20), 0, client.errors())

    @needs_root
    def test_many_starts_of_one_user_are_behind_the_first_of_another(self):
        worker = self.worker("--allow-uid", str(OTHER))
        with worker.connect("tcp") as asking:
            asking.sendall(hello())
            schema = int(re.search(rb"the worker has ([0-9a-f]{16})", closed_within(asking, 10)).group(1), 16)
        said, count = hello(schema=schema), 16

        def start(answer):
            many = [worker.connect("tcp") for _ in range(count)]
            signal.signal(signal.SIGTERM, lambda *_: answer(b"%d" % len(select.select(many, [], [], 0)[0])))
            for connection in many:
                connection.sendall(said)
            answer(b"started" if select.select(many, [], [], 10 * SLOWER)[0] else b"none was answered")
            signal.pause()
        other = Another(start)
        self.open.callback(other.kill)
        self.assertEqual(other.says(), b"started")  # all of them have come
        with worker.connect("tcp") as own:
            own.sendall(said)
            own.settimeout(10 * SLOWER)
            self.assertEqual(struct.unpack("<I", own.recv(HEADER_BYTES + 4)[HEADER_BYTES:])[0], 0)
            os.kill(other.pid, signal.SIGTERM)
            self.assertLess(int(other.says()), count - 1)


if __name__ == "__main__":
    main()
