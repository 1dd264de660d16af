#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages and --help say the same. manual_test.py MAN-FOLDER HIP-REMOTE HIP-WORKER HIPCC-CPU"""
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import support

FOLDER = pathlib.Path(sys.argv[1])
REMOTE, WORKER, COMPILER = sys.argv[2:5]
PAGES = sorted(FOLDER.glob('man*/*'))
OPTION = re.compile(r'(?<![\w-])(--?[A-Za-z][\w-]*)')


def plain(page):
    """The page's source as words, without what roff needs."""
    text = page.read_text()
    return re.sub(r'\\f.|\\&', '', text).replace('\\-', '-')


def options_of_help(*words):
    """Those that have a row of their own."""
    rows = re.findall(r'^  +(-.*)$', support.run(*words).stdout, re.M)
    return {name for row in rows for name in OPTION.findall(re.split(r'  ', row)[0])}


class Manual(unittest.TestCase):
    def test_every_page_is_there(self):
        self.assertEqual([page.name for page in PAGES],
                         ['bench_plot.1', 'hip-remote.1', 'hip-worker.1', 'hip_bench.1', 'hip_load.1', 'hipcc-cpu.1',
                          'smi-remote.1', 'transport_bench.1', 'hip-remote-environment.7'])

    def test_every_option_of_help_is_in_the_page(self):
        for page, commands in (('hip-remote.1', [[REMOTE, *command] for command in ([], ['run'], ['info'], ['bench'])]),
                               ('hip-worker.1', [[WORKER]]), ('hipcc-cpu.1', [[COMPILER]])):
            told = set(OPTION.findall(plain(FOLDER / 'man1' / page)))
            for command in commands:
                options = options_of_help(*command, '--help')
                self.assertTrue(options, command)
                self.assertEqual(options - told, set(), command)

    def test_every_variable_is_in_the_page(self):
        told = plain(FOLDER / 'man7' / 'hip-remote-environment.7')
        for line in support.run(REMOTE, 'info', '--list', 'variables').stdout.splitlines():
            self.assertIn(line.partition('\t')[0], told)

    @unittest.skipUnless(shutil.which('mandoc'), 'mandoc is not installed')
    def test_mandoc_finds_nothing(self):
        for page in PAGES:
            done = support.run('mandoc', '-T', 'lint', '-W', 'warning', page)
            self.assertEqual((done.returncode, done.stdout), (0, ''))

    @unittest.skipUnless(shutil.which('man') and shutil.which('groff'), 'man is not installed')
    def test_man_warns_of_nothing(self):
        for page in PAGES:
            done = subprocess.run(['man', '--warnings', '-l', str(page)], capture_output=True, text=True, check=False,
                                  env={**support.CLEAN, 'MANWIDTH': '80', 'MANPAGER': 'cat', 'LC_ALL': 'C.UTF-8'})
            self.assertEqual((done.returncode, done.stderr), (0, ''))
            self.assertIn('NAME', done.stdout)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
