# SPDX-License-Identifier: Apache-2.0
"""Rows as a table of text."""


def figure(value):
    return f'{value:.4g}' if isinstance(value, float) else str(value)


def table(rows, columns):
    """Prints `rows`, dictionaries, under the names of `columns`; '-' where a row has no such value."""
    lines = [columns] + [[figure(row.get(c, '-')) for c in columns] for row in rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(columns))]
    for line in lines:
        print('  '.join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip())
