# SPDX-License-Identifier: Apache-2.0
"""What the runs gave, by what was measured, and the lines that follow from it."""
import statistics

from . import rows


class Figures:
    """Rows of any number of runs; a figure is the median over the runs."""

    def __init__(self):
        self._runs = {}
        self.peer_rows = []

    def add(self, run_rows, placement):
        lines = [row['value'] for row in run_rows if (row['transport'], row['metric']) == ('raw', 'round_trip')]
        for row in run_rows:
            if lines and row['metric'] == 'round_trip':
                row['two_lines'] = lines[0]
            key = (row['bench'], row['transport'], placement, row['metric'], row['bytes'])
            self._runs.setdefault(key, []).append(row)

    def runs(self, bench, transport, placement, metric, size):
        return self._runs.get((bench, transport, placement, metric, size), [])

    def median(self, bench, transport, placement, metric, size, field='value'):
        values = [row[field] for row in self.runs(bench, transport, placement, metric, size)
                  if row.get(field) is not None]
        return statistics.median(values) if values else None

    def peers(self, transport, metric, size, field='value'):
        """Peer -> its figure; peers that cannot measure this are left out."""
        return {row['peer']: row[field] for row in self.peer_rows
                if (row['transport'], row['metric'], row['bytes']) == (transport, metric, size)
                and row.get(field) is not None}


def line(spec, placement, value, limit, limit_name, ratio, peers):
    """One line of the result."""
    verdict = rows.holds(spec.target, value, ratio, peers)
    result = {'row': spec.row, 'bench': spec.bench, 'transport': spec.transport, 'metric': spec.metric,
              'bytes': spec.bytes, 'value': value, 'unit': spec.unit, 'limit': limit, 'limit_name': limit_name,
              'ratio': ratio, 'better': spec.target.better, 'target': rows.text(spec.target), 'holds': verdict,
              'peers': peers, 'placement': placement}
    if spec.row in rows.NOTES:
        result['note'] = rows.NOTES[spec.row]
    return result


def not_measured(spec, placement, why):
    result = line(spec, placement, 0, None, '', None, {})
    result.update(value=None, holds=None, why=why)
    return result


def lines_of(figures, reasons, transports):
    """A line for each row of the table and each placement. `reasons`: (transport, placement) -> why it was not run."""
    result = []
    for spec in rows.all_specs():
        for placement in spec.placements:
            runs = figures.runs(spec.bench, spec.transport, placement, spec.metric, spec.bytes)
            if spec.transport not in transports:
                result.append(not_measured(spec, placement, 'left out by --transport'))
            elif not runs:
                why = reasons.get((spec.bench, spec.transport, placement), 'the program printed no such figure')
                result.append(not_measured(spec, placement, why))
            else:
                result.append(measured(figures, spec, placement, runs))
    return result


def measured(figures, spec, placement, runs):
    peers = figures.peers(spec.transport, *spec.peers) if spec.peers else {}
    # A ratio is taken within each run, where value and limit are neighbours in time.
    triples = [LIMITS[spec.limit](figures, spec, placement, row) for row in runs]
    value = statistics.median(triple[0] for triple in triples)
    limits = [triple[1] for triple in triples if triple[1]]
    limit = statistics.median(limits) if limits else None
    ratio = statistics.median(triple[0] / triple[1] for triple in triples if triple[1]) if limits else None
    note = ''
    if spec.near:
        spec, note = as_near(figures, spec, placement)
    result = line(spec, placement, value, limit, triples[0][2], ratio, peers)
    if note:
        result['note'] = note
    result['spread'] = spread([triple[0] / triple[1] for triple in triples if triple[1]])
    return result


def as_near(figures, spec, placement):
    """The spec, without a target where cores are far from each other or nobody measured how far; and a note."""
    cost = figures.median('transport_bench', 'raw', placement, 'round_trip', 64)
    if cost is not None and cost < rows.NEAR_LINES_NS:
        return spec, ''
    here = 'here they cost %.0f' % cost if cost else 'that was not measured'
    note = '%s where two lines cost under %d ns; %s' % (rows.text(spec.target), rows.NEAR_LINES_NS, here)
    return spec._replace(target=rows.Target(spec.target.better)), note


def spread(ratios):
    """How far the turns are apart, as a share of their median: what the noise is, for tools/bench-gate."""
    if len(ratios) < 2 or not statistics.median(ratios):
        return None
    return round((max(ratios) - min(ratios)) / statistics.median(ratios), 3)


def own_limit(figures, spec, placement, row):
    """The limit that the program measured; where it has none, what the same call costs natively."""
    if row.get('limit'):
        return row['value'], row['limit'], row['limit_name']
    native = figures.median('hip_bench', 'native', 'pinned', spec.metric, spec.bytes)
    return row['value'], native, 'native runtime' if native else ''


def two_lines(figures, spec, placement, row):
    """A message there and an answer back, without software: each moves a line."""
    return row['value'], row.get('two_lines'), 'two cache lines'


def trip_and_memcpy(figures, spec, placement, row):
    """A small copy as a time: nothing can be faster than one round trip and one memcpy."""
    trip = figures.median('hip_bench', spec.transport, placement, 'sync_call', 0, 'limit')
    limit = trip + spec.bytes / row['limit'] if trip and row['limit'] else None
    return spec.bytes / row['value'], limit, 'cache-line ping-pong + memcpy'


LIMITS = {None: own_limit, 'two lines': two_lines, 'round trip and memcpy': trip_and_memcpy}
