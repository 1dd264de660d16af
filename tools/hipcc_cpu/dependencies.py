# SPDX-License-Identifier: Apache-2.0
"""Dependency files for Make and Ninja: clang's host compiler writes them, and what only the device's read is added."""
import re


def prerequisites(text):
    """The files that the first rule of a dependency file names, as they are spelled there."""
    rule = first_rule(text)
    words = re.findall(r'(?:\\.|[^\s\\])+', rule.partition(': ')[2].replace('\\\n', ' '))
    return words


def first_rule(text):
    """The first rule, without the end of its last line."""
    return re.match(r'(?:\\\n|[^\n])*', text).group(0)


def read(path):
    with open(path, encoding='utf-8', errors='surrogateescape') as file:
        return file.read()


def write(path, text):
    with open(path, 'w', encoding='utf-8', errors='surrogateescape') as file:
        file.write(text)


def merge(path, others, hidden):
    """Adds to the first rule of `path` what the files `others` name; nothing in the folder `hidden` is named."""
    text = read(path)
    rule = first_rule(text)
    kept = re.sub(r' \\\n +%s\S*' % re.escape(hidden), '', rule)
    known, added = set(prerequisites(text)), []
    for other in others:
        for word in prerequisites(read(other)):
            if word not in known and not word.startswith(hidden):
                known.add(word)
                added.append(word)
    made = kept + ''.join(' \\\n  ' + word for word in added)
    if made != rule:
        write(path, made + text[len(rule):])
