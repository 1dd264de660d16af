# SPDX-License-Identifier: Apache-2.0
"""Completions for zsh, by its _arguments."""

COMMON = r'''
_hip_remote_addresses() {
  _alternative 'hosts:host:_hosts' 'prefixes:Unix socket:(unix\:)' 'files:Unix socket:_files -P unix:'
}
_hip_remote_devices() {
  local -a devices
  devices=(${(f)"$(timeout 3 hip-remote info --list devices 2>/dev/null)"})
  devices=(${devices//$'\t'/:})
  _describe device devices
}
'''


def text(words):
    """Words inside of '...[HERE]': what zsh would read otherwise is escaped."""
    for letter in ('\\', ':', '[', ']'):
        words = words.replace(letter, '\\' + letter)
    return words.replace("'", "'\\''")


def action(option):
    kind, _, suffix = option.complete.partition(':')
    words = ' '.join(word.replace(':', '\\:') for word in option.words)
    if option.words and option.list:
        return '_values -s , %s %s' % (option.value.lower(), words)
    if option.words and option.other:
        return '_alternative "words\\:name\\:(%s)" "files\\:file\\:_files"' % words
    if option.words:
        return '(%s)' % words
    names = {'user': '_users', 'group': '_groups'}
    if option.complete in names:
        return '_sequence %s' % names[option.complete] if option.list else names[option.complete]
    return {'file': '_files -g "*.%s(-.)"' % suffix if suffix else '_files', 'directory': '_files -/',
            'address': '_hip_remote_addresses', 'device': '_hip_remote_devices'}.get(kind, ' ')


def specs(command):
    """The arguments of _arguments for the options of one command."""
    names = {option.name: [option.name, *option.others] for option in command.options}
    for option in command.shown:
        out = [name for other in option.excludes for name in names[other]]
        if not option.list:
            out += names[option.name]
        for name in names[option.name]:
            if not option.value:
                joint = ''
            elif option.optional or option.equals:
                joint = '=-'
            else:
                joint = '=' if name.startswith('--') else '+'
            spec = '%s%s[%s]' % (name, joint, text(option.help))
            if option.value:
                spec += ':%s%s:%s' % (':' if option.optional else '', option.value, action(option))
            yield "'%s%s'" % ('(%s)' % ' '.join(out) if out else '*', spec)
    for name in ('--help', '-h'):
        yield "'(- *)%s[show the help]'" % name


def rest(program, command):
    if command.rest == 'program':
        return ["'(-)1:program:_command_names -e'", "'*::argument:_normal'"]
    if command.rest == 'command':
        return ["'1:command:(%s)'" % ' '.join(one.name for one in program.commands)]
    return ["'*:file:_files'"] if command.rest == 'files' else []


def arguments(program, command, indent):
    version = [] if program.commands else ["'(- *)--version[show the version]'"]
    lines = [*specs(command), *version, *rest(program, command)]
    return (' \\\n' + indent + '  ').join([indent + '_arguments -s -S', *lines]) + '\n'


def script(program):
    made = '#compdef %s\n# Made by docs/reference/make.py from reference.toml.\n%s\n' % (program.name, COMMON)
    if not program.commands:
        return made + arguments(program, program, '')
    rows = '\n'.join("    '%s:%s'" % (one.name, text(one.summary)) for one in program.commands)
    cases = ''.join('    %s)\n%s      ;;\n' % (one.name, arguments(program, one, '      ')) for one in program.commands)
    return made + '''local curcontext=$curcontext state line
local -a commands
commands=(
%s
)
_arguments -C '(- *)'{-h,--help}'[show the help]' '(- *)--version[show the version]' \\
  '1:command:->command' '*::argument:->argument'
case $state in
  command) _describe command commands ;;
  argument)
    curcontext=${curcontext%%:*}-$line[1]:
    case $line[1] in
%s    esac ;;
esac
''' % (rows, cases.replace('\n    ', '\n      ').replace('    ', '      ', 1))
