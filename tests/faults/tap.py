# SPDX-License-Identifier: Apache-2.0
"""Somebody who stands between a client and its worker: hears everything, and can change, drop and repeat bytes."""
import socket
import struct
import threading

from between import ATTACH_BYTES, LANES

HEARD_BYTES_MAX = 1 << 24  # of each lane


def middle(data, change):
    """`data`, with `change` done to the byte in its middle."""
    at = len(data) // 2
    return data[:at] + change(data[at:at + 1]) + data[at + 1:]


# What can be done to a part that was received at once.
CHANGES = {
    "a flipped byte": lambda data: middle(data, lambda byte: bytes([byte[0] ^ 0x10])),
    "a dropped byte": lambda data: middle(data, lambda byte: b""),
    "a repeated byte": lambda data: middle(data, lambda byte: byte + byte),
    "a dropped part": lambda data: b"",
    "a repeated part": lambda data: data + data,
}


class Tap:
    def __init__(self, port):
        self.worker_port = port
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.attached = {}  # lane -> its attach frame
        self.heard = {lane: bytearray() for lane in LANES.values()}  # both directions, without the attach frame
        self.spoils = {}  # (lane, direction) -> a change, and an event, set when that was done
        self.ends = []
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for end in [self.listener, *self.ends]:
            end.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
                attach = client.recv(ATTACH_BYTES, socket.MSG_WAITALL)
                lane = LANES[struct.unpack_from("<II", attach, 40)]
                worker = socket.create_connection(("127.0.0.1", self.worker_port))
                worker.sendall(attach)
            except (OSError, struct.error):
                return
            self.ends += [client, worker]
            self.attached[lane] = attach
            for source, target, way in ((client, worker, "to the worker"), (worker, client, "to the client")):
                threading.Thread(target=self.carry, args=(source, target, lane, way), daemon=True).start()

    def spoil(self, lane, way, change="a flipped byte"):
        """The next bytes of that lane and direction arrive changed so. Returns an event."""
        done = threading.Event()
        with self.lock:
            self.spoils[lane, way] = CHANGES[change], done
        return done

    def carry(self, source, target, lane, way):
        try:
            while data := source.recv(1 << 16):
                with self.lock:
                    if len(self.heard[lane]) < HEARD_BYTES_MAX:
                        self.heard[lane] += data
                    change, done = self.spoils.pop((lane, way), (None, None))
                if change:
                    data = change(data)
                    done.set()
                target.sendall(data)
        except OSError:
            pass
        for end in (source, target):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
