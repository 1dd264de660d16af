# SPDX-License-Identifier: Apache-2.0
"""The description as C++ constants: programs.h for those who parse, variables.h for those who read variables."""
import re

from . import screens

HEAD = '''// Made by docs/reference/make.py from reference.toml. Do not edit.
#pragma once

#include "docs/reference/description.h"
'''


def literal(text):
    """A C++ string literal, a line of source for each line of text."""
    lines = [one.replace('\\', '\\\\').replace('"', '\\"') for one in text.split('\n')]
    return '\n    '.join('"%s%s"' % (one, '\\n' if i + 1 < len(lines) else '') for i, one in enumerate(lines)
                         if one or i + 1 < len(lines)) or '""'


def identifier(name):
    return 'k' + ''.join(word.capitalize() for word in re.split('[^A-Za-z0-9]+', name) if word)


def space(name):
    return re.sub('[^A-Za-z0-9]+', '_', name)


def array(kind, name, items):
    return 'inline constexpr %s %s[] = {%s};\n' % (kind, name, ', '.join(items)) if items else ''


def span(name, items):
    return name if items else '{}'


def option(one, index):
    prefix = identifier(one.name)
    text, names = '', {}
    for what, items in (('Words', one.words), ('With', one.needs), ('Without', one.excludes)):
        names[what] = span(prefix + what, items)
        text += array('std::string_view', prefix + what, [literal(item) for item in items])
    low, high = one.range or (0, 0)
    fields = ['.name = %s' % literal(one.name), ".letter = %s" % ("'%s'" % one.letter[1] if one.letter else "'\\0'"),
              '.value = %s' % literal(one.value), '.optional = %s' % str(one.optional).lower(),
              '.list = %s' % str(one.list).lower(), '.words = %s' % names['Words'],
              '.other = %s' % str(one.other).lower(), '.is_number = %s' % str(one.range is not None).lower(),
              '.least = %d' % low, '.most = %d' % high, '.variable = %s' % literal(one.variable),
              '.with = %s' % names['With'], '.without = %s' % names['Without']]
    return text, '    {%s}' % ',\n     '.join(fields), \
        'inline constexpr const Option& %s = kOptions[%d];\n' % (prefix, index)


def command(one, help_text):
    made = [option(each, index) for index, each in enumerate(one.options)]
    text = ''.join(words for words, _, _ in made)
    if made:
        text += 'inline constexpr Option kOptions[] = {\n%s};\n' % ',\n'.join(fields for _, fields, _ in made)
    text += ''.join(name for _, _, name in made)
    return text + 'inline constexpr Command kCommand = {\n    %s,\n    %s,\n    %s,\n    %s};\n' % (
        literal(one.name), literal(one.rest), 'kOptions' if made else '{}', literal(help_text))


def program(one, version):
    text = 'namespace %s {\n' % space(one.name)
    if one.commands:
        for each in one.commands:
            text += 'namespace %s {\n%s}  // namespace %s\n' % (
                space(each.name), command(each, screens.of_command(one, each)), space(each.name))
        text += array('Command', 'kCommands', [space(each.name) + '::kCommand' for each in one.commands])
    text += command(one, screens.of_program(one))
    text += 'inline constexpr Program kProgram = {%s, %s, kCommand, %s};\n' % (
        literal(one.name), literal(version), 'kCommands' if one.commands else '{}')
    return text + '}  // namespace %s\n' % space(one.name)


def programs(description, version):
    parts = [program(one, version) for one in description.programs if not one.own_parser]
    return HEAD + '\nnamespace tf::reference {\n\n%s\n}  // namespace tf::reference\n' % '\n'.join(parts)


def variables(description):
    rows = ',\n'.join('    {%s,\n     %s,\n     %s,\n     %s}' % tuple(
        literal(text) for text in (one.name, one.default, one.where, one.help)) for one in description.variables)
    return HEAD + '\nnamespace tf::reference {\n\ninline constexpr Variable kVariables[] = {\n%s};\n' % rows \
        + '\n}  // namespace tf::reference\n'
