# SPDX-License-Identifier: Apache-2.0
"""iperf3: one TCP stream, the best of copying and zero-copy sends, congestion control cubic."""
import json
import subprocess

from harness.network import free_port
from harness.processes import Unavailable, run_pair

from . import peer

SECONDS = 0.7


class Iperf3(peer.Peer):
    name = 'iperf3'
    packages = ('iperf3',)
    transports = ('tcp',)
    note = 'a stream without answers, not kept by the receiver, in pieces of 1 MiB at most'

    def version(self):
        text = subprocess.run(['iperf3', '--version'], capture_output=True, text=True).stdout
        return text.split()[1] if len(text.split()) > 1 else ''

    def measure(self, transport, metric, size, placement, share=1.0):
        if metric != peer.BULK:
            raise Unavailable('iperf3 measures streams only')
        copying = self._one([], size, placement, share)
        sending_pages = self._one(['-Z'], size, placement, share)
        return max(copying, sending_pages, key=lambda figure: figure.value)

    @staticmethod
    def _one(options, size, placement, share):
        port = free_port()
        piece = min(size, peer.MIB)
        client = ['iperf3', '-c', '127.0.0.1', '-p', str(port), '-t', str(max(1, round(SECONDS * share))),
                  '-C', 'cubic', '-l', str(piece), '--json', *options]
        text, cpu = run_pair(['iperf3', '-s', '-1', '-B', '127.0.0.1', '-p', str(port)], client, placement, port=port)
        end = json.loads(text).get('end', {}).get('sum_received')
        if not end:
            raise Unavailable('iperf3: %s' % json.loads(text).get('error', 'no figures'))
        return peer.Figure(end['bits_per_second'] / 8e9, end['bytes'] / size, cpu, 'zero-copy' if options else 'copy')
