# SPDX-License-Identifier: Apache-2.0
"""Rows that somebody must watch from outside: idle sessions, processor time, posting threads, many clients."""
import statistics
import time

from harness import ours, quiet
from harness.processes import PINNED, UNPINNED, Unavailable
from peers import peer

from . import figures as figures_module
from . import rows

SETTLE_S = 1.0
CLIENT_COUNTS = (1, 4, 16, 64)
THREAD_COUNTS = (1, 2, 4)
THREAD_NOISE = 0.05
IDLE_LIMIT_PERCENT = 0.1
# What is charged per unit: load, arguments, how many, what the peers call it.
COST_LOADS = (
    ('calls', [], 100_000, 'cpu_per_million_calls', (peer.ROUND_TRIP, 64)),
    ('posts', [], 1_000_000, 'cpu_per_million_posts', (peer.ONE_WAY, 64)),
    ('h2d', ['--bytes', str(64 * rows.MIB)], 24, 'cpu_per_gib_h2d_pinned', (peer.BULK, 64 * rows.MIB)),
    ('d2h', ['--bytes', str(64 * rows.MIB)], 24, 'cpu_per_gib_d2h_pinned', (peer.BULK, 64 * rows.MIB)),
    ('h2d', ['--bytes', str(64 * rows.MIB), '--pageable'], 24, 'cpu_per_gib_h2d_pageable', (peer.BULK, 64 * rows.MIB)),
    ('d2h', ['--bytes', str(64 * rows.MIB), '--pageable'], 24, 'cpu_per_gib_d2h_pageable', (peer.BULK, 64 * rows.MIB)),
)


def spec_of(row, transport, metric, unit, target, size=0):
    return rows.Spec(row, 'hip_load', transport, metric, size, unit, target)


def idle(programs, transport, quick):
    """Percent of a core that a connected, idle client and everything of the worker use, from one second on."""
    seconds = 3 if quick else 10
    used = {}
    with ours.Worker(programs, UNPINNED) as worker:
        load = ours.HipLoad(programs, transport, UNPINNED, worker, ['idle', '--seconds', str(seconds + 5)])
        try:
            load.wait_until_ready()
            load.go()
            time.sleep(SETTLE_S)
            started = time.monotonic()
            before = load.cpu_seconds(), worker.cpu_seconds()
            time.sleep(seconds)
            after = load.cpu_seconds(), worker.cpu_seconds()
            elapsed = time.monotonic() - started
        finally:
            load.process.end()
            load.end()
    for side, then, now in zip(('client', 'worker'), before, after):
        used[side] = 100 * (now - then) / elapsed
    target = rows.Target(rows.LOWER, value=IDLE_LIMIT_PERCENT)
    return [figures_module.line(spec_of('idle session', transport, 'idle_cpu_' + side, '% of a core', target),
                                'unpinned', value, IDLE_LIMIT_PERCENT, 'allowed', value / IDLE_LIMIT_PERCENT, {})
            for side, value in used.items()]


def cost_of(programs, transport, arguments, unit_amount):
    """Processor seconds of both sides per unit."""
    with quiet.step():
        return cost_now(programs, transport, arguments, unit_amount)


def cost_now(programs, transport, arguments, unit_amount):
    worker = None if transport == 'native' else ours.Worker(programs, PINNED)
    try:
        load = ours.HipLoad(programs, transport, PINNED, worker, arguments)
        try:
            load.wait_until_ready()
            before = worker.rest() if worker else 0
            load.go()
            result = load.figures()
            other_side = worker.cpu_seconds() - before if worker else 0
        finally:
            load.end()
    finally:
        if worker:
            worker.end()
    return (result['cpu_seconds'] + other_side) / unit_amount(result)


def costs(programs, transports, figures, turns, say):
    """Processor time per GiB and per million calls, both sides together, beside native and the peers."""
    found = {}
    for load, arguments, count, metric, peers_metric in COST_LOADS:
        per_gib = metric.startswith('cpu_per_gib')
        field = 'cpu_s_per_gib' if per_gib else 'cpu_s_per_million'
        words = [load, '--count', str(count), *arguments]

        def amount(result, per_gib=per_gib):
            return result['bytes'] / rows.GIB if per_gib else result['operations'] / 1e6

        say('processor time: %s' % metric)
        native = statistics.median(cost_of(programs, 'native', words, amount) for _ in range(turns))
        for transport in transports:
            peers = figures.peers(transport, *peers_metric, field=field)
            spec = spec_of('processor time', transport, metric, 's/GiB' if per_gib else 's/million',
                           rows.Target(rows.LOWER, ahead=True), 64 * rows.MIB if per_gib else 0)
            found[transport, metric] = cost_line(spec, native, peers, lambda: statistics.median(
                cost_of(programs, transport, words, amount) for _ in range(turns)))
    return [found[key] for key in sorted(found, key=lambda key: transports.index(key[0]))]


def cost_line(spec, native, peers, measure):
    try:
        value = measure()
    except Unavailable as error:
        return figures_module.not_measured(spec, 'pinned', str(error))
    line = figures_module.line(spec, 'pinned', value, native, 'native runtime', value / native, peers)
    if not peers:
        line.update(holds=None, note='no peer was measured')
    return line


def thread_rate(programs, transport, threads, seconds):
    worker = None if transport == 'native' else ours.Worker(programs, UNPINNED)
    try:
        load = ours.HipLoad(programs, transport, UNPINNED, worker,
                            ['threads', '--threads', str(threads), '--seconds', str(seconds)])
        try:
            load.wait_until_ready()
            load.go()
            result = load.figures()
        finally:
            load.end()
    finally:
        if worker:
            worker.end()
    return result['operations'] / result['seconds']


def threads(programs, transports, turns, quick, say):
    """Total rate of 1, 2 and 4 threads; the limit of each is the best rate of fewer threads."""
    lines, rates = [], {}
    for transport in ('native', *transports):
        say('threads posting: ' + transport)
        for count in THREAD_COUNTS:
            with quiet.step():
                rates[transport, count] = statistics.median(
                    thread_rate(programs, transport, count, 0.5 if quick else 1) for _ in range(turns))
    for transport in transports:
        for count in THREAD_COUNTS:
            fewer = [rates[transport, one] for one in THREAD_COUNTS if one < count]
            limit = max(fewer) if fewer else None
            rate = rates[transport, count]
            target = rows.at_least(1 - THREAD_NOISE) if fewer else rows.REPORTED_HIGH
            spec = spec_of('threads posting', transport, '%d_threads' % count, '1/s', target)
            found = figures_module.line(spec, 'unpinned', rate, limit, 'fewer threads' if limit else '',
                                        rate / limit if limit else None, {'native': rates['native', count]})
            if fewer:
                found['note'] = 'does not fall: %g of noise allowed' % THREAD_NOISE
            lines.append(found)
    return lines


def client_seconds(count, quick):
    """So long that every client has had some hundred turns of a processor, or luck alone would tell them apart."""
    return (2 if quick else 4) * (3 if count > 16 else 1)


def run_together(loads, seconds):
    """Figures of loads that run at the same time; ends them."""
    try:
        for load in loads:
            load.wait_until_ready(60)
        for load in loads:
            load.go()
        return [load.figures(60 + seconds) for load in loads]
    finally:
        for load in loads:
            load.end()


def run_clients(programs, transport, count, seconds):
    """Figures of `count` clients that run at the same time on one worker."""
    with ours.Worker(programs, UNPINNED, ['--sessions-max', str(2 * max(CLIENT_COUNTS))]) as worker:
        words = ['steps', '--seconds', str(seconds)]
        return run_together([ours.HipLoad(programs, transport, UNPINNED, worker, words) for _ in range(count)], seconds)


def max_over_min(results):
    steps = [result['operations'] for result in results]
    return max(steps) / max(1, min(steps))


def kernel_shares(programs, count, seconds):
    """How unequal the kernel alone makes `count` processes that compute, and pairs that wait for each other."""
    found = {}
    for load, name in (('compute', 'kernel, computing'), ('turns', 'kernel, pairs')):
        words = [load, '--seconds', str(seconds)]
        with quiet.step():
            loads = [ours.HipLoad(programs, 'native', UNPINNED, None, words) for _ in range(count)]
            found[name] = max_over_min(run_together(loads, seconds))
    return found


def clients(programs, transports, quick, say):
    """Ten posts and a wait, over and over, by 1 to 64 processes."""
    lines, kernel = [], {}
    for count in CLIENT_COUNTS[1:]:
        say('%d processes without HIP' % count)
        try:
            kernel[count] = kernel_shares(programs, count, client_seconds(count, quick))
        except Unavailable as error:
            say('the kernel\'s own shares: ' + str(error))
    for transport in transports:
        for count in CLIENT_COUNTS:
            say('%d clients on one worker over %s' % (count, transport))
            metric = '%d_clients' % count
            fair = spec_of('many clients', transport, metric + '_max_over_min', 'x', rows.Target(rows.LOWER, value=1.5))
            tail = spec_of('many clients', transport, metric + '_step_p99', 'ns', rows.REPORTED_LOW)
            try:
                with quiet.step():
                    results = run_clients(programs, transport, count, client_seconds(count, quick))
            except Unavailable as error:
                lines += [figures_module.not_measured(spec, 'unpinned', str(error)) for spec in (fair, tail)]
                continue
            spread = max_over_min(results)
            if count > 1:
                lines.append(figures_module.line(fair, 'unpinned', spread, 1.0, 'equal shares', spread,
                                                 kernel.get(count, {})))
            p99 = max(result['p99_ns'] for result in results)
            share = count * statistics.median(result['p50_ns'] for result in results)
            lines.append(figures_module.line(tail, 'unpinned', p99, None, '', None, {}))
            lines[-1]['note'] = 'worst of the clients; median step %.3g ns' % (share / count)
    return lines
