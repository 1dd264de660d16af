# SPDX-License-Identifier: Apache-2.0
"""The texts of --help: 80 columns, plain."""
import textwrap

COLUMNS = 80
HELP_AT = 26  # column where the help of an option begins
HELP_OPTION = ('-h, --help', 'show this help')


def wrapped(text, indent=0):
    return textwrap.fill(text, COLUMNS, initial_indent=' ' * indent, subsequent_indent=' ' * indent,
                         break_long_words=False, break_on_hyphens=False)


def pair(left, right, at=HELP_AT):
    """A name and, from a fixed column on, what it means; on a line of its own where the name is too long."""
    lines = textwrap.wrap(right, COLUMNS - at, break_long_words=False, break_on_hyphens=False) or ['']
    head = '  ' + left
    if len(head) + 2 <= at:
        lines[0] = head.ljust(at) + lines[0]
    else:
        lines[0] = head + '\n' + ' ' * at + lines[0]
    return '\n'.join([lines[0]] + [' ' * at + one for one in lines[1:]]).rstrip()


def option_name(option):
    return '%s, %s' % (option.letter, option.usage) if option.letter else '    ' + option.usage


def sentence(text):
    return text[0].upper() + text[1:] + '.'


def usage(name, forms):
    return '\n'.join('%s %s %s' % ('usage:' if i == 0 else '      ', name, form) for i, form in enumerate(forms))


def examples(pairs):
    at = min(max(len(command) for command, _ in pairs) + 4, 46)
    return '\n'.join('  ' + command if not why else pair_or_below(command, why, at) for command, why in pairs)


def pair_or_below(command, why, at):
    one = '  ' + command.ljust(at - 2) + why
    return one if len('  ' + command) + 2 <= at and len(one) <= COLUMNS else '  %s\n      %s' % (command, why)


def exits(pairs):
    return '\n'.join(pair(code, what, 10) for code, what in pairs)


def body(command):
    return [sentence(command.summary)] + ([wrapped(command.text)] if command.text else [])


def options(command, more=()):
    rows = [pair(option_name(option), option.help) for option in command.shown]
    return 'options:\n' + '\n'.join(rows + [pair(left, right) for left, right in (HELP_OPTION, *more)])


def tail(command):
    parts = []
    if command.examples:
        parts.append('examples:\n' + examples(command.examples))
    if command.exits:
        parts.append('exit status:\n' + exits(command.exits))
    return parts


def of_program(program):
    version = ('    --version', 'show the version')
    parts = [usage(program.name, program.usage), *body(program)]
    if program.commands:
        parts.append('commands:\n' + '\n'.join(pair(one.name, one.summary, 12) for one in program.commands))
        parts.append('%s COMMAND --help describes each command.' % program.name)
    parts.append(options(program, (version,)))
    return '\n\n'.join(parts + tail(program)) + '\n'


def of_command(program, command):
    name = '%s %s' % (program.name, command.name)
    return '\n\n'.join([usage(name, command.usage), *body(command), options(command), *tail(command)]) + '\n'
