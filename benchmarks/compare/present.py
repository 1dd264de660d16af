# SPDX-License-Identifier: Apache-2.0
"""The lines of a run as a table for people."""
from harness import report
from harness.processes import PINNED

VERDICTS = {True: 'yes', False: 'NO', None: '-'}
HEAD = ('what', 'size', 'where', 'median', 'unit', 'limit', 'ratio', 'holds', 'target; limit; peers')


def peers_text(line):
    best = sorted(line['peers'].items(), key=lambda item: item[1], reverse=line['better'] == 'higher')
    return ', '.join('%s %s' % (name, report.number(value)) for name, value in best[:3])


def cells(line):
    if line['value'] is None:
        return ('  ' + line['metric'], report.size(line['bytes']), line['placement'], '-', line['unit'], '-', '-', '-',
                'not measured: ' + line['why'])
    remarks = [line['target'], line['limit_name'], peers_text(line), line.get('note', '')]
    return ('  ' + line['metric'], report.size(line['bytes']), line['placement'], report.number(line['value']),
            line['unit'], report.number(line['limit']), report.number(line['ratio']), VERDICTS[line['holds']],
            '; '.join(remark for remark in remarks if remark))


def table(lines):
    print('%s; unpinned: left to the kernel; limits always pinned; medians; ratio = median / limit' % PINNED)
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
