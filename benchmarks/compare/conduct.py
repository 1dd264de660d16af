# SPDX-License-Identifier: Apache-2.0
"""The order of a run: peers and transports in turns, HIP calls and copies in turns, then the loads."""
from harness import network, ours, quiet
from harness.processes import PINNED, UNPINNED, Unavailable
from peers import measure as peers_measure

from . import figures as figures_module
from . import keyed, loads, rows, shares

LOAD_ROWS = (keyed.ROW, 'idle session', 'processor time', 'threads posting', 'many clients', shares.ROW)
POSTS = ('event', 'memset', 'stream', 'launch')
COPIES = ('h2d', 'd2h')


def row_names():
    names = []
    for spec in rows.all_specs():
        if spec.row not in names:
            names.append(spec.row)
    return names + list(LOAD_ROWS)


class Run:
    def __init__(self, programs, options, say):
        self.programs, self.options, self.say = programs, options, say
        self.figures = figures_module.Figures()
        self.reasons = {}
        self.specs = [spec for spec in rows.all_specs() if self.wants(spec.row)]

    def wants(self, row):
        return row.startswith(self.options.only)

    def needs(self, bench, transport):
        return any((spec.bench, spec.transport) == (bench, transport) for spec in self.specs)

    def needs_peers(self):
        return self.wants('processor time') or any(spec.peers for spec in self.specs)

    # Peers, and transport_bench pinned before each of them.
    def peers(self):
        wanted = peers_measure.Options((), self.options.transports, self.options.turns, self.options.quick,
                                       not self.options.no_install)
        peer_rows, own_runs = peers_measure.compare(self.programs, PINNED, wanted, self.say, self.network_of_peers)
        self.figures.peer_rows = peer_rows
        for row in peer_rows:
            if row['value'] is None:
                self.say('peer %s %s %s: not measured: %s' % (row['peer'], row['transport'] or '', row['metric'] or '',
                                                              row['why']))
        for own in own_runs:
            self.figures.add(own, 'pinned')

    def private_network(self):
        # Our own servers listen on loopback addresses only.
        reason = network.enter_private_network()
        if reason:
            self.say(reason + '; measured on the loopback of this machine')

    def network_of_peers(self):
        reason = network.enter_private_network()
        if reason:
            raise Unavailable(reason + '; some peers listen on every interface, so they run in one of their own only: '
                              'run as root or allow user namespaces, or leave the peers out with --no-peers')

    def transports(self):
        wanted = [name for name in self.options.transports if self.needs('transport_bench', name)]
        for turn in range(self.options.turns):
            for placement in (UNPINNED,) if self.figures.peer_rows else (PINNED, UNPINNED):
                for transport in wanted:
                    self.say('transport_bench, turn %d: %s, %s' % (turn + 1, transport, placement.name))
                    self.attempt('transport_bench', transport, placement, lambda: ours.transport_bench(
                        self.programs, placement, ['--quick', '--transport', transport]))

    def attempt(self, bench, transport, placement, measure):
        try:
            with quiet.step():
                self.figures.add(measure(), placement.name)
        except Unavailable as error:
            self.reasons[bench, transport, placement.name] = str(error)
            self.say('%s over %s failed: %s' % (bench, transport, error))

    def hip_calls(self):
        quick = ['--quick'] if self.options.quick else []
        wanted = [name for name in self.options.transports if self.needs('hip_bench', name)]
        for turn in range(self.options.turns if wanted else 0):
            self.say('hip_bench, turn %d: native' % (turn + 1))
            for group in sorted(set(POSTS) & {group for name in wanted for group in self.groups(name)}):
                self.attempt('hip_bench', 'native', PINNED, lambda: ours.hip_bench(
                    self.programs, 'native', PINNED, None, ['--metric', group, *quick]))
            for transport in wanted:
                for placement in (PINNED, UNPINNED):
                    self.say('hip_bench, turn %d: %s, %s' % (turn + 1, transport, placement.name))
                    self.attempt('hip_bench', transport, placement,
                                 lambda: self.one_hip_bench(transport, placement, quick))

    def groups(self, transport):
        """What hip_bench must measure, run by run: metrics by their first word. All copies go in one run."""
        words = {spec.metric.split('_')[0] for spec in self.specs
                 if (spec.bench, spec.transport) == ('hip_bench', transport)}
        if words & set(COPIES):
            words = words - set(COPIES) | {','.join(COPIES), 'sync'}  # the round trip is part of a small copy's limit
        return sorted(words)

    def one_hip_bench(self, transport, placement, arguments):
        sizes = sorted({spec.bytes for spec in self.specs if spec.metric.split('_')[0] in COPIES
                        and spec.transport == transport})
        words = ['--sizes', ','.join(map(str, sizes)), *arguments] if sizes else arguments
        found = []
        with ours.Worker(self.programs, placement) as worker:
            for group in self.groups(transport):
                found += ours.hip_bench(self.programs, transport, placement, worker, ['--metric', group, *words])
        return found

    def watched(self):
        """The rows of keyed.py, loads.py and shares.py."""
        transports, turns, quick = self.options.transports, self.options.turns, self.options.quick
        if self.wants(keyed.ROW) and 'tcp' in transports:
            yield from keyed.lines(self.programs, turns, quick, self.say)
        if self.wants('idle session'):
            for transport in transports:
                self.say('idle session over ' + transport)
                with quiet.step():
                    yield from loads.idle(self.programs, transport, quick)
        if self.wants('processor time'):
            yield from loads.costs(self.programs, transports, self.figures, turns, self.say)
        if self.wants('threads posting'):
            yield from loads.threads(self.programs, transports, turns, quick, self.say)
        if self.wants('many clients'):
            yield from loads.clients(self.programs, transports, quick, self.say)
        if self.wants(shares.ROW):
            yield from shares.lines(self.programs, transports, turns, quick, self.say)


def everything(programs, options, say):
    """All lines of the table, as they become known."""
    run = Run(programs, options, say)
    if options.no_peers or not run.needs_peers():
        run.private_network()
    else:
        run.peers()
    run.transports()
    run.hip_calls()
    lines = figures_module.lines_of(run.figures, run.reasons, options.transports)
    yield from (line for line in lines if run.wants(line['row']))
    yield from run.watched()
    say('done' + (', of which %d s of waiting for the lock' % quiet.waited_s if quiet.waited_s else ''))
