# SPDX-License-Identifier: Apache-2.0
"""Measures peers and ours in turn (ours, peer, ours, peer, ...) and compares each with the run of ours before it."""
import statistics
import tempfile

from harness import ours, packages, quiet
from harness.processes import Unavailable

from . import ALL, peer

# What transport_bench calls the same things.
OURS = {peer.ROUND_TRIP: 'round_trip', peer.ONE_WAY: 'posted', peer.BULK: 'bulk_send'}
QUICK_SHARE = 0.3


class Options:
    def __init__(self, names=(), transports=('shm', 'tcp'), turns=3, quick=False, install=True):
        self.names, self.transports, self.turns = names, transports, turns
        self.quick, self.install = quick, install

    @property
    def share(self):
        return QUICK_SHARE if self.quick else 1.0


def names():
    return [kind.name.lower().replace(' ', '') for kind in ALL]


def prepare(options, directory, say):
    """Peers that can run here, and rows that say why the others cannot. Needs the network for packages."""
    ready, left_out = [], []
    for kind in ALL:
        one = kind()
        if options.names and one.name.lower().replace(' ', '') not in options.names:
            continue
        try:
            wanted = packages.missing(one.packages)
            if wanted and not options.install:
                raise Unavailable('not installed: ' + ' '.join(wanted))
            reason = packages.install(one.packages, say)
            if reason:
                raise Unavailable(reason)
            one.prepare(directory)
            ready.append(one)
        except Unavailable as error:
            left_out.append({'bench': 'peers', 'peer': one.name, 'transport': None, 'metric': None, 'bytes': 0,
                             'value': None, 'unit': '', 'why': str(error)})
    return ready, left_out


class Series:
    """The turns of one peer, transport, metric and size."""

    def __init__(self):
        self.values, self.ours, self.cpu, self.how, self.reason = [], [], [], '', ''


def lead(metric, own, other):
    """How far ours is ahead: above 1 means ahead."""
    return other / own if peer.lower_is_better(metric) else own / other


def figure_of(rows, transport, metric, size):
    for row in rows:
        if (row['transport'], row['metric'], row['bytes']) == (transport, OURS[metric], size):
            return row
    return None


def startup_cpu(one, transport, placement):
    """Processor seconds of a run that does next to nothing; 0 where that cannot be measured."""
    try:
        return one.measure(transport, peer.ROUND_TRIP, 64, placement, 0.0).cpu_seconds
    except Unavailable:
        return 0.0


def measure(programs, placement, options, ready, say):
    """(rows of the peers, rows of every run of transport_bench). Each peer row has ours, lead and the cost."""
    series, own_runs = {}, []
    startup = {}
    arguments = ['--quick'] + [word for name in options.transports for word in ('--transport', name)]
    for turn in range(options.turns):
        for one in ready:
            say('peers, turn %d of %d: %s' % (turn + 1, options.turns, one.name))
            with quiet.step():
                own = ours.transport_bench(programs, placement, arguments)
                own_runs.append(own)
                for transport in [name for name in one.transports if name in options.transports]:
                    if (one.name, transport) not in startup:
                        startup[one.name, transport] = startup_cpu(one, transport, placement)
                    for metric, size in peer.TASKS:
                        entry = series.setdefault((one.name, transport, metric, size), Series())
                        measure_one(one, transport, metric, size, placement, options.share, own, entry)
    rows = [row_of(key, entry, startup, placement) for key, entry in series.items()]
    return rows, own_runs


def measure_one(one, transport, metric, size, placement, share, own, entry):
    if entry.reason:
        return  # what failed once is not tried again
    try:
        figure = one.measure(transport, metric, size, placement, share)
    except Unavailable as error:
        entry.reason = str(error)
        return
    entry.values.append(figure.value)
    entry.cpu.append((figure.cpu_seconds, figure.operations))
    entry.how = figure.how
    row = figure_of(own, transport, metric, size)
    if row:
        entry.ours.append(row['value'])


def row_of(key, entry, startup, placement):
    name, transport, metric, size = key
    row = {'bench': 'peers', 'peer': name, 'transport': transport, 'metric': metric, 'bytes': size,
           'value': None, 'unit': peer.UNITS[metric], 'placement': placement.name}
    if not entry.values:
        row['why'] = entry.reason
        return row
    row['value'] = statistics.median(entry.values)
    row['how'] = entry.how
    if entry.ours:
        pairs = [lead(metric, own, other) for own, other in zip(entry.ours, entry.values)]
        row['ours'] = statistics.median(entry.ours)
        row['lead'] = statistics.median(pairs)
    costs = [max(0.0, cpu - startup[name, transport]) / operations for cpu, operations in entry.cpu]
    if metric == peer.BULK:
        row['cpu_s_per_gib'] = statistics.median(costs) / size * 1024 * peer.MIB
    else:
        row['cpu_s_per_million'] = statistics.median(costs) * 1e6
    return row


def compare(programs, placement, options, say, private_network):
    """The whole of it: packages, then a network of our own, then the turns."""
    with tempfile.TemporaryDirectory(prefix='hip-remote-peers-') as directory:
        ready, left_out = prepare(options, directory, say)
        private_network()
        rows, own_runs = measure(programs, placement, options, ready, say)
    return rows + left_out, own_runs
