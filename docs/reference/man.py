# SPDX-License-Identifier: Apache-2.0
"""Manual pages (man macros)."""

PLACES = {
    'client': 'the library in the program', 'worker': 'hip-worker', 'cpu': 'the CPU runtime',
    'cuda': 'the CUDA runtime', 'hipcc-cpu': 'hipcc-cpu',
    'provider': 'the TensorFusion provider'}
READ_BY = {'hip-remote': {'client'}, 'smi-remote': {'client'}, 'hip-worker': {'worker', 'cpu', 'cuda'},
           'hipcc-cpu': {'hipcc-cpu'}}
ESCAPES = {'\\': '\\e', '-': '\\-', '^': '\\(ha', '~': '\\(ti', '`': '\\(ga'}


def quoted(text):
    """Text that roff prints as it is."""
    text = ''.join(ESCAPES.get(letter, letter) for letter in text)
    return '\\&' + text if text.startswith(('.', "'")) else text


def sentence(text):
    return quoted(text if text.startswith('hip-') else text[0].upper() + text[1:]) + '.'


def paragraph(text):
    return quoted(text) + '\n'


def head(name, section, date, version, summary):
    title = '%s %s %s "hip\\-remote %s" "hip\\-remote manual"' % (quoted(name.upper()), section, date, version)
    return '.\\" Made by docs/reference/make.py from reference.toml.\n.TH %s\n.SH NAME\n%s \\- %s\n' % (
        title, quoted(name), quoted(summary))


def option(one):
    names = '\\fB%s\\fR' % quoted(one.name)
    for other in one.others:
        names += ', \\fB%s\\fR' % quoted(other)
    if one.optional:
        names += '[\\fB=\\fI%s\\fR]' % quoted(one.value)
    elif one.value:
        names += '=' if one.equals else ' '
        names += '\\fI%s\\fR' % quoted(one.value)
    text = '.TP\n%s\n%s' % (names, sentence(one.help))
    if one.variable:
        text += '\nWhere it is not given, \\fB%s\\fR counts.' % quoted(one.variable)
    if one.excludes:
        text += '\nNot together with %s.' % ', '.join('\\fB%s\\fR' % quoted(name) for name in one.excludes)
    return text + '\n'


def options(command, version):
    text = ''.join(option(one) for one in command.shown)
    text += '.TP\n\\fB\\-\\-help\\fR, \\fB\\-h\\fR\nShow the help.\n'
    return text + ('.TP\n\\fB\\-\\-version\\fR\nShow the version.\n' if version else '')


def synopsis(name, forms):
    return ''.join('.br\n' * (i > 0) + '\\fB%s\\fR %s\n' % (quoted(name), quoted(form)) for i, form in enumerate(forms))


def exits(pairs):
    return ''.join('.TP\n%s\n%s\n' % (quoted(code), sentence(what)) for code, what in pairs)


def examples(pairs):
    text = ''
    for command, why in pairs:
        text += '.TP\n\\fB%s\\fR\n%s\n' % (quoted(command), quoted(why) if why else '\\&')
    return text


def command(program, one):
    text = '.SS %s %s\n' % (quoted(program.name), quoted(one.name))
    text += synopsis('%s %s' % (program.name, one.name), one.usage)
    text += '.PP\n' + sentence(one.summary) + '\n' + (paragraph(one.text) if one.text else '')
    text += options(one, False)
    if one.exits:
        text += '.PP\nExit status:\n' + exits(one.exits)
    return text + ('.PP\nExamples:\n' + examples(one.examples) if one.examples else '')


def variable(one):
    text = '.TP\n\\fB%s\\fR%s\n' % (quoted(one.name), ' (default: %s)' % quoted(one.default) if one.default else '')
    readers = ', '.join(PLACES[place] for place in one.where.split(', '))
    return text + '%s\nRead by %s.\n' % (sentence(one.help), quoted(readers))


def variables_of(made, program):
    """Those that the program, or what it starts in itself, reads."""
    return [one for one in made.variables if READ_BY.get(program.name, set()) & set(one.where.split(', '))]


def page(made, program, version):
    text = head(program.name, 1, made.date, version, program.summary)
    text += '.SH SYNOPSIS\n'
    if program.commands:
        forms = [(program.name + ' ' + one.name, form) for one in program.commands for form in one.usage]
    else:
        forms = [(program.name, form) for form in program.usage]
    text += '.br\n'.join('\\fB%s\\fR %s\n' % (quoted(name), quoted(form)) for name, form in forms)
    text += '.SH DESCRIPTION\n' + paragraph(program.text)
    if program.commands:
        text += '.SH COMMANDS\n' + ''.join(command(program, one) for one in program.commands)
    text += '.SH OPTIONS\n' + options(program, True)
    variables = ''.join(variable(one) for one in variables_of(made, program))
    text += '.SH ENVIRONMENT\n' + variables if variables else ''
    text += '.SH EXIT STATUS\n' + exits(program.exits)
    text += '.SH EXAMPLES\n' + examples(program.examples)
    return text + see(program.see)


def see(pages):
    names = [one.rstrip(')').split('(') for one in pages]
    return '.SH SEE ALSO\n' + ' ,\n'.join('.BR %s (%s)' % (quoted(name), section) for name, section in names) + '\n'


def environment(made, version):
    text = head('hip-remote-environment', 7, made.date, version, 'environment variables of hip-remote')
    text += '.SH DESCRIPTION\n' + paragraph(
        'hip-remote info prints the same table with the values in force. A variable that is set to nothing counts as '
        'unset. A value out of its range is an error that names the variable.')
    text += '.SH VARIABLES\n' + ''.join(variable(one) for one in made.variables)
    return text + see(['hip-remote(1)', 'hip-worker(1)', 'hipcc-cpu(1)'])
