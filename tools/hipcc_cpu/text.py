# SPDX-License-Identifier: Apache-2.0
"""LLVM IR as text: names, brackets, types."""
import re

NAME = r'(?:"(?:[^"]*)"|[-\w$.]+)'


class Unsupported(Exception):
    """The source uses something that has no meaning on the host's cores."""


def unquote(name):
    return name[1:-1] if name.startswith('"') else name


def quote(name):
    return '"%s"' % name


def outside_strings(text, start=0):
    """Each character from `start` on that is in no string, with its index and how many brackets are open behind it."""
    depth, quoted = 0, False
    for i in range(start, len(text)):
        c = text[i]
        if c == '"':
            quoted = not quoted
        if quoted:
            continue
        depth += (c in '([{<') - (c in ')]}>')
        yield i, c, depth


def split_top(text):
    """Splits at the commas that are in no bracket."""
    parts, start = [], 0
    for i, c, depth in outside_strings(text):
        if c == ',' and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    if text[start:].strip():
        parts.append(text[start:].strip())
    return parts


def closing(text, opening):
    """Index of the bracket that closes the one at `opening`."""
    for i, c, depth in outside_strings(text, opening):
        if depth == 0 and c in ')]}>':
            return i
    raise Unsupported('unbalanced IR: ' + text[:80])


def take_type(text):
    """The IR type at the start of `text`."""
    if text[0] in '[{<':
        end = closing(text, 0) + 1
    else:
        match = re.match(r'%' + NAME + r'|[\w.]+', text)
        end = match.end()
    while True:
        rest = text[end:]
        if rest.startswith('*'):
            end += 1
        elif re.match(r'\s*\(', rest):  # function type, only ever behind a pointer
            end += closing(rest, rest.index('(')) + 1
        else:
            return text[:end]
