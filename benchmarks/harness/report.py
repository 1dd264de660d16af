# SPDX-License-Identifier: Apache-2.0
"""Numbers and tables for people, progress on standard error."""
import sys
import time

STARTED = time.monotonic()


def say(text):
    """One line of progress, with the seconds since the start."""
    print('[%4d s] %s' % (time.monotonic() - STARTED, text), file=sys.stderr, flush=True)


def number(value):
    if value is None:
        return '-'
    if abs(value) >= 1e6:
        return '%.3g million' % (value / 1e6)
    if abs(value) >= 1000:
        return '%.0f' % value
    return '%.3g' % value


def unit(name):
    """Units as people say them."""
    return 'a second' if name == '1/s' else name


BETTER = 'better is less of ns, us and seconds, and more of bytes and anything else a second'


def size(count):
    if not count:
        return ''
    for unit in ('B', 'KiB', 'MiB', 'GiB'):
        if count < 1024 or count % 1024 or unit == 'GiB':
            return '%d %s' % (count, unit)
        count //= 1024
    return str(count)


def table(head, rows):
    """Lines of a table: the first column left, numbers right, the last left."""
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    lines = []
    for row in cells:
        parts = [cell.ljust(width) if column in (0, len(head) - 1) else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        lines.append('  '.join(parts).rstrip())
    return '\n'.join(lines)
