# SPDX-License-Identifier: Apache-2.0
"""What programs print, as figures: perftest, ucx_perftest, our benchmarks, GoogleTest. None: there is no figure.

Latencies are whole round trips in microseconds, bandwidths in GB/s (1e9 bytes).
"""
import json
import re

MIB = float(1 << 20)  # perftest's and UCX's MB
HEADING = re.compile(r'#\w+|t_\w+\[usec\]|[\d.]+% percentile\[usec\]|BW \w+\[[^\]]+\]|MsgRate\[[^\]]+\]')


def perftest_row(text):
    """{column: number} of the last row under a heading of perftest."""
    columns, row = None, None
    for line in text.splitlines():
        if line.lstrip().startswith('#bytes'):
            columns = HEADING.findall(line)
        elif columns:
            words = line.split()
            if words and all(re.fullmatch(r'[\d.]+', word) for word in words) and len(words) <= len(columns):
                row = dict(zip(columns, map(float, words)))
    return row


def perftest_round_trip(text):
    """Of ib_write_lat and ib_send_lat, which tell half of it: the typical one, as perftest calls its median."""
    row = perftest_row(text)
    return 2 * row['t_typical[usec]'] if row and 't_typical[usec]' in row else None


def perftest_bandwidth(text):
    row = perftest_row(text)
    return row['BW average[MB/sec]'] * MIB / 1e9 if row and 'BW average[MB/sec]' in row else None


def ucx_row(text):
    """{column: text} of the last row that `ucx_perftest -f -v` printed."""
    lines = [line for line in text.splitlines() if line.count(',') >= 7]
    if len(lines) < 2:
        return None
    return dict(zip(lines[0].split(','), (word.strip() for word in lines[-1].split(','))))


def ucx_number(text, column, factor):
    row = ucx_row(text)
    try:
        return float(row[column]) * factor if row else None
    except (KeyError, ValueError):
        return None


def ucx_round_trip(text):
    """tag_lat tells half of it."""
    return ucx_number(text, '50.0_percentile_lat', 2)


def ucx_bandwidth(text):
    return ucx_number(text, 'overall_bw', MIB / 1e9)


def our_rows(text):
    """The JSON rows of our benchmarks: {(metric, bytes): {'value', 'p50', 'unit'}}."""
    rows = {}
    for line in text.splitlines():
        if not line.startswith('{'):
            continue
        try:
            row = json.loads(line)
            rows[(row['metric'], row['bytes'])] = {'value': float(row['value']), 'p50': float(row['p50']),
                                                   'unit': row['unit']}
        except (ValueError, KeyError, TypeError):
            continue
    return rows


def our_round_trip(text, metric='round_trip', size=64):
    """The median of single trips, as of the others."""
    found = our_rows(text).get((metric, size))
    return found['p50'] / {'ns': 1e3, 'us': 1}[found['unit']] if found and found['unit'] in ('ns', 'us') else None


def our_bandwidth(text, metric, size):
    found = our_rows(text).get((metric, size))
    return found['value'] if found and found['unit'] == 'GB/s' else None


def gtest_counts(text):
    """{'passed', 'failed', 'skipped': numbers, 'names': failed tests, 'running': the one that never ended}."""
    counts = {'passed': 0, 'failed': 0, 'skipped': 0, 'names': [], 'running': None}
    running = []  # a test may run others in a process of their own
    for line in text.splitlines():
        match = re.match(r'\[\s+(RUN|OK|FAILED|SKIPPED)\s+\] (\S+?)(?:,.*)?(?: \(\d+ ms\))?$', line)
        if match is None or '.' not in match.group(2):
            continue
        word, test = match.groups()
        if word == 'RUN':
            running.append(test)
        elif test in running:
            del running[running.index(test):]
            if running:
                continue  # the outer one's business
            counts[{'OK': 'passed', 'FAILED': 'failed', 'SKIPPED': 'skipped'}[word]] += 1
            if word == 'FAILED':
                counts['names'].append(test)
    counts['running'] = running[-1] if running else None
    return counts


def gtest_tests(text):
    """How many tests --gtest_list_tests names."""
    return sum(1 for line in text.splitlines() if line.startswith('  '))
