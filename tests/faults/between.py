# SPDX-License-Identifier: Apache-2.0
"""A proxy between a tcp client and its worker, that knows the lanes: changes a byte of a header on its way, closes one
lane, or falls silent as a host does that has lost its network."""
import ctypes
import socket
import struct
import threading

ATTACH_BYTES = 56
PAYLOAD = ("payload 1", "payload 2")  # with TF_TCP_LANES=2
# By transport kind and number in the attach frame.
LANES = {(0, 0): "control", (3, 0): "message", (3, 1): "bulk", (3, 2): PAYLOAD[0], (3, 3): PAYLOAD[1]}
ALWAYS = ("control", "message", "bulk")
TO_WORKER, TO_CLIENT = "to the worker", "to the client"
# Header bytes, and where the number of bytes that follow it lies.
HEADERS = {"message": (24, "<Q", 16), "bulk": (32, "<I", 8)} | {lane: (32, "<I", 16) for lane in PAYLOAD}
STRIPE = 2  # flags of a bulk header that nothing follows


class Flip:
    """Changes byte `offset` of the next header of that lane and direction."""

    def __init__(self, lane, direction, offset):
        self.lane, self.direction, self.offset = lane, direction, offset


class HeaderWalk:
    """Finds the headers in one direction of one lane."""

    def __init__(self, lane):
        self.lane = lane
        self.size, self.form, self.length_at = HEADERS[lane]
        self.header, self.body = b"", 0

    def pass_on(self, data, flip):
        """`data`, with one byte changed once a header begins in it. Returns it and whether that was done."""
        out, done = bytearray(), False
        while data:
            if self.body:
                step = min(self.body, len(data))
                out += data[:step]
                data, self.body = data[step:], self.body - step
                continue
            step = data[:self.size - len(self.header)]
            at = len(self.header)
            self.header += step
            data = data[len(step):]
            sent = bytearray(step)
            if flip and not done and at <= flip.offset < at + len(step):
                sent[flip.offset - at] ^= 0x5
                done = True
            out += sent
            if len(self.header) == self.size:
                self.body = struct.unpack_from(self.form, self.header, self.length_at)[0]
                if self.lane == "bulk" and struct.unpack_from("<I", self.header, 12)[0] == STRIPE:
                    self.body = 0
                self.header = b""
        return bytes(out), done


class Pair:
    """The two sockets of one lane."""

    def __init__(self, lane, client, worker):
        self.lane, self.client, self.worker = lane, client, worker
        self.walks = {way: HeaderWalk(lane) for way in (TO_WORKER, TO_CLIENT)} if lane in HEADERS else {}
        self.silent = threading.Event()

    def sockets(self):
        return (self.client, self.worker)


class Between:
    def __init__(self, port):
        self.worker_port = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.pairs = []
        self.flip = None
        self.flipped = threading.Event()
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()
        with self.lock:
            pairs, self.pairs = self.pairs, []
        for pair in pairs:
            for end in pair.sockets():
                end.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            attach = client.recv(ATTACH_BYTES, socket.MSG_WAITALL)
            kind, number = struct.unpack_from("<II", attach, 40)
            worker = socket.create_connection(("127.0.0.1", self.worker_port))
            for end in (client, worker):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            worker.sendall(attach)
            pair = Pair(LANES[kind, number], client, worker)
            with self.lock:
                self.pairs.append(pair)
            for source, target, way in ((client, worker, TO_WORKER), (worker, client, TO_CLIENT)):
                threading.Thread(target=self.forward, args=(pair, source, target, way), daemon=True).start()
        except (OSError, struct.error):
            client.close()

    def forward(self, pair, source, target, way):
        try:
            while data := source.recv(1 << 16):
                if pair.silent.is_set():
                    return
                if pair.walks:
                    flip = self.flip
                    wanted = flip if flip and (flip.lane, flip.direction) == (pair.lane, way) else None
                    data, done = pair.walks[way].pass_on(data, wanted)
                    if done:
                        self.flip = None
                        self.flipped.set()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass  # one of the two is gone
        if not pair.silent.is_set():
            self.hang_up(pair)

    def hang_up(self, pair):
        for end in pair.sockets():
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def of_lanes(self, lanes):
        with self.lock:
            return [pair for pair in self.pairs if pair.lane in lanes]

    def close(self, lane):
        for pair in self.of_lanes([lane]):
            self.hang_up(pair)

    def fall_silent(self, *lanes):
        """From now on nothing is passed on or acknowledged: what arrives is dropped before it reaches its connection,
        which a filter on one's own socket needs no privilege for."""
        code = ctypes.create_string_buffer(struct.pack("HBBI", 0x6, 0, 0, 0))  # return 0 bytes
        program = struct.pack("HxxxxxxP", 1, ctypes.addressof(code))
        so_attach_filter = 26
        for pair in self.of_lanes(lanes or LANES.values()):
            pair.silent.set()
            for end in pair.sockets():
                end.setsockopt(socket.SOL_SOCKET, so_attach_filter, program)

