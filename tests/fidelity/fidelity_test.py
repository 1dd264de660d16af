# SPDX-License-Identifier: Apache-2.0
"""tools/fidelity on small scripts in place of test programs and of hip-remote: which cases it finds, what it says of
each, and what it takes for a difference."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import _ctypes

ROOT = pathlib.Path(sys.argv.pop(1)) if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'tools'))
from ways import cases, machine, mask, programs  # noqa: E402

HIP_REMOTE = '''#!/bin/sh
WAY=native
while [ "$1" != -- ]; do
  [ "$1" = --transport ] && WAY=$2
  shift
done
shift
export WAY
"$@"
'''
CATCH2 = r'''#!/bin/sh
case "$1" in
--list-test-names-only)
  printf 'passes\nfails\nfails over tcp\nskips\nwith \\, and [comma], "int"\nends\nhangs over shm\n'
  exit 7 ;;
fails) what=1 ;;
'fails over tcp') [ $WAY = tcp ] && what=2 ;;
skips) echo HIP_SKIP_THIS_TEST ;;
'with \\\, and \[comma\]\, \"int\"') ;;
ends) kill -SEGV $$ ;;
'hangs over shm') [ $WAY = shm ] && exec sleep 30 ;;
passes) ;;
*) echo "No test cases matched '$1'"; echo "No tests ran"; exit 1 ;;
esac
if [ -n "$what" ]; then
  echo "/source/memory/copy.cc:1$what: FAILED:
  REQUIRE( status == hipSuccess )
with expansion:
  $what == 0

==============================================================================="
  echo 'test cases: 1 | 1 failed'; exit 1
fi
echo 'All tests passed (1 assertion in 1 test case)'
'''
GOOGLETEST = r'''#!/bin/sh
# gtest_list_tests
case "$1" in
--gtest_list_tests)
  printf 'Running main() from x\nCopy.\n  Small\n  DISABLED_Old\nSizes/Copy.\n  Any/0  # GetParam() = 3\n'
  exit 0 ;;
esac
name=${1#--gtest_filter=}
echo "[ RUN      ] $name"
if [ $WAY = shm ] && [ $name = Copy.Small ]; then
  printf 'copy_test.cc:7: Failure\nExpected: 1\n[  FAILED  ] %s (0 ms)\n' $name; exit 1
fi
echo "[       OK ] $name (3 ms)"
'''
# Runs several cases in a process, and says in how many processes it has run cases of which names.
TOGETHER = r'''#!/bin/sh
# gtest_list_tests
case "$1" in
--gtest_list_tests) printf 'Many.\n  One\n  Two\n  Fails\n  Ends\n  Last\n'; exit 0 ;;
esac
names=${1#--gtest_filter=}
echo "$WAY $names" >> runs.txt
status=0
for name in $(echo "$names" | tr : ' '); do
  echo "[ RUN      ] $name"
  [ $name = Many.Ends ] && [ $WAY = shm ] && kill -SEGV $$
  if [ $name = Many.Fails ]; then
    printf 'many_test.cc:7: Failure\nwith %s\n[  FAILED  ] %s (0 ms)\n' $WAY $name; status=1
  else
    echo "[       OK ] $name (1250 ms)"
  fi
done
exit $status
'''
# Ends badly once all its cases are done.
BAD_END = r'''#!/bin/sh
# gtest_list_tests
[ "$1" = --gtest_list_tests ] && printf 'Many.\n  One\n  Two\n' && exit 0
for name in $(echo "${1#--gtest_filter=}" | tr : ' '); do
  printf '[ RUN      ] %s\n[       OK ] %s (1 ms)\n' $name $name
done
[ $WAY = tcp ] && kill -ABRT $$
exit 0
'''
# A list that is longer than the output of a case may be; only one case is wanted.
LONG_LIST = r'''#!/bin/sh
# gtest_list_tests
case "$1" in
--gtest_list_tests)
  echo Many.
  seq -f "  A_case_with_a_rather_long_name_so_that_the_list_gets_long_%.0f" 100000
  exit 0 ;;
esac
name=${1#--gtest_filter=}
echo "[ RUN      ] $name"
echo "[       OK ] $name (3 ms)"
'''
PLAIN = '''#!/bin/sh
echo "took 0.$$ ms at 0x7f00$$, process $$"
echo "on stderr: $WAY" >&2
'''
OTHER_OUTPUT = '''#!/bin/sh
echo sum
[ $WAY = tcp ] && echo 41 || echo 42
'''
WHERE = '''#!/bin/sh
echo "${WAY:-without hip-remote}, $LD_LIBRARY_PATH"
'''
ONCE = '''#!/bin/sh
[ $WAY = shm ] && [ ! -e once.txt ] && touch once.txt && exit 3
exit 0
'''


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


class Fidelity(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        write(self.folder / 'build/bin/hip-remote', HIP_REMOTE)
        self.tests = self.folder / 'tests'
        self.tests.mkdir()

    def fidelity(self, *words):
        command = [sys.executable, ROOT / 'tools/fidelity', self.tests, '--build', self.folder / 'build', *words]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    def rows(self, *words):
        """{program: case: row}, the folders' rows, and the exit status."""
        done = self.fidelity('--json', *words)
        rows = [json.loads(line) for line in done.stdout.splitlines()]
        found = {(r['program'], r['case']): r for r in rows if 'case' in r}
        return found, {r['folder']: r for r in rows if 'case' not in r}, done.returncode

    def words(self, row):
        return [row[way]['verdict'] for way in machine.WAYS]

    def test_catch2(self):
        write(self.tests / 'memory/CopyTest', CATCH2)
        found, folders, status = self.rows('--timeout', '0.6', '--jobs', '3')
        rows = {case: row for (_, case), row in found.items()}
        self.assertEqual(self.words(rows['passes']), ['pass'] * 3)
        self.assertEqual(self.words(rows['with \\, and [comma], "int"']), ['pass'] * 3)
        self.assertEqual(self.words(rows['skips']), ['skip'] * 3)
        self.assertEqual(self.words(rows['ends']), ['SIGSEGV'] * 3)
        self.assertEqual(self.words(rows['fails']), ['FAIL'] * 3)
        self.assertIn('copy.cc:11: REQUIRE( status == hipSuccess ) with expansion: 1 == 0',
                      rows['fails']['shm']['reason'])
        self.assertEqual(self.words(rows['fails over tcp']), ['pass', 'pass', 'FAIL'])
        self.assertEqual(self.words(rows['hangs over shm']), ['pass', 'time-out', 'pass'])
        self.assertEqual({case for case, row in rows.items() if row['differ']}, {'fails over tcp', 'hangs over shm'})
        self.assertEqual(folders['memory'],
                         {'folder': 'memory', 'cases': 7, 'differ': 2, 'native': 5, 'shm': 4, 'tcp': 4})
        self.assertEqual(status, 1)

    def test_amds_runtime_natively(self):
        """hip-remote has no part in it, and the caller's libraries are found every way."""
        write(self.tests / 'where', WHERE)
        (self.folder / 'build/sys').mkdir()
        os.environ['LD_LIBRARY_PATH'] = '/opt/stand-in'
        self.addCleanup(os.environ.pop, 'LD_LIBRARY_PATH')
        found, _, status = self.rows('--runtime', 'amd', '--ways', 'native,shm')
        self.assertEqual(found['where', '']['differ'],
                         {'shm': 'output, line 1: native: without hip-remote, FILE:/opt/stand-in; '
                                 'shm: shm, FILE:/opt/stand-in'})
        self.assertEqual(status, 1)

    def test_googletest(self):
        write(self.tests / 'copy_test', GOOGLETEST)
        found, _, status = self.rows()
        self.assertEqual({case for _, case in found}, {'Copy.Small', 'Sizes/Copy.Any/0'})
        self.assertEqual(self.words(found['copy_test', 'Copy.Small']), ['pass', 'FAIL', 'pass'])
        self.assertIn('copy_test.cc:7: Failure Expected: 1', found['copy_test', 'Copy.Small']['shm']['reason'])
        self.assertEqual(status, 1)

    def test_cases_together(self):
        write(self.tests / 'many_test', TOGETHER)
        found, _, status = self.rows('--together')
        rows = {case: row for (_, case), row in found.items()}
        self.assertEqual(list(rows), ['Many.One', 'Many.Two', 'Many.Fails', 'Many.Ends', 'Many.Last'])
        self.assertEqual(self.words(rows['Many.Two']), ['pass'] * 3)
        self.assertEqual(rows['Many.Two']['tcp']['seconds'], 1.25)
        self.assertEqual(rows['Many.Fails']['differ'], {'shm': 'fails in another way', 'tcp': 'fails in another way'})
        self.assertEqual(self.words(rows['Many.Ends']), ['pass', 'SIGSEGV', 'pass'])
        self.assertEqual(self.words(rows['Many.Last']), ['pass'] * 3)  # that process had not come to it
        self.assertEqual(status, 1)
        runs = (self.tests / 'runs.txt').read_text().splitlines()
        self.assertEqual(runs[:3], [f'{way} Many.One:Many.Two:Many.Fails:Many.Ends:Many.Last'
                                    for way in machine.WAYS])
        self.assertNotIn('shm Many.One', runs)

    def test_a_process_that_ends_badly_after_its_cases(self):
        write(self.tests / 'many_test', BAD_END)
        found, _, status = self.rows('--together')
        self.assertEqual(self.words(found['many_test', 'Many.One']), ['pass'] * 3)
        self.assertEqual(self.words(found['many_test', 'Many.Two']), ['pass', 'pass', 'SIGABRT'])
        self.assertEqual(status, 1)

    def test_many_names_take_several_processes(self):
        names = [f'Suite.{"long" * 20}{number}' for number in range(3000)]
        batches = cases.GoogleTest.words_together(names)
        self.assertEqual(sum((one[0].removeprefix('--gtest_filter=').split(':') for one in batches), []), names)
        self.assertGreater(len(batches), 2)
        self.assertLess(max(len(one[0]) for one in batches), 1 << 17)

    def test_every_case_of_a_long_list_is_found(self):
        write(self.tests / 'many_test', LONG_LIST)
        case = 'Many.A_case_with_a_rather_long_name_so_that_the_list_gets_long_50000'
        found, _, status = self.rows('--filter', 'many_test:' + case)
        self.assertEqual(self.words(found['many_test', case]), ['pass', 'pass', 'pass'])
        self.assertEqual(status, 0)

    def test_other_programs(self):
        write(self.tests / 'plain', PLAIN)
        write(self.tests / 'sum', OTHER_OUTPUT)
        write(self.tests / 'once', ONCE)
        (self.tests / 'notes.txt').write_text('no program')
        found, _, status = self.rows()
        self.assertEqual({program for program, _ in found}, {'plain', 'sum', 'once'})
        self.assertEqual(found['plain', '']['differ'], {})
        self.assertEqual(found['sum', '']['differ'], {'tcp': 'output, line 2: native: 42; tcp: 41'})
        self.assertEqual((found['once', '']['differ'], found['once', '']['unsteady']),
                         ({}, {'shm': 'native: pass; shm: exit 3'}))
        self.assertEqual(status, 1)
        self.assertEqual(self.rows('--mask', r'\b4\d\b')[2], 0)

    def test_table_filters_and_changes(self):
        write(self.tests / 'memory/CopyTest', CATCH2)
        write(self.tests / 'sum', OTHER_OUTPUT)
        done = self.fidelity('--ways', 'native,tcp', '--filter', 'memory/*:fails*', '--filter', 'memory/*:passes',
                             '--short')
        lines = [line.split() for line in done.stdout.splitlines()]
        self.assertIn(['case', 'native', 'tcp', 'differs'], lines)
        self.assertIn(['memory/CopyTest:', 'fails', 'over', 'tcp', 'pass', 'FAIL', 'tcp'], lines)
        self.assertIn(['memory', '3', '2', '1', '1'], lines)
        self.assertIn(['differences:', '1'], lines)
        self.assertNotIn('memory/CopyTest: passes ', done.stdout)
        earlier = self.folder / 'run.jsonl'
        earlier.write_text(json.dumps({'program': 'sum', 'case': '', 'native': {'verdict': 'exit 1'}}) + '\n')
        done = self.fidelity('--filter', 'sum', '--ways', 'native', '--since', earlier)
        self.assertIn('sum: native: was exit 1, is pass', done.stdout)
        self.assertEqual(done.returncode, 0)

    def test_what_cannot_run_is_said(self):
        write(self.tests / 'broken', '#!/bin/sh\n# gtest_list_tests\necho "no library" >&2\nexit 127\n')
        found, _, status = self.rows()
        self.assertEqual(self.words(found['broken', cases.LIST]), ['exit 127'] * 3)
        self.assertEqual(found['broken', cases.LIST]['shm']['reason'], 'no library')
        self.assertEqual(status, 0)
        self.assertEqual(self.rows('--filter', 'none')[2], 2)
        self.assertEqual(self.rows('--ways', 'native,smoke')[2], 2)

    def test_long_output_keeps_its_verdict(self):
        run = machine.Run(0, '', '', 0.0)
        with tempfile.TemporaryFile() as file:
            file.write(b'begins\n' + b'waiting\n' * machine.OUTPUT_LIMIT + b'\nAll tests passed (1 assertion)\n')
            run.out = machine.text_of(file)
        self.assertLess(len(run.out), machine.OUTPUT_LIMIT + 100)
        self.assertTrue(run.out.startswith('begins\n'))
        self.assertEqual(cases.Catch2.verdict(run, 'any').word, cases.PASS)

    def test_masks(self):
        for one, other in (('at 0x7ffe1234 in 3.5 ms', 'at 0x55a4bcd0 in 12 ms'), ('12.5 GB/s', '9 GB/s'),
                           ('[12:30:01] pid 77', '[09:10:59] pid 12345'), ('/tmp/a.Xy1/f', '/tmp/b/g')):
            self.assertEqual(mask.mask(one), mask.mask(other))
        for one, other in (('3 errors', '4 errors'), ('0x12', '0x13'), ('device 0', 'device 1')):
            self.assertNotEqual(mask.mask(one), mask.mask(other))

    def test_programs_and_libraries(self):
        self.assertTrue(programs.is_elf_program(pathlib.Path(os.path.realpath('/bin/sh')).read_bytes()))
        library = pathlib.Path(_ctypes.__file__).read_bytes()
        self.assertEqual(library[:4], b'\x7fELF')
        self.assertFalse(programs.is_elf_program(library))
        self.assertFalse(programs.is_elf_program(library[:20] + bytes(100)))


if __name__ == '__main__':
    unittest.main()
