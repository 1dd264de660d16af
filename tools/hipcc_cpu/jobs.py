# SPDX-License-Identifier: Apache-2.0
"""Clang's own list of what a command line means: `clang -###` says which processes its driver would start, and
those of the host are run as they are. The device's are ours (driver.py)."""
import os
import re
import shutil
import signal
import subprocess
import sys

from .failure import Failed

LATER_CLANGS = ['clang++-%d' % n for n in range(15, 41)]  # names that are tried
WORD = re.compile(r'"((?:[^"\\]|\\.)*)"')
BANNER = re.compile(r'^(.*clang version |Target: |Thread model: |InstalledDir: |Configuration file: |Build config: '
                    r'|Found |Selected | \(in-process\))')
ERROR = re.compile(r'^(?:\S*clang\S*: )?(?:fatal )?error: ')  # -### itself ends well where a file is missing
BUNDLERS = ('clang-offload-bundler', 'clang-offload-wrapper', 'clang-offload-packager', 'clang-linker-wrapper',
            'llvm-offload-binary')


def words_of(line):
    """Those of a line of clang -###."""
    return [re.sub(r'\\(.)', r'\1', word) for word in WORD.findall(line)]


def find_clang():
    chosen = os.environ.get('HIPCC_CPU_CLANG')
    for name in [chosen] if chosen else ['clang++-14', 'clang++', *LATER_CLANGS]:
        path = shutil.which(name)
        if path:
            return path
    raise Failed('%s is not installed (Debian: clang-14)' % (chosen or 'clang++'), 127)


def another_clang(used):
    """Words on the newest one that is installed, for users whose clang `used` has failed by itself; '' without one."""
    newest = next((name for name in reversed(LATER_CLANGS) if shutil.which(name)), None)
    if newest is None or os.path.realpath(shutil.which(newest)) == os.path.realpath(used):
        return ''
    return '; another one may compile it: HIPCC_CPU_CLANG=' + newest


class Job:
    """One process of clang's driver."""

    def __init__(self, words):
        self.words = words

    @property
    def program(self):
        return os.path.basename(self.words[0])

    def value(self, option):
        """The word behind `option`, or None."""
        return self.words[self.words.index(option) + 1] if option in self.words[:-1] else None

    def is_compiler(self):
        return self.words[1:2] == ['-cc1']

    def is_device(self):
        """Whether it is a step of clang's way to AMD's GPUs: a compiler for one, its linker, a bundler."""
        if self.is_compiler() or self.words[1:2] == ['-cc1as']:
            return (self.value('-triple') or '').startswith('amdgcn')
        return self.program in BUNDLERS or (self.program.startswith('lld') and '-flavor' in self.words)

    def drop_wrong_standard(self):
        """Clang 14 gives C sources that stand beside HIP sources the default standard of those."""
        if self.is_compiler() and self.value('-x') in ('c', 'cpp-output'):
            self.words = [w for w in self.words if not w.startswith(('-std=c++', '-std=gnu++'))]

    def replaced(self, option, value):
        """The words with another value of `option`."""
        words = list(self.words)
        words[words.index(option) + 1] = value
        return words


class Runner:
    """Runs processes, shows them where that is asked for, and feeds them what came on standard input."""

    def __init__(self, clang, verbose):
        self.clang, self.verbose = clang, verbose
        self.show = verbose or bool(os.environ.get('HIPCC_CPU_VERBOSE'))
        self.standard_input = None

    def run(self, words):
        if self.show:
            print(' ' + ' '.join('"%s"' % w.replace('\\', '\\\\').replace('"', '\\"') for w in words),
                  file=sys.stderr, flush=True)
        kept = self.standard_input if words[-1] == '-' else None
        given = {'stdin': subprocess.DEVNULL} if kept is None else {'input': kept}
        try:
            code = subprocess.run(words, check=False, **given).returncode
        except OSError as problem:
            raise Failed('%s: %s' % (words[0], problem.strerror), 127) from None
        if code < 0:
            advice = another_clang(words[0]) if words[1:2] == ['-cc1'] else ''
            raise Failed('%s was ended by signal %d (%s)%s'
                         % (os.path.basename(words[0]), -code, signal.strsignal(-code), advice))
        if code:
            raise Failed(code=code)

    def ask(self, words, folder):
        """Clang's jobs for `words`, with their temporary files in `folder`."""
        command = [self.clang, '-###'] + words
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env=dict(os.environ, TMPDIR=folder, TEMP=folder, TMP=folder), check=False,
                              encoding='utf-8', errors='surrogateescape')
        listed, lines, in_file = [], done.stderr.split('\n'), False
        for line in lines:
            if line.startswith((' "', '"') if in_file else ' "'):
                found = words_of(line)
                if in_file:  # the words of a command too long for a command line
                    listed[-1].words = listed[-1].words[:-1] + found
                else:
                    listed.append(Job(found))
                in_file = False
            elif line.startswith(' Arguments passed via response file'):
                in_file = True
            elif line not in ('', ' (end of response file)') and (self.verbose or not BANNER.match(line)):
                print(line, file=sys.stderr)
        sys.stderr.flush()
        if done.returncode or any(ERROR.match(line) for line in lines):
            raise Failed(code=max(done.returncode, 1))
        for job in listed:
            job.drop_wrong_standard()
            for word in job.words:  # clang makes such folders when it runs the job
                if word.startswith(folder + os.sep):
                    os.makedirs(os.path.dirname(word), exist_ok=True)
        return listed
