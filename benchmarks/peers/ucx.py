# SPDX-License-Identifier: Apache-2.0
"""UCX: ucx_perftest of the package ucx-utils, the best of its tests for each thing measured."""
import subprocess

from harness.network import free_port
from harness.processes import Unavailable, run_pair

from . import peer

TESTS = {
    peer.ROUND_TRIP: ('tag_lat', 'ucp_am_lat'),
    peer.ONE_WAY: ('tag_bw', 'ucp_am_bw'),
    peer.BULK: ('tag_bw', 'ucp_am_bw', 'ucp_put_bw'),
}
SHM_ONLY = ('ucp_put_bw',)  # 64 MiB of it never end over tcp (1.13)
TIMEOUT_S = 20
UCX_MIB = float(1 << 20)  # its MB


class Ucx(peer.Peer):
    name = 'UCX'
    packages = ('ucx-utils',)
    transports = ('shm', 'tcp')
    note = 'bulk streams without an answer per payload; put writes one-sidedly; sleeps never'

    def version(self):
        text = subprocess.run(['ucx_info', '-v'], capture_output=True, text=True).stdout
        return next((line.split()[-1] for line in text.splitlines() if 'ersion' in line), '')

    def measure(self, transport, metric, size, placement, share=1.0):
        best, reasons = None, []
        for test in TESTS[metric]:
            if transport != 'shm' and test in SHM_ONLY:
                continue
            try:
                figure = self._one(test, transport, metric, size, placement, share)
            except Unavailable as reason:
                reasons.append(str(reason))
                continue
            if best is None or (figure.value < best.value) == peer.lower_is_better(metric):
                best = figure
        if best is None:
            raise Unavailable(reasons[-1])
        return best

    @staticmethod
    def _one(test, transport, metric, size, placement, share):
        count = peer.repetitions(transport, metric, size, share)
        warm_up = max(2, count // 20)
        port = free_port()
        common = ['ucx_perftest', '-p', str(port)]
        work = ['-t', test, '-s', str(size), '-n', str(count), '-w', str(warm_up), '-f', '-v']
        environment = {'UCX_TLS': 'tcp,self' if transport == 'tcp' else 'shm,self', 'UCX_LOG_LEVEL': 'error'}
        if transport == 'tcp':
            environment['UCX_NET_DEVICES'] = 'lo'
        text, cpu = run_pair(common, common + ['127.0.0.1'] + work, placement, environment, port,
                             TIMEOUT_S)
        lines = [line for line in text.splitlines() if line.count(',') >= 7]
        if len(lines) < 2:
            raise Unavailable('ucx_perftest printed no figures for %s' % test)
        row = dict(zip(lines[0].split(','), (word.strip() for word in lines[-1].split(','))))
        if metric == peer.ROUND_TRIP:
            value = 2e3 * float(row['50.0_percentile_lat'])  # it prints half a round trip, in microseconds
        elif metric == peer.ONE_WAY:
            value = float(row['overall_mr'])
        else:
            value = float(row['overall_bw']) * UCX_MIB / 1e9
        return peer.Figure(value, count + warm_up, cpu, test)
