# SPDX-License-Identifier: Apache-2.0
"""Bandwidth and latency over size, ours and the peers', as two SVG files (drawn by bench_plot)."""
import json
import pathlib
import subprocess
import tempfile

from harness import ours, quiet
from harness.processes import Unavailable

from . import measure, peer

TRIP_SIZES = tuple(64 << shift for shift in range(10))  # to 32 KiB: messages have at most 64
BULK_SIZES = tuple(64 << 2 * shift for shift in range(12))  # 64 B to 256 MiB, each four times the last
KINDS = (('bandwidth', 'GB/s'), ('latency', 'ns'))
SHARE = 0.2
NOTES = {'GB/s': 'to 256 MiB: some peers hold several buffers of a size, and gRPC several copies',
         'ns': 'to 32 KiB: what is longer goes as payload'}


def own_rows(programs, placement, options):
    """transport_bench sweeps by itself; its rows carry the limits."""
    words = ['--trip-sizes', ','.join(str(size) for size in TRIP_SIZES[1:])]
    words += ['--bulk-sizes', ','.join(str(size) for size in BULK_SIZES)]
    words += [word for name in options.transports for word in ('--transport', name)]
    found = ours.transport_bench(programs, placement, words)
    return [dict(row, transport='hip-remote ' + row['transport'], metric='') for row in found
            if row['unit'] in ('GB/s', 'ns') and row['bytes'] <= max(BULK_SIZES)]


def peer_rows(one, transport, placement):
    for metric, sizes in ((peer.ROUND_TRIP, TRIP_SIZES), (peer.BULK, BULK_SIZES)):
        for size in sizes:
            try:
                figure = one.measure(transport, metric, size, placement, SHARE)
            except Unavailable:
                continue  # this size is none for it
            yield {'bench': 'peers', 'transport': '%s %s' % (one.name, transport), 'metric': '', 'bytes': size,
                   'value': figure.value, 'unit': peer.UNITS[metric], 'limit': None}


def draw(programs, path, title, unit, rows):
    text = '\n'.join(json.dumps(row, separators=(',', ':')) for row in rows)
    command = [programs.path('bench_plot'), '--title', title, '--unit', unit, '--note', NOTES[unit], path]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode != 0:
        raise Unavailable(done.stderr.strip())


def write(programs, placement, options, target, say):
    """Sweeps and writes a plot for each transport and kind; returns the files. Packages are there by now."""
    rows = {}
    with tempfile.TemporaryDirectory(prefix='hip-remote-peers-') as directory:
        ready, _ = measure.prepare(options, directory, say)
        say('sweep of sizes: hip-remote')
        with quiet.step():
            for row in own_rows(programs, placement, options):
                rows.setdefault(row['transport'].split()[-1], []).append(row)
        for one in ready:
            say('sweep of sizes: ' + one.name)
            for transport in [name for name in one.transports if name in options.transports]:
                with quiet.step():
                    rows.setdefault(transport, []).extend(peer_rows(one, transport, placement))
    files, base = [], pathlib.Path(target)
    for transport, found in rows.items():
        for kind, unit in KINDS:
            path = str(base.with_name('%s-%s-%s%s' % (base.stem, transport, kind, base.suffix or '.svg')))
            draw(programs, path, '%s over %s, %s' % (kind, transport, placement), unit, found)
            files.append(path)
    return files
