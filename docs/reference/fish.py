# SPDX-License-Identifier: Apache-2.0
"""Completions for fish."""

COMMON = '''
function __hip_remote_addresses
    echo unix:
    string replace -r '^' unix: -- (__fish_complete_suffix .sock | string replace -r '\\t.*' '')
    __fish_print_hostnames
end
function __hip_remote_devices
    timeout 3 hip-remote info --list devices 2>/dev/null
end
'''


# Of a command that runs another one: true while that has not been named. $argv: options whose value is the next word.
BEFORE = '''
function __hip_remote_before_program
    set -l words (commandline -opc)[3..-1]
    while set -q words[1]
        if test "$words[1]" = -- || not string match -q -- '-*' $words[1]
            return 1
        end
        if contains -- $words[1] $argv
            set -e words[1]
        end
        set -e words[1]
    end
end
'''


def text(words):
    return "'%s'" % words.replace('\\', '\\\\').replace("'", "\\'")


def values(option):
    kind, _, suffix = option.complete.partition(':')
    if option.words and option.other:
        return ' -r -a %s' % text(' '.join(option.words))
    if option.words and option.list:
        return ' -x -a %s' % text('(__fish_append , %s)' % ' '.join(option.words))
    if option.words:
        return ' -x -a %s' % text(' '.join(option.words))
    return {'file': ' -r -F' if not suffix else ' -r -k -a %s' % text('(__fish_complete_suffix .%s)' % suffix),
            'directory': ' -x -a %s' % text('(__fish_complete_directories)'),
            'address': ' -x -a %s' % text('(__hip_remote_addresses)'),
            'user': ' -x -a %s' % text('(__fish_complete_list , __fish_complete_users)'),
            'group': ' -x -a %s' % text('(__fish_complete_list , __fish_complete_groups)'),
            'device': ' -x -a %s' % text('(__hip_remote_devices)')}.get(kind, ' -x')


def option_line(program, option, condition):
    line = 'complete -c %s%s' % (program.name, condition)
    for name in [option.name, *option.others]:
        if name.startswith('--'):
            line += ' -l ' + name[2:]
        else:
            line += (' -s ' if len(name) == 2 else ' -o ') + name[1:]
    if option.value and not option.optional:
        line += values(option)
    return line + ' -d ' + text(option.help) + '\n'


def script(program):
    head = '# fish completion for %s. Made by docs/reference/make.py from reference.toml.\n' % program.name
    made = head + COMMON + BEFORE
    first = " -n '__fish_use_subcommand'" if program.commands else ''
    if program.commands:
        made += 'complete -c %s -f\n' % program.name
    made += 'complete -c %s -s h -l help -d %s\n' % (program.name, text('show the help'))
    made += 'complete -c %s%s -l version -d %s\n' % (program.name, first, text('show the version'))
    for command in program.commands:
        made += 'complete -c %s%s -a %s -d %s\n' % (program.name, first, command.name, text(command.summary))
    for command in program.commands or [program]:
        seen = " -n '__fish_seen_subcommand_from %s'" % command.name if program.commands else ''
        at_options = seen
        if command.rest == 'program':
            next_word = [name for option in command.shown if option.takes_next
                         for name in (option.name, *option.others)]
            at_options = " -n '__fish_seen_subcommand_from %s; and __hip_remote_before_program %s'" % (
                command.name, ' '.join(next_word))
        made += ''.join(option_line(program, option, at_options) for option in command.shown)
        if command.rest == 'program':
            made += 'complete -c %s%s -a %s\n' % (program.name, seen, text('(__fish_complete_subcommand --fcs-skip=2)'))
        if command.rest == 'command':
            made += 'complete -c %s%s -a %s\n' % (program.name, seen,
                                                   text(' '.join(one.name for one in program.commands)))
    return made
