#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes from reference.toml what tells of programs, options and variables: C++ constants with the texts of --help,
manual pages, completions for bash, zsh and fish."""
import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
# noqa below: the folder above must be known first
from reference import bash, cxx, description, document, fish, man, screens, zsh  # noqa: E402


def outputs(made, version):
    """{path below the output folder: text}"""
    files = {'include/reference/gen/programs.h': cxx.programs(made, version),
             'include/reference/gen/variables.h': cxx.variables(made),
             'man/man7/hip-remote-environment.7': man.environment(made, version)}
    for program in made.programs:
        files['man/man1/%s.1' % program.name] = man.page(made, program, version)
        files['completions/bash/' + program.name] = bash.script(program)
        files['completions/zsh/_' + program.name] = zsh.script(program)
        files['completions/fish/%s.fish' % program.name] = fish.script(program)
    return files


def documents(made):
    """What people read, or run, in the source tree itself; a test compares."""
    return {'docs/environment.md': document.environment(made),
            'tools/hipcc_cpu/usage.txt': screens.of_program(made.program('hipcc-cpu'))}


def write(path, text):
    """Files whose text has not changed keep their time, so that nothing is built anew for them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding='utf-8') != text:
        path.write_text(text, encoding='utf-8')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--version', default='', help='of the release')
    parser.add_argument('--out', type=pathlib.Path, help='folder to write to')
    parser.add_argument('--documents', type=pathlib.Path, metavar='ROOT',
                        help='write the files of the source tree that are committed, and nothing else')
    parser.add_argument('--list-outputs', action='store_true', help='print the names of the files instead')
    options = parser.parse_args()
    if not options.version and not options.documents:
        parser.error('--version and --out, or --documents')
    try:
        made = description.load()
        if options.documents:
            for name, text in documents(made).items():
                write(options.documents / name, text)
            return 0
        files = outputs(made, options.version)
    except description.Refused as refused:
        print('reference.toml: %s' % refused, file=sys.stderr)
        return 1
    for name, text in files.items():
        if options.list_outputs:
            print(name)
        else:
            write(options.out / name, text)
    return 0


if __name__ == '__main__':
    sys.exit(main())
