# SPDX-License-Identifier: Apache-2.0
"""docs/environment.md, which is committed so that people find it: the table of the variables."""

HEAD = """# Environment variables

`hip-remote info` prints the same table with the current values, `man hip-remote-environment` without them. An empty
variable counts as unset. A value out of range is an error that names the variable.

`docs/reference/make.py --documents .` generates this file from `docs/reference/reference.toml`; a test compares them.

"""
PLACES = {'client': 'library', 'worker': 'worker', 'cpu': 'CPU runtime', 'cuda': 'CUDA runtime',
          'hipcc-cpu': '`hipcc-cpu`', 'provider': 'TensorFusion provider'}


def row(one):
    default = '`%s`' % one.default if one.default else ''
    return '| `%s` | %s | %s | %s |' % (one.name, default, ', '.join(PLACES[place] for place in one.where.split(', ')),
                                        one.help.replace('|', '\\|'))


def environment(made):
    rows = ['| variable | default | read by | meaning |', '|---|---|---|---|', *(row(one) for one in made.variables)]
    return HEAD + '\n'.join(rows) + '\n'
