# SPDX-License-Identifier: Apache-2.0
"""The lines of a run as a table for people, or as the tables of docs/performance-log.md."""
from harness import report
from harness.processes import PINNED

VERDICTS = {True: 'yes', False: 'NO', None: '-'}
PEERS_SHOWN = 2
HEAD = ('what', 'size', 'where', 'median', 'unit', 'limit', 'ratio', 'holds', 'target; limit; peers')


def peers_text(line):
    best = sorted(line['peers'].items(), key=lambda item: item[1], reverse=line['better'] == 'higher')
    return ', '.join('%s %s' % (name, report.number(value)) for name, value in best[:PEERS_SHOWN])


def cells(line):
    head = ('  ' + line['metric'], report.size(line['bytes']), line['placement'])
    unit = report.unit(line['unit'])
    if line['value'] is None:
        return (*head, '-', unit, '-', '-', '-', 'not measured: ' + line['why'])
    remarks = [line['target'], line['limit_name'], peers_text(line), line.get('note', '')]
    return (*head, report.number(line['value']), unit, report.number(line['limit']), report.number(line['ratio']),
            VERDICTS[line['holds']], '; '.join(remark for remark in remarks if remark))


def table(lines):
    print('%s; unpinned: left to the kernel; limits always pinned; medians; ratio = median / limit' % PINNED)
    print(report.BETTER)
    rows, last = [], None
    for line in lines:
        title = '%s (%s)' % (line['row'], line['transport'])
        if title != last:
            rows.append((title,) + ('',) * (len(HEAD) - 1))
            last = title
        rows.append(cells(line))
    print(report.table(HEAD, rows))
    held = [line['holds'] for line in lines]
    print('%d hold, %d do not, %d are reported only or not measured' % (held.count(True), held.count(False),
                                                                       held.count(None)))


MARKDOWN_HEAD = ('what', 'pinned / unpinned', 'limit', 'ratio, pinned / unpinned', 'target', 'holds', 'best peers')


def pair(placements, field):
    """The figures of both placements as "a / b", of one as "a"."""
    show = VERDICTS.get if field == 'holds' else report.number
    return ' / '.join(show(placements[name][field]) for name in ('pinned', 'unpinned') if name in placements)


def markdown_cells(placements):
    measured = [line for line in placements.values() if line['value'] is not None]
    line = (measured or list(placements.values()))[0]
    what = line['metric'].replace('_', ' ')
    if line['bytes'] and not what.startswith('cpu'):
        what += ' ' + report.size(line['bytes'])
    what = line['transport'] + ': ' + what
    if line['value'] is None:
        return (what, 'not measured: ' + line['why'], '', '', line['target'], '', '')
    limit = '%s %s' % (report.number(line['limit']), line['limit_name']) if line['limit'] else '-'
    value = '%s %s' % (pair(placements, 'value'), report.unit(line['unit']))
    return (what, value, limit, pair(placements, 'ratio'), line['target'], pair(placements, 'holds').lower(),
            peers_text(line))


def markdown(lines):
    """One table a row of the targets; the placements of a figure side by side."""
    tables = {}
    for line in lines:
        figures = tables.setdefault(line['row'], {})
        key = (line['transport'], line['metric'], line['bytes'])
        figures.setdefault(key, {})[line['placement']] = line
    for row, figures in tables.items():
        print("\n### %s\n\n`benchmarks/compare/run --only '%s'`\n" % (row, row))
        for cells in (MARKDOWN_HEAD, ('---',) * len(MARKDOWN_HEAD), *map(markdown_cells, figures.values())):
            print('| %s |' % ' | '.join(cells))
