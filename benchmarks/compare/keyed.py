# SPDX-License-Identifier: Apache-2.0
"""What keys cost: tcp at each level beside tcp in clear, what encryption itself costs, and other people's tunnels.

Everything pinned; encrypted copies unpinned as well, since only then other threads can help to encrypt."""
import statistics

from harness import ours, quiet
from harness.processes import PINNED, UNPINNED, Unavailable, run

from . import figures as figures_module
from . import rows, tunnels

ROW = 'tcp with keys'
LEVELS = ('encrypt', 'auth')
PEERS = {'ssh -L': tunnels.through_ssh, 'stunnel': tunnels.through_stunnel}
CLEAR = 'clear'
WAYS = {CLEAR: tunnels.in_clear, **dict.fromkeys(LEVELS, tunnels.keyed), **PEERS}
BYTES = 64 * rows.MIB
CALL, LAUNCH, COPIES = ('sync_call', 0), ('launch_drained', 0), (('h2d_pinned', BYTES), ('d2h_pinned', BYTES))
BULK = ('h2d,d2h', '--sizes', str(BYTES))
GROUPS = {PINNED: (('sync',), ('launch',), BULK), UNPINNED: (BULK,)}
# Levels and peers are measured beside what is in clear.
MEASURED = {PINNED: tuple(WAYS), UNPINNED: (CLEAR, 'encrypt')}
ADDED_NS = 2000  # by which a synchronous call may be longer
SLOWER = 'AEAD or in clear'  # of one core, in the same turn, whichever is slower


def figures_of(programs, way, placement, quick):
    """(metric, bytes) -> value, of one way."""
    found = {}
    with quiet.step(), WAYS[way](programs, way, placement) as environment:
        for group in GROUPS[placement]:
            words = [programs.path('hip_bench'), '--json', '--label', 'tcp', '--metric', *group]
            text, _ = run(words + (['--quick'] if quick else []), placement.client, environment, timeout_s=300)
            found.update({(row['metric'], row['bytes']): row['value'] for row in ours.json_lines(text)})
    return found


class Turns:
    """What every turn gave: a list of dictionaries for each way, and why a way gave nothing."""

    def __init__(self, placement):
        self.placement, self.found, self.reasons, self.aead = placement, {}, {}, []

    def take(self, programs, quick, say, turn):
        for way in MEASURED[self.placement]:
            if way in self.reasons:
                continue  # what failed once is not tried again
            say('keys, turn %d: %s, %s' % (turn + 1, way, self.placement.name))
            try:
                self.found.setdefault(way, []).append(figures_of(programs, way, self.placement, quick))
            except Unavailable as error:
                self.reasons[way] = str(error)
                say('%s: not measured: %s' % (way, error))
        try:
            self.aead.append(tunnels.aead_gb_per_s())
        except Unavailable as error:
            say('no figure of encryption itself: %s' % error)

    def values(self, way, key):
        return [figures[key] for figures in self.found.get(way, ()) if key in figures]

    def slower(self, key):
        """What encrypted copies can reach: encryption itself, or the lane, one for each turn."""
        return [min(pair) for pair in zip(self.aead, self.values(CLEAR, key))]

    def pairs(self, way, key, limits):
        return list(zip(self.values(way, key), limits))

    def peers(self, key):
        """Peer -> median."""
        return {name: statistics.median(self.values(name, key)) for name in PEERS if self.values(name, key)}


def added(turns, way):
    """Nanoseconds that a synchronous call is longer than in clear, one for each turn."""
    return [own - clear for own, clear in turns.pairs(way, CALL, turns.values(CLEAR, CALL))]


def line(turns, level, key, unit, target, limits, limit_name):
    metric = '%s_%s' % (key[0], level)
    spec = rows.Spec(ROW, 'hip_bench', 'tcp', metric, key[1], unit, target)
    pairs = turns.pairs(level, key, limits)
    if not pairs:
        why = turns.reasons.get(level, 'no figure to compare with')
        return figures_module.not_measured(spec, turns.placement.name, why)
    value, limit = (statistics.median(side) for side in zip(*pairs))
    ratio = statistics.median(own / other for own, other in pairs)
    return figures_module.line(spec, turns.placement.name, value, limit, limit_name, ratio, turns.peers(key))


def call_line(turns, level):
    target = rows.Target(rows.LOWER, value=ADDED_NS, ahead=True)
    spec = rows.Spec(ROW, 'hip_bench', 'tcp', 'sync_call_added_' + level, 0, 'ns', target)
    values = added(turns, level)
    if not values:
        why = turns.reasons.get(level, 'no figure in clear')
        return figures_module.not_measured(spec, turns.placement.name, why)
    peers = {name: statistics.median(added(turns, name)) for name in PEERS if added(turns, name)}
    return figures_module.line(spec, turns.placement.name, statistics.median(values), ADDED_NS, 'allowed',
                               statistics.median(values) / ADDED_NS, peers)


def copy_line(turns, level, key):
    encrypts = level == 'encrypt'
    limits = turns.slower(key) if encrypts else turns.values(CLEAR, key)
    return line(turns, level, key, 'GB/s', rows.Target(rows.HIGHER, ratio=0.9, ahead=True), limits,
                SLOWER if encrypts else 'tcp in clear')


def lines(programs, count, quick, say):
    pinned, unpinned = Turns(PINNED), Turns(UNPINNED)
    for turn in range(count):
        for turns in (pinned, unpinned):
            turns.take(programs, quick, say, turn)
    for level in LEVELS:
        yield call_line(pinned, level)
        yield line(pinned, level, LAUNCH, '1/s', rows.Target(rows.HIGHER, ratio=0.5, ahead=True),
                   pinned.values(CLEAR, LAUNCH), 'tcp in clear')
        for turns in (pinned, unpinned):
            if level in MEASURED[turns.placement]:
                yield from (copy_line(turns, level, key) for key in COPIES)
