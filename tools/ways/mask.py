# SPDX-License-Identifier: Apache-2.0
"""Masks what differs from run to run of the same program, so that outputs can be compared."""
import re

# In this order. What is replaced keeps its place: a line that is missing is still seen.
RULES = (
    (re.compile(r'\b0x[0-9a-fA-F]{5,}\b'), 'ADDRESS'),
    (re.compile(r'\b\d\d:\d\d:\d\d(\.\d+)?\b'), 'TIME'),
    (re.compile(r'\d+(\.\d+)?(e[-+]?\d+)? ?(ns|us|ms|s|sec|secs|seconds|[GM]i?B/s|[GT]?FLOPS?(/s)?)\b', re.I), 'TIME'),
    (re.compile(r'\b(pid|process|thread|tid)([ =:#]+)\d+', re.I), r'\1\2ID'),
    (re.compile(r'==\d+=='), '==ID=='),
    (re.compile(r'/tmp/[^\s:,"\']+'), 'FILE'),
)


def mask(text, more=()):
    """`text` without addresses, times and rates, process ids and names of temporary files; `more` are patterns of the
    caller's own."""
    for pattern, word in (*RULES, *((pattern, 'MASKED') for pattern in more)):
        text = pattern.sub(word, text)
    return text


def first_difference(one, other):
    """(line number, line of one, line of the other) where two texts differ first, or None."""
    ours, theirs = one.splitlines(), other.splitlines()
    for number in range(max(len(ours), len(theirs))):
        pair = [lines[number].strip() if number < len(lines) else '(end)' for lines in (ours, theirs)]
        if pair[0] != pair[1]:
            return number + 1, *pair
    return None
