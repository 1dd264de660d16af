# SPDX-License-Identifier: Apache-2.0
"""relay.py ADDRESS PORT TARGET_PORT [TARGET]: hands connections to ADDRESS:PORT on to TARGET_PORT of TARGET (loopback).

An end of file or a reset on one side becomes the same on the other, since that is how the ends learn of a death.
"""
import socket
import sys
import threading

CONNECTIONS_MAX = 64


def carry(source, target):
    try:
        while True:
            data = source.recv(65536)
            if not data:
                break
            target.sendall(data)
    except OSError:
        pass
    for side, how in ((target, socket.SHUT_WR), (source, socket.SHUT_RD)):
        try:
            side.shutdown(how)
        except OSError:
            pass


def main(address, port, target_port, target="127.0.0.1"):
    listener = socket.create_server((address, int(port)), backlog=CONNECTIONS_MAX)
    while True:
        client, _ = listener.accept()
        try:
            worker = socket.create_connection((target, int(target_port)), 5)
        except OSError:
            client.close()
            continue
        worker.settimeout(None)
        for one in (client, worker):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for pair in ((client, worker), (worker, client)):
            threading.Thread(target=carry, args=pair, daemon=True).start()


if __name__ == '__main__':
    main(*sys.argv[1:])
