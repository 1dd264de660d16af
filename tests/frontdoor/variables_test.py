#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every environment variable that the sources read is told of: by hip-remote info, the manual and the documents. Every
name of that kind, wherever it stands, is a variable, or belongs to the build.
variables_test.py HIP-REMOTE SOURCE-FOLDER"""
import json
import pathlib
import re
import sys
import unittest

import support

REMOTE, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(ROOT / 'docs'))
from reference import description, make  # noqa: E402  (where it is, the command line says)

NAME = r'\b(?:(?:TF|HIP|HIPCC|TENSOR_FUSION)_[A-Z0-9_]+|(?:ROCR|CUDA)_VISIBLE_DEVICES)\b'
# A name in quotes in a source, which is how variables are read; macros of the same kind are not in quotes.
QUOTED = re.compile(r'["\'](%s)(?:["\'=]|=")' % NAME)
PLACES = ('transport', *support.TRANSPORTS, 'hipcore', 'proxy', 'worker', 'provider', 'smi', 'tools', 'benchmarks',
          'examples')
# Not variables of ours that users set: settings of the scripts that build and test, names of types, macros of HIP.
OTHERS = {'TF_SKIP_SETUP', 'TF_PREBUILT', 'HIP_MEMCPY3D',
          'HIP_SKIP_THIS_TEST', 'HIP_ENABLE_WARP_SYNC_BUILTINS'}
# What tests read.
OF_TESTS = {'TF_BUILD_DIR', 'TF_OWN_MOUNTS', 'TF_PROVIDER_ALONE', 'TF_SANITIZED', 'TF_FAULT_TRANSPORT',
            'TF_STRESS_SECONDS', 'TF_TEST_HIP_MAJOR', 'TF_TEST_LARGE',
            'TF_TEST_RUNTIME_MAJOR', 'TF_TEST_SESSION', 'TF_TEST_SESSIONS',
            'TF_TEST_TAKE_WINDOW', 'TF_TEST_TRANSPORTS'}
ANYWHERE = re.compile(r'\b(?:TF|HIP_CPU|HIP_CUDA|HIPCC_CPU)_[A-Z0-9_]*[A-Z0-9]\b')
MACRO = re.compile(r'#\s*define\s+(TF_\w+)')
ENUMERATOR = re.compile(r'\b(TF_ACCEL_[A-Z_]+)\b')  # provider/abi.h
# In CMake's files NAME=value sets an environment variable, NAME="value" a macro.
OF_CMAKE = re.compile(r'\b(TF_\w+)\b(?!=[^"])')
CMAKE = {'.cmake', '.in'}
TEXTS = CMAKE | {'', '.c', '.cc', '.h', '.hip', '.inc', '.json', '.md', '.py', '.sh', '.toml', '.txt'}
NO_SOURCES = {'build', '.git', '.cache'}


def read_by_sources():
    found = {}
    for place in PLACES:
        for path in (ROOT / place).rglob('*'):
            if path.suffix in ('.cc', '.h', '.inc', '.py') and path.is_file():
                for name in QUOTED.findall(path.read_text(errors='replace')):
                    found.setdefault(name, path.relative_to(ROOT))
    for program in description.load().programs:  # options that a variable stands for
        for command in [program, *program.commands]:
            found.update({option.variable: program.name for option in command.options if option.variable})
    return {name: path for name, path in found.items() if name not in OTHERS}


def texts():
    for top in ROOT.iterdir():
        for path in [top, *top.rglob('*')] if top.name not in NO_SOURCES else []:
            if path.suffix in TEXTS and path.is_file() and path != pathlib.Path(__file__).resolve():
                yield path.relative_to(ROOT), path.read_text(errors='replace')


def from_info():
    return {row['name']: row for row in json.loads(support.run(REMOTE, 'info', '--json').stdout)['environment']}


class Variables(unittest.TestCase):
    def test_info_tells_of_all(self):
        told = from_info()
        found = read_by_sources()
        starts = tuple(name for name in found if name.endswith('_'))  # of names that are put together
        missing = {name: str(path) for name, path in found.items() if name not in told and name not in starts}
        self.assertEqual(missing, {}, 'not in docs/reference/reference.toml')
        unread = [name for name in told if name not in found and not (starts and name.startswith(starts))]
        self.assertEqual(unread, [], 'nobody reads them')

    def test_every_name_is_one(self):
        named, of_the_build = {}, set()
        for path, text in texts():
            of_the_build.update(MACRO.findall(text), ENUMERATOR.findall(text))
            if path.suffix in CMAKE or path.name in ('CMakeLists.txt', 'CMakePresets.json'):
                of_the_build.update(OF_CMAKE.findall(text))
            for name in ANYWHERE.findall(text):
                named.setdefault(name, str(path))
        known = of_the_build | set(from_info()) | OTHERS | OF_TESTS
        unknown = {name: path for name, path in named.items() if name not in known}
        self.assertEqual(unknown, {}, 'not in docs/reference/reference.toml, and nothing of the build')
        self.assertEqual([name for name in OF_TESTS if name not in named], [], 'nobody names them')

    def test_options_of_the_build_are_told(self):
        options = re.findall(r'^option\((TF_\w+)', (ROOT / 'CMakeLists.txt').read_text(), re.M)
        told = (ROOT / 'docs/install.md').read_text()
        self.assertEqual([name for name in options if f'`{name}`' not in told], [], 'not in docs/install.md')

    def test_text_and_list_and_json_agree(self):
        told = from_info()
        text = support.run(REMOTE, 'info').stdout.partition('Environment variables')[2]
        self.assertEqual(re.findall(r'^  (%s) ' % NAME, text, re.M), list(told))
        rows = [line.split('\t') for line in support.run(REMOTE, 'info', '--list', 'variables').stdout.splitlines()]
        self.assertEqual(rows, [[name, row['help']] for name, row in told.items()])

    def test_values_in_force(self):
        changes = {name: 'value-of-' + name for name in from_info() if name.startswith('HIP')}
        text = support.run(REMOTE, 'info', **changes).stdout
        for value in changes.values():
            self.assertIn('; now ' + value, text)

    def test_committed_files_are_made_from_the_same_source(self):
        for name, text in make.documents(description.load()).items():
            self.assertEqual((ROOT / name).read_text(), text, 'docs/reference/make.py --documents . makes it')


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
