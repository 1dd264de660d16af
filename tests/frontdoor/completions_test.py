#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What shells offer behind a half-typed command. completions_test.py FOLDER HIP-REMOTE

FOLDER has bash/, zsh/ and fish/. A shell that is not installed is skipped.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import support

FOLDER, REMOTE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
ENVIRONMENT = {**support.CLEAN, 'PATH': '%s:%s' % (REMOTE.parent, support.CLEAN['PATH']), 'TERM': 'dumb'}

BASH = r'''
[ "$1" = plain ] || source /usr/share/bash-completion/bash_completion
source "$2/bash/$3"
COMP_LINE=$4 COMP_POINT=${#4} COMP_TYPE=9
# As readline splits: blanks, and = and : as words of their own.
COMP_WORDS=() && [[ $COMP_LINE == *' ' ]] && last=1 || last=
for word in $COMP_LINE; do
  while [[ $word == *[=:]* ]]; do
    head=${word%%[=:]*}
    [ -n "$head" ] && COMP_WORDS+=("$head")
    COMP_WORDS+=("${word:${#head}:1}")
    word=${word:${#head}+1}
    [ -n "$word" ] || break
  done
  [ -n "$word" ] && COMP_WORDS+=("$word")
done
[ -n "$last" ] && COMP_WORDS+=("")
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
compopt() { :; }
"$(complete -p "$3" | sed -n 's/.*-F \([^ ]*\) .*/\1/p')" "$3"
printf '%s\n' "${COMPREPLY[@]}"
'''
# A terminal inside of zsh, in which the completion lists itself; the lines between the marks are what it offers.
ZSH = r'''
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell 'PROMPT=; unsetopt zle_bracketed_paste 2>/dev/null; fpath=('"$1"'/zsh $fpath); autoload -Uz compinit'
zpty -w shell 'compinit -u -D; LISTMAX=0; stty cols 200; zstyle ":completion:*" verbose no'
zpty -w shell 'null-line() { zle kill-buffer }; compadd() { local -a offered; builtin compadd -O offered "$@"'
zpty -w shell 'builtin compadd "$@"; local code=$?; print -rl -- "OFFERED:"${^offered} >>'"$3"'; return $code }'
zpty -w shell 'print STARTED'
zpty -r shell line '*STARTED*STARTED*'
zpty -n -w shell "$2"$'\t'
sleep 1.5
zpty -d shell
'''
FISH = 'set -p fish_complete_path $argv[1]/fish; complete -C "$argv[2]"'


def lines(command):
    done = subprocess.run(command, env=ENVIRONMENT, capture_output=True, text=True, timeout=60, check=False,
                          stdin=subprocess.DEVNULL)
    return done.stdout.splitlines()


def bash(line, kind='plain'):
    return lines(['bash', '--norc', '-c', BASH, 'bash', kind, str(FOLDER), line.split()[0], line])


def zsh(line):
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, 'offered')
        lines(['zsh', '-f', '-c', ZSH, 'zsh', str(FOLDER), line, file])
        text = pathlib.Path(file).read_text() if os.path.exists(file) else ''
        return [one.partition(':')[2] for one in text.splitlines() if one.startswith('OFFERED:')]


def fish(line):
    return [one.partition('\t')[0] for one in lines(['fish', '--no-config', '-c', FISH, str(FOLDER), line])]


class Completions:
    """Each shell offers the same; `offer` and `file_prefix` are the shell's own."""

    def offers(self, line, *expected, without=()):
        found = [word.rstrip('= ') for word in self.offer(line)]
        for word in expected:
            self.assertIn(word, found, line)
        for word in without:
            self.assertNotIn(word, found, line)

    def test_commands(self):
        self.offers('hip-remote ', 'run', 'info', 'bench', 'help')
        self.offers('hip-remote help ', 'run', 'bench')

    def test_options(self):
        self.offers('hip-remote run --', '--worker', '--transport', '--local', '--no-preload', '--stats', '--help')
        self.offers('hip-remote bench --p', '--plot', '--peers', without=('--json',))
        self.offers('hip-remote info --', '--json', '--list', without=('--plot',))
        self.offers('hip-worker --', '--port', '--sessions-max', '--version', without=('--session',))
        self.offers('hipcc-cpu --', '--genco', '--offload-arch')

    def test_values(self):
        self.offers('hip-remote run --transport ', 'auto', *support.TRANSPORTS)
        self.offers('hip-remote run -t ', 'auto', 'tcp')
        self.offers('hip-remote run --runtime ', 'auto', 'cpu', 'cuda', 'amd')
        self.offers('hip-remote info --list ', 'devices', 'variables')
        self.offers('hip-worker --runtime ', 'cpu', 'amd')

    def test_values_behind_an_equal_sign(self):
        self.offers_joined('hip-remote run --transport=', 'shm', 'tcp')

    def test_devices(self):
        self.offers('hip-worker --device ', '0')

    def test_users_and_groups(self):
        self.offers('hip-worker --allow-uid ', 'root')
        self.offers('hip-worker --allow-gid ', 'root')
        self.offers('hip-worker --socket-group ', 'root')

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ('plot.svg', 'notes.txt', 'counts.json', 'hip.sock'):
                (pathlib.Path(folder) / name).touch()
            names = [os.path.basename(one) for one in self.offer('hip-remote bench --plot %s/' % folder)]
            self.assertIn('plot.svg', names)
            names = [os.path.basename(one) for one in self.offer('hip-worker --socket %s/' % folder)]
            self.assertIn('hip.sock', names)
            self.assertIn('notes.txt', names)

    def test_addresses(self):
        self.assertTrue(any(re.match(r'unix\\?:', one) for one in self.offer('hip-remote run --worker u')))

    def test_the_program_and_its_arguments(self):
        self.offers('hip-remote run --local -- tru', 'true')
        self.offers('hip-remote run --local tru', 'true')
        # Behind the program its own options stand, not ours.
        self.offers('hip-remote run true --', without=('--transport',))


class Bash(Completions, unittest.TestCase):
    def offer(self, line):
        return bash(line)

    def offers_joined(self, line, *expected):
        self.offers(line, *expected)

    def test_lists(self):
        self.offers('hip-remote bench -t shm,', 'shm,tcp', 'shm,rdma')
        self.offers('hip-worker --allow-uid 7,roo', '7,root')

    def test_the_path_of_a_unix_socket(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / 'hip.sock').touch()
            # bash puts it in behind the colon.
            self.offers('hip-remote run --worker unix:%s/h' % folder, folder + '/hip.sock')
            self.offers('hip-remote run --worker=unix:%s/h' % folder, folder + '/hip.sock')

    def test_every_option_of_help_is_offered(self):
        for command in ('run', 'info', 'bench'):
            text = support.run(REMOTE, command, '--help').stdout
            self.offers('hip-remote %s --' % command, *re.findall(r'^  (?:-\w, |    )(--[\w-]+)', text, re.M))


@unittest.skipUnless(os.path.exists('/usr/share/bash-completion/bash_completion'), 'bash-completion is not installed')
class BashWithCompletions(unittest.TestCase):
    def test_a_programs_own_completions(self):
        self.assertIn('true', bash('hip-remote run --local -- tru', 'full'))
        self.assertIn('--transport', bash('hip-remote run --tr', 'full'))


@unittest.skipUnless(shutil.which('zsh'), 'zsh is not installed')
class Zsh(Completions, unittest.TestCase):
    def offer(self, line):
        return zsh(line)

    def offers_joined(self, line, *expected):
        self.offers(line, *expected)


@unittest.skipUnless(shutil.which('fish'), 'fish is not installed')
class Fish(Completions, unittest.TestCase):
    def offer(self, line):
        return fish(line)

    def offers_joined(self, line, *expected):
        self.offers(line, *['--transport=' + word for word in expected])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
