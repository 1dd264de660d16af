# SPDX-License-Identifier: Apache-2.0
"""ZeroMQ: zeromq_peer.c over its ipc (a Unix socket, what it has within a host) and its tcp transport."""
import os
import pathlib

from harness.processes import run

from . import peer

SHARES = {peer.ROUND_TRIP: 0.3, peer.ONE_WAY: 4, peer.BULK: 0.3}  # of what others do in the same time
SOURCE = pathlib.Path(__file__).resolve().parent / 'zeromq_peer.c'


class ZeroMq(peer.Peer):
    name = 'ZeroMQ'
    packages = ('libzmq3-dev',)
    transports = ('shm', 'tcp')
    note = 'ipc is a Unix socket; an I/O thread at each end, on the same core where pinned; a byte answers each payload'

    def prepare(self, directory):
        self.directory = directory
        self.program = os.path.join(directory, 'zeromq_peer')
        peer.compile_helper(['cc', '-O2', '-o', self.program], SOURCE, ['-lzmq'])

    def measure(self, transport, metric, size, placement, share=1.0):
        count = peer.repetitions('tcp', metric, size, share * SHARES[metric])
        address = 'tcp://127.0.0.1:*' if transport == 'tcp' else 'ipc://%s/zmq' % self.directory
        cores = [min(placement.client), min(placement.server)] if placement.name == 'pinned' else [-1, -1]
        text, cpu = run([self.program, metric, size, count, *cores, address], placement.client | placement.server)
        return peer.Figure(peer.field(text, metric), count, cpu, 'tcp' if transport == 'tcp' else 'ipc')
