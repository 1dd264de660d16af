# SPDX-License-Identifier: Apache-2.0
"""reference.toml as objects, checked: a word that nobody knows, or a name that leads nowhere, is refused."""
import pathlib
import tomllib

FILE = pathlib.Path(__file__).resolve().parent / 'reference.toml'
TRANSPORTS = FILE.parent.parent.parent / 'transport/factory/transports.txt'
# What shells offer for a value; "file:SUFFIX" also.
KINDS = ('file', 'directory', 'address', 'device', 'runtime', 'user', 'group')
OPTION_KEYS = {'names', 'value', 'help', 'words', 'other', 'range', 'list', 'optional', 'complete', 'variable', 'with',
               'without', 'hidden', 'equals'}
COMMAND_KEYS = {'name', 'summary', 'usage', 'text', 'rest', 'examples', 'exits', 'option'}
PROGRAM_KEYS = COMMAND_KEYS | {'command', 'see', 'parser', 'page'}
VARIABLE_KEYS = {'name', 'default', 'where', 'help'}
PLACES = {'client', 'worker', 'cpu', 'cuda', 'hipcc-cpu', 'provider'}


class Refused(Exception):
    """The description is wrong; the message says where and why."""


def expect(condition, where, what):
    if not condition:
        raise Refused('%s: %s' % (where, what))


def only(table, keys, where):
    expect(not set(table) - keys, where, 'unknown: ' + ', '.join(sorted(set(table) - keys)))


def line(text):
    """Text of several lines as one."""
    return ' '.join(text.split())


class Option:
    def __init__(self, table, where):
        only(table, OPTION_KEYS, where)
        expect(table.get('names') and line(table.get('help', '')), where, 'an option has names and help')
        self.name = table['names'][0]
        self.where = '%s %s' % (where, self.name)
        self.others = table['names'][1:]
        letters = [name for name in self.others if len(name) == 2]
        self.letter = letters[0] if letters else ''
        self.value = table.get('value', '')
        self.help = line(table['help'])
        self.words = table.get('words', [])
        self.other = table.get('other', False)
        self.range = table.get('range')
        self.list = table.get('list', False)
        self.optional = table.get('optional', False)
        self.equals = table.get('equals', False)  # the value stands behind "=" only
        self.complete = table.get('complete', '')
        self.variable = table.get('variable', '')
        self.needs, self.excludes = table.get('with', []), table.get('without', [])
        self.hidden = table.get('hidden', False)
        self.check()

    def check(self):
        expect(self.value or not (self.words or self.range or self.list or self.optional or self.complete), self.where,
               'a flag has no value to say anything of')
        kind, _, suffix = self.complete.partition(':')
        expect(not kind or kind in KINDS, self.where, 'complete = %s; known: %s' % (kind, ', '.join(KINDS)))
        expect(not suffix or kind == 'file', self.where, 'only files have a suffix')

    @property
    def takes_next(self):
        """Its value is the next word."""
        return bool(self.value) and not self.optional and not self.equals

    @property
    def usage(self):
        """--stats[=FILE]"""
        if self.optional:
            return '%s[=%s]' % (self.name, self.value)
        return self.name + (('=' if self.equals else ' ') + self.value if self.value else '')


class Command:
    """A command, or the program itself where it has none."""

    def __init__(self, table, where, keys=frozenset(COMMAND_KEYS)):
        only(table, keys, where)
        for key in ('name', 'summary', 'usage', 'text'):
            expect(key in table, where, 'there is no ' + key)
        self.name, self.summary, self.usage = table['name'], line(table['summary']), table['usage']
        self.text = line(table['text'])
        self.rest = table.get('rest', '')
        self.examples, self.exits = table.get('examples', []), table.get('exits', [])
        self.options = [Option(option, '%s %s' % (where, self.name)) for option in table.get('option', [])]
        names = [option.name for option in self.options]
        expect(len(names) == len(set(names)), where, 'an option comes twice')
        for option in self.options:
            for other in option.needs + option.excludes:
                expect(other in names, option.where, 'there is no ' + other)
        for option in self.options:  # told at both
            for other in option.excludes:
                partner = self.options[names.index(other)]
                if option.name not in partner.excludes:
                    partner.excludes.append(option.name)

    @property
    def shown(self):
        return [option for option in self.options if not option.hidden]


class Program(Command):
    def __init__(self, table):
        super().__init__(table, table.get('name', 'a program'), frozenset(PROGRAM_KEYS))
        self.commands = [Command(command, self.name) for command in table.get('command', [])]
        self.see = table.get('see', [])
        self.own_parser = table.get('parser', '') == 'own'  # it reads its command line itself


class Variable:
    def __init__(self, table):
        only(table, VARIABLE_KEYS, 'variable')
        self.name, self.default, self.help = table['name'], table['default'], line(table['help'])
        self.where = table['where']
        for place in self.where.split(', '):
            expect(place in PLACES, self.name, 'where = %s; known: %s' % (place, ', '.join(sorted(PLACES))))


class Description:
    def __init__(self, tables):
        only(tables, {'date', 'program', 'variable'}, 'reference.toml')
        self.date = tables['date']
        self.programs = [Program(table) for table in tables['program']]
        self.variables = [Variable(table) for table in tables['variable']]
        known = {variable.name for variable in self.variables}
        expect(len(known) == len(self.variables), 'variables', 'one comes twice')
        for program in self.programs:
            for command in [program, *program.commands]:
                for option in command.options:
                    expect(not option.variable or option.variable in known, option.where,
                           'there is no variable ' + option.variable)

    def program(self, name):
        return next(program for program in self.programs if program.name == name)


def transports():
    """Their names, best first."""
    lines = TRANSPORTS.read_text(encoding='utf-8').splitlines()
    return [name for name in lines if name and not name.startswith('#')]


def load(file=FILE):
    names = transports()
    text = file.read_text(encoding='utf-8')
    text = text.replace('"@each-transport"', ', '.join('"%s"' % name for name in names))
    text = text.replace('@transports,@', ', '.join(names))
    text = text.replace('@transports@', '%s or %s' % (', '.join(names[:-1]), names[-1]))
    return Description(tomllib.loads(text))
