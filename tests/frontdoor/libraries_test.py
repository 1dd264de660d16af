#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that want another libamdhip64 than hip-remote has. libraries_test.py HIP-REMOTE C-COMPILER"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import support

REMOTE, COMPILER = sys.argv[1:3]


# The major of the library that the plain name leads to, if it is the one that was loaded before.
OPENS = '''#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
int main(void) {
  void* hip = dlopen("libamdhip64.so", RTLD_NOW);
  if (hip == NULL) return puts(dlerror()), 1;
  int (*version)(int*) = (int (*)(int*))dlsym(hip, "hipRuntimeGetVersion");
  int number = 0;
  if ((void*)version != dlsym(RTLD_DEFAULT, "hipRuntimeGetVersion") || version(&number) != 0) return 2;
  return printf("%d\\n", number / 10000000) < 0;
}
'''


def done_environment():
    return os.environ.get('LD_PRELOAD', '')


class Libraries(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / 'program.c').write_text('int main(void) { return 0; }\n')
        (self.folder / 'library.c').write_text('void nothing(void) {}\n')

    def compile(self, source, output, *words):
        target = self.folder / output
        target.parent.mkdir(exist_ok=True)
        subprocess.run([COMPILER, self.folder / source, '-o', target, '-Wl,--no-as-needed', *words], check=True)
        return target

    def library(self, soname, *words, folder='sdk'):
        return self.compile('library.c', folder + '/' + soname, '-shared', '-fPIC', '-Wl,-soname,' + soname, *words)

    def refused(self, program, *texts, **changes):
        for way in ((), ('--local', '--runtime', 'cpu'), ('--native',)):
            done = support.run(REMOTE, 'run', *way, '--', program, **changes)
            self.assertEqual(done.returncode, 126, done.stderr)
            for text in (*texts, 'it replaces the libraries of HIP 5, 6 or 7'):
                self.assertIn(text, done.stderr)
            self.assertNotIn('error while loading', done.stderr)

    def runs(self, program, **changes):
        done = support.run(REMOTE, 'run', '--no-preload', '--', program, **changes)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_program_itself(self):
        for version in (4, 8):
            program = self.compile('program.c', 'app%d' % version, self.library('libamdhip64.so.%d' % version))
            self.refused(program, '%s needs libamdhip64.so.%d' % (program, version))

    def test_hiprtc(self):
        program = self.compile('program.c', 'app', self.library('libhiprtc.so.8'))
        self.refused(program, 'needs libhiprtc.so.8')

    def test_a_library_of_the_program(self):
        """By LD_LIBRARY_PATH, RUNPATH with $ORIGIN, and RPATH, which also counts for what libraries need."""
        hip = self.library('libamdhip64.so.8')
        inner = self.library('libinner.so.1', hip, folder='own')
        plain = self.compile('program.c', 'bin/plain', inner)
        self.refused(plain, 'needs %s, which needs libamdhip64.so.8' % inner, LD_LIBRARY_PATH=str(inner.parent))
        runpath = self.compile('program.c', 'bin/runpath', inner, '-Wl,--enable-new-dtags', '-Wl,-rpath,$ORIGIN/../own')
        self.refused(runpath, 'libinner.so.1, which needs libamdhip64.so.8')
        outer = self.library('libouter.so.1', inner, folder='own')
        rpath = self.compile('program.c', 'bin/rpath', outer, '-Wl,--disable-new-dtags', '-Wl,-rpath,$ORIGIN/../own',
                             '-Wl,-rpath-link,' + str(hip.parent))
        self.refused(rpath, 'libinner.so.1, which needs libamdhip64.so.8')

    def test_what_the_loader_finds_is_no_matter_of_ours(self):
        hip = self.library('libamdhip64.so.8')
        program = self.compile('program.c', 'app', hip)
        self.runs(program, LD_LIBRARY_PATH=str(hip.parent))
        self.runs(self.compile('program.c', 'with', hip, '-Wl,-rpath,' + str(hip.parent)))
        self.runs(program, LD_PRELOAD=str(hip))

    def test_ours_and_none(self):
        for version in (5, 6, 7):
            self.runs(self.compile('program.c', 'app%d' % version, self.library('libamdhip64.so.%d' % version)))
        self.runs(self.compile('program.c', 'none'))
        self.runs(self.compile('program.c', 'static', '-static'))
        script = self.folder / 'script'
        script.write_text('#!/bin/sh\n# libamdhip64.so.8\n')
        script.chmod(0o755)
        self.runs(script)

    def preloaded(self, program, *words):
        done = support.run(REMOTE, 'run', *words, '--', program, '-c', 'echo "$LD_PRELOAD"')
        self.assertEqual(done.returncode, 0, done.stderr)
        return [pathlib.Path(path).name for path in done.stdout.split()]

    def test_what_is_preloaded(self):
        """The major that the program's file needs, or that --preload says: two at once would mix."""
        if 'libasan' in done_environment() or 'libtsan' in done_environment():
            self.skipTest('a sanitizer is preloaded itself')
        self.assertEqual(self.preloaded('/bin/sh'), [])
        self.assertEqual(self.preloaded('/bin/sh', '--preload', '6'), ['libamdhip64.so.6'])
        (self.folder / 'printer.c').write_text('#include <stdio.h>\n#include <stdlib.h>\n'
                                               'int main(void) { puts(getenv("LD_PRELOAD")); return 0; }\n')
        for version in (5, 6, 7):
            program = self.compile('printer.c', 'printer%d' % version, self.library('libamdhip64.so.%d' % version))
            self.assertEqual(self.preloaded(program), ['libamdhip64.so.%d' % version])
        for wrong in ('8', 'x', '6x', '0'):
            done = support.run(REMOTE, 'run', '--preload', wrong, '--', '/bin/true')
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn('--preload %s: expected 5, 6 or 7' % wrong, done.stderr)

    def test_what_opens_the_plain_name(self):
        """A program that opens libamdhip64.so later gets the library that is preloaded, not one of another major."""
        if 'libasan' in done_environment() or 'libtsan' in done_environment():
            self.skipTest('a sanitizer is preloaded itself')
        (self.folder / 'opens.c').write_text(OPENS)
        program = self.compile('opens.c', 'opens', '-ldl')
        for way in (('--worker', 'localhost:1'), ('--native',)):
            for major in ('5', '6', '7'):
                done = support.run(REMOTE, 'run', *way, '--preload', major, '--', program)
                self.assertEqual((done.returncode, done.stdout), (0, major + '\n'), done.stderr)

    def test_rccl_asks_our_library_about_devices(self):
        """Not this host's driver, in whose place there is none. What the user has set stays."""
        words = ['sh', '-c', 'echo "${RCCL_USE_ROCM_SMI_LIB-none}"']
        for way, changes, expected in (((), {}, '1'), ((), {'RCCL_USE_ROCM_SMI_LIB': '0'}, '0'),
                                       (('--native',), {}, 'none')):
            done = support.run(REMOTE, 'run', '--no-preload', *way, '--', *words, **changes)
            self.assertEqual((done.returncode, done.stdout.strip()), (0, expected), done.stderr)

    def test_a_circle_of_libraries(self):
        first = self.library('libfirst.so.1', folder='own')
        second = self.library('libsecond.so.1', first, folder='own')
        first = self.library('libfirst.so.1', second, folder='own')
        self.runs(self.compile('program.c', 'app', first), LD_LIBRARY_PATH=str(first.parent))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
