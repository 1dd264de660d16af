# SPDX-License-Identifier: Apache-2.0
"""The row of shared processors: what a client with small kernels waits beside others that fill the device."""
import statistics

from harness import ours, quiet
from harness.processes import UNPINNED, Unavailable

from . import figures as figures_module
from . import rows

ROW = 'shared processors'
HOGS = (0, 1, 4)
AT_MOST = 2  # times what one hog makes it


def beside(programs, transport, hogs, seconds):
    """Figures of the client with small kernels."""
    with ours.Worker(programs, UNPINNED) as worker:
        # The hogs begin before it and end after it.
        words = ['hog', '--seconds', str(seconds + 2)]
        loads = [ours.HipLoad(programs, transport, UNPINNED, worker, words) for _ in range(hogs)]
        small = ours.HipLoad(programs, transport, UNPINNED, worker, ['small', '--seconds', str(seconds)])
        try:
            for load in (small, *loads):
                load.wait_until_ready(60)
            for load in (*loads, small):
                load.go()
            return small.figures(60 + seconds)
        finally:
            for load in (small, *loads):
                load.process.end()
                load.end()


def lines(programs, transports, turns, quick, say):
    """The 99th percentile with four hogs beside that with one, medians of turns."""
    found = []
    for transport in transports:
        waits = {hogs: [] for hogs in HOGS}
        spec = rows.Spec(ROW, 'hip_load', transport, 'small_kernel_p99_beside_4', 0, 'ns',
                         rows.at_most(AT_MOST))
        try:
            for turn in range(turns):
                for hogs in HOGS:
                    say('turn %d: a small kernel beside %d hogs over %s' % (turn + 1, hogs, transport))
                    with quiet.step():
                        waits[hogs].append(beside(programs, transport, hogs, 2 if quick else 5)['p99_ns'])
        except Unavailable as error:
            found.append(figures_module.not_measured(spec, 'unpinned', str(error)))
            continue
        alone, one, four = (statistics.median(waits[hogs]) for hogs in HOGS)
        found.append(figures_module.line(spec, 'unpinned', four, one, 'beside one hog', four / one, {}))
        found[-1]['note'] = '%.3g ns alone' % alone
    return found
