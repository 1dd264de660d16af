# SPDX-License-Identifier: Apache-2.0
"""docs/environment.md, which is committed so that people find it: the table of the variables."""

HEAD = """# Environment variables

`hip-remote info` prints the same table with the values in force, `man hip-remote-environment` without them. A variable
that is set to nothing counts as unset; a value out of its range is an error that names the variable.

Made from `docs/reference/reference.toml` by `docs/reference/make.py --documents .`; a test compares.

"""
PLACES = {'client': 'library', 'worker': 'worker', 'cpu': 'CPU runtime', 'cuda': 'CUDA runtime',
          'hipcc-cpu': '`hipcc-cpu`'}


def row(one):
    default = '`%s`' % one.default if one.default else ''
    return '| `%s` | %s | %s | %s |' % (one.name, default, ', '.join(PLACES[place] for place in one.where.split(', ')),
                                        one.help.replace('|', '\\|'))


def environment(made):
    rows = ['| variable | default | read by | meaning |', '|---|---|---|---|', *(row(one) for one in made.variables)]
    return HEAD + '\n'.join(rows) + '\n'
