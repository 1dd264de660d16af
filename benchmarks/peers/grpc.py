# SPDX-License-Identifier: Apache-2.0
"""gRPC: grpc_peer.cc, one bidirectional stream of raw bytes over a Unix socket or TCP."""
import os
import pathlib
import subprocess

from harness.network import free_port
from harness.processes import Unavailable, run

from . import peer

SOURCE = pathlib.Path(__file__).resolve().parent / 'grpc_peer.cc'
SHARES = {peer.ROUND_TRIP: 0.15, peer.ONE_WAY: 0.5, peer.BULK: 0.3}  # of what others do in the same time


class Grpc(peer.Peer):
    name = 'gRPC'
    packages = ('libgrpc++-dev', 'g++', 'pkg-config')
    transports = ('shm', 'tcp')
    note = 'shm is a Unix socket; synchronous streaming; threads of its own, on the same core where pinned'

    def prepare(self, directory):
        self.directory = directory
        self.program = os.path.join(directory, 'grpc_peer')
        flags = subprocess.run(['pkg-config', '--cflags', '--libs', 'grpc++'], capture_output=True, text=True)
        if flags.returncode != 0:
            raise Unavailable('pkg-config does not know grpc++')
        peer.compile_helper(['g++', '-std=c++17', '-O2', '-o', self.program], SOURCE, flags.stdout.split())

    def measure(self, transport, metric, size, placement, share=1.0):
        count = peer.repetitions('tcp', metric, size, share * SHARES[metric])
        address = '127.0.0.1:%d' % free_port() if transport == 'tcp' else 'unix:%s/grpc' % self.directory
        cores = [min(placement.client), min(placement.server)] if placement.name == 'pinned' else [-1, -1]
        text, cpu = run([self.program, metric, size, count, *cores, address], placement.client | placement.server)
        return peer.Figure(peer.field(text, metric), count, cpu, 'stream')
