# SPDX-License-Identifier: Apache-2.0
"""libfabric: fi_pingpong of the package libfabric-bin. It only ever plays ping-pong."""
import subprocess

from harness.network import free_port
from harness.processes import Unavailable, run_pair

from . import peer

PROVIDERS = {'shm': ('shm', 'rdm'), 'tcp': ('tcp', 'msg')}


class Libfabric(peer.Peer):
    name = 'libfabric'
    packages = ('libfabric-bin',)
    transports = ('shm', 'tcp')
    note = 'mean, not median; bulk is half of a ping-pong of that size'

    def version(self):
        text = subprocess.run(['fi_info', '--version'], capture_output=True, text=True).stdout
        return next((line.split()[-1] for line in text.splitlines() if line.startswith('libfabric:')), '')

    def measure(self, transport, metric, size, placement, share=1.0):
        if metric == peer.ONE_WAY:
            raise Unavailable('fi_pingpong has no one-way test')
        count = peer.repetitions(transport, metric, size, share if metric == peer.ROUND_TRIP else share / 2)
        provider, endpoint = PROVIDERS[transport]
        port = free_port()
        common = ['fi_pingpong', '-p', provider, '-e', endpoint, '-S', str(size), '-I', str(count)]
        text, cpu = run_pair(common + ['-B', str(port)], common + ['-P', str(port), '127.0.0.1'], placement, port=port)
        lines = [line.split() for line in text.splitlines() if line.strip()]
        if len(lines) < 2 or 'usec/xfer' not in lines[0]:
            raise Unavailable('fi_pingpong printed no figures')
        half_trip_us = float(lines[-1][lines[0].index('usec/xfer')])
        if half_trip_us <= 0:
            raise Unavailable('fi_pingpong printed a time of 0')
        if metric == peer.ROUND_TRIP:
            return peer.Figure(2e3 * half_trip_us, count, cpu, 'pingpong ' + provider)
        return peer.Figure(size / half_trip_us / 1e3, 2 * count, cpu, 'pingpong ' + provider)
