# SPDX-License-Identifier: Apache-2.0
"""Strangers at the worker's doors: garbage, half frames, lies about lengths, silence, floods."""
import random
import select
import struct
import time

from harness import FaultTest, SLOWER, Worker, eventually, main

MAGIC = 0x48495052
ATTACH, HELLO, NO_REPLY = 1, 2, 8
DOORS = ("tcp", "unix")


def frame(opcode, payload=b"", magic=MAGIC, version=1, flags=0, request=0, length=None):
    header = struct.pack("<IHHIIQ", magic, version, opcode, request, flags,
                         len(payload) if length is None else length)
    return header + payload


def attach(token=bytes(16), kind=0, lane=0, **changes):
    return frame(ATTACH, token + struct.pack("<IIQ", kind, lane, 0), flags=NO_REPLY, **changes)


def hello_payload(wire_version=1, schema=0, transport=b"tcp", program=b"stranger"):
    text = b"".join(struct.pack("<I", len(field)) + field for field in (transport, program, b""))
    return (struct.pack("<HHIQ", wire_version, 0, 5, schema) + bytes(range(1, 17)) +
            struct.pack("<QI", 0, 4711) + text)


def closed_within(connection, seconds):
    """Reads until the worker hangs up; what it said, or None when it did not hang up."""
    deadline, said = time.monotonic() + seconds * SLOWER, b""
    while time.monotonic() < deadline:
        if not select.select([connection], [], [], max(0, deadline - time.monotonic()))[0]:
            return None
        try:
            got = connection.recv(65536)
        except OSError:
            return said
        if not got:
            return said
        said += got
    return None


class WireFaults(FaultTest):
    def strike(self, worker, door, payload, seconds=3):
        with worker.connect(door) as connection:
            try:
                connection.sendall(payload)
            except OSError:
                pass  # hung up already: all the better
            said = closed_within(connection, seconds)
        self.assertIsNotNone(said, f"still open after {seconds} s: {payload[:80]!r}")
        return said

    def test_frames_that_are_none(self):
        dice = random.Random(7)
        with Worker() as worker:
            for door in DOORS:
                for payload in (attach(magic=0x47455420), attach(version=2), attach(length=1 << 40),
                                attach(length=31), attach(kind=9), attach(kind=3), attach(lane=1),
                                attach(token=b"x" * 16, kind=1, lane=99), frame(0x0210, bytes(32), flags=NO_REPLY),
                                b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" + bytes(64), dice.randbytes(56),
                                dice.randbytes(200000)):
                    self.strike(worker, door, payload)
            self.assertIn("frame magic is 0x47455420, expected 0x48495052", worker.log())
            self.assertIn("frame version is 0x2, expected 0x1", worker.log())
            self.expect_served(worker)

    def test_a_connection_that_hangs_up_in_the_middle(self):
        with Worker() as worker:
            for door in DOORS:
                for cut in (0, 1, 24, 55, 56, 70):
                    with worker.connect(door) as connection:
                        connection.sendall((attach() + frame(HELLO, hello_payload()))[:cut])
            self.expect_served(worker)
            self.assertTrue(eventually(worker.idle, 3), worker.children())

    def test_hello_of_another_version_or_schema_is_told_why(self):
        with Worker() as worker:
            for changes, reason in (({"wire_version": 7}, b"wire version 7 of the client, 1 of the worker"),
                                    ({"schema": 0x1234}, b"another set of messages (0000000000001234")):
                said = self.strike(worker, "tcp", attach() + frame(HELLO, hello_payload(**changes), request=1))
                self.assertIn(reason, said)
                self.assertTrue(eventually(lambda reason=reason: reason.decode() in worker.log(), 5), worker.log())
            self.expect_served(worker)

    def test_words_of_strangers_stay_one_line_of_the_log(self):
        forged = b"x\nhip-worker[1]: all is well \x1b[2J\r\x00\xc2\x9b\xff\xe2\x80\xae \xc3\xa9"
        with Worker() as worker:
            self.strike(worker, "tcp", attach() + frame(HELLO, hello_payload(program=forged), request=1))
            self.assertTrue(eventually(lambda: "another set of messages" in worker.log(), 3), worker.log())
            with open(worker.log_path, "rb") as log:
                lines = [line for line in log.read().split(b"\n") if b"all is well" in line]
            self.assertEqual(len(lines), 1, lines)
            shown = rb'"x\x0ahip-worker[1]: all is well \x1b[2J\x0d\x00\xc2\x9b\xff\xe2\x80\xae '
            self.assertIn(shown, lines[0])
            self.expect_served(worker)

    def test_hello_that_lies_or_stops(self):
        with Worker() as worker:
            good = hello_payload()
            for payload in (frame(HELLO, good, request=1, length=1 << 50), frame(HELLO, good, version=9, request=1),
                            frame(0x0310, good, request=1), frame(HELLO, good[:20], request=1),
                            frame(HELLO, good + b"more", request=1),
                            frame(HELLO, good[:-20] + b"\xff" * 20, request=1), frame(HELLO, b"", request=1)):
                self.strike(worker, "tcp", attach() + payload)
            # Announces more than it sends: held for the time that HELLO has, then closed.
            self.strike(worker, "tcp", attach() + frame(HELLO, good, request=1, length=len(good) + 100), 7)
            self.expect_served(worker)

    def test_silence_costs_nobody_anything(self):
        with Worker() as worker:
            silent = [worker.connect(DOORS[number % 2]) for number in range(120)]
            for number, connection in enumerate(silent):
                if number % 3 == 0:
                    connection.sendall(attach()[:30])
            self.assertIsNotNone(closed_within(silent[0], 7), "the first silent connection is still open")
            self.expect_served(worker)
            for connection in silent:
                connection.close()
            self.expect_served(worker)

    def test_a_flood_does_not_fill_the_log(self):
        with Worker() as worker:
            for _ in range(400):
                self.strike(worker, "tcp", bytes(56))  # until it has hung up: who is gone before that leaves no line
            self.expect_served(worker)
            lines = worker.log().splitlines()
            self.assertLess(len(lines), 60, "\n".join(lines[-20:]))
            time.sleep(1.1)
            self.strike(worker, "tcp", bytes(56))
            self.assertRegex(worker.log(), r"\d+ lines about refused connections were left out")


if __name__ == "__main__":
    main()
