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


def split_top(text):
    """Splits at the commas that are in no bracket."""
    parts, depth, start, quoted = [], 0, 0, False
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in '([{<':
            depth += 1
        elif c in ')]}>':
            depth -= 1
        elif c == ',' and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    if text[start:].strip():
        parts.append(text[start:].strip())
    return parts


def closing(text, opening):
    """Index of the bracket that closes the one at `opening`."""
    depth, quoted = 0, False
    for i in range(opening, len(text)):
        c = text[i]
        if c == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif c in '([{<':
            depth += 1
        elif c in ')]}>':
            depth -= 1
            if depth == 0:
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
