# SPDX-License-Identifier: Apache-2.0
"""The table of targets: what is measured for each row, against which limit, and when it holds."""
import collections

from harness import report
from peers import peer

LOWER, HIGHER = 'lower', 'higher'
KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
BOTH = ('pinned', 'unpinned')
# What a message and its answer cost without software: two cache lines. Near cores need less than this.
NEAR_LINES_NS = 120
NOTES = {'shm posted records': 'Aeron IPC is not a Debian package and is not in this run'}

# ratio, value: the bound, or None. either: one of the two is enough. ahead: must also beat each peer that was measured.
Target = collections.namedtuple('Target', 'better ratio value ahead either', defaults=(None, None, False, False))
# peers: the metric of the peers to show beside it. limit: name of a rule in figures.py, or None for the program's own.
# near: the target counts where two lines cost less than NEAR_LINES_NS.
Spec = collections.namedtuple('Spec', 'row bench transport metric bytes unit target peers limit placements near',
                              defaults=(None, None, BOTH, False))


def at_most(ratio):
    return Target(LOWER, ratio=ratio)


def at_least(ratio):
    return Target(HIGHER, ratio=ratio)


REPORTED_LOW, REPORTED_HIGH = Target(LOWER), Target(HIGHER)


def text(target):
    """The target as people write it."""
    sign = '<=' if target.better == LOWER else '>='
    parts = []
    if target.ratio is not None:
        parts.append('ratio %s %g' % (sign, target.ratio))
    if target.value is not None:
        parts.append('value %s %s' % (sign, report.number(target.value)))
    if target.either:
        parts = [' or '.join(parts)]
    if target.ahead:
        parts.append('no worse than the best peer')
    return ', '.join(parts) or 'reported'


def holds(target, value, ratio, peers):
    """True, False, or None where there is nothing to hold."""
    verdicts = []
    compare = (lambda own, bound: own <= bound) if target.better == LOWER else (lambda own, bound: own >= bound)
    if target.ratio is not None:
        verdicts.append(ratio is not None and compare(ratio, target.ratio))
    if target.value is not None:
        verdicts.append(compare(value, target.value))
    if target.either:
        verdicts = [any(verdicts)]
    if target.ahead:
        verdicts += [compare(value, other) for other in peers.values() if other is not None]
    return all(verdicts) if verdicts else None


def synchronous_calls(transport, call_ratio, trip_ratio):
    row = transport + ' synchronous call'
    specs = [Spec(row, 'hip_bench', transport, metric, 0, 'ns', at_most(call_ratio), (peer.ROUND_TRIP, 64))
             for metric in ('sync_call', 'stream_query_busy', 'event_query_pending', 'stream_query', 'event_query')]
    limit = 'two lines' if transport == 'shm' else None
    specs.append(Spec(row, 'transport_bench', transport, 'round_trip', 64, 'ns', at_most(trip_ratio),
                      (peer.ROUND_TRIP, 64), limit))
    return specs


def stream_lives():
    """A stream made for four copies of 16 KiB, waited for and destroyed."""
    return [Spec('streams made and destroyed', 'hip_bench', transport, 'stream_create_copy_destroy', 16 * KIB, 'ns',
                 REPORTED_LOW) for transport in ('shm', 'tcp')]


def posted_calls():
    caller = Target(LOWER, value=60)
    specs = []
    for metric, size in (('launch', 0), ('event_record', 0), ('memset', 256)):
        specs.append(Spec('shm posted calls', 'hip_bench', 'shm', metric + '_caller', size, 'ns', caller, near=True))
        # Null operations are those that leave the device nothing to do. Nobody is quicker than the runtime itself.
        drained = REPORTED_HIGH if metric == 'memset' else Target(HIGHER, ratio=0.98, value=8e6, either=True)
        specs.append(Spec('shm posted calls', 'hip_bench', 'shm', metric + '_drained', size, '1/s', drained,
                          (peer.ONE_WAY, 64)))
    for metric, size in (('launch', 0), ('event_record', 0), ('memset', 256)):
        drained = REPORTED_HIGH if metric == 'memset' else Target(HIGHER, value=2e6)
        specs.append(Spec('tcp posted calls', 'hip_bench', 'tcp', metric + '_drained', size, '1/s', drained,
                          (peer.ONE_WAY, 64)))
    return specs


def copies():
    specs = []
    for memory, ratio in (('pinned', 0.95), ('pageable', 0.9)):
        for size in (MIB, 64 * MIB, GIB):
            for way in ('h2d', 'd2h'):
                shown = (peer.BULK, size) if size < GIB else None
                specs.append(Spec('shm copies, %s memory' % memory, 'hip_bench', 'shm', '%s_%s' % (way, memory), size,
                                  'GB/s', at_least(ratio), shown))
                specs.append(Spec('tcp copies', 'hip_bench', 'tcp', '%s_%s' % (way, memory), size, 'GB/s',
                                  at_least(0.95), shown))
        for size in (4 * KIB, 64 * KIB):
            for way in ('h2d', 'd2h'):
                specs.append(Spec('shm small copies', 'hip_bench', 'shm', '%s_%s' % (way, memory), size, 'ns',
                                  at_most(1.5), None, 'round trip and memcpy'))
    return specs


def all_specs():
    """In the order of the table; what loads.py measures comes after these, as finished lines."""
    specs = synchronous_calls('shm', 1.6, 1.3)
    specs.append(Spec('shm posted records', 'transport_bench', 'shm', 'posted', 64, '1/s',
                      Target(HIGHER, value=25e6, ahead=True), (peer.ONE_WAY, 64)))
    specs += posted_calls() + stream_lives() + synchronous_calls('tcp', 1.25, 1.1) + copies()
    order = ('shm synchronous call', 'shm posted records', 'shm posted calls', 'streams made and destroyed',
             'shm copies, pinned memory',
             'shm copies, pageable memory', 'shm small copies', 'tcp synchronous call', 'tcp posted calls',
             'tcp copies')
    return sorted(specs, key=lambda spec: order.index(spec.row))
