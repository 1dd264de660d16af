#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A signal ends hip-remote and all that it started, at once. endings_test.py HIP-REMOTE [--bench]

--bench: the build has hip_bench and transport_bench, and is fast enough to wait for them.
"""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import support

REMOTE, HAS_BENCH = sys.argv[1], '--bench' in sys.argv[2:]
AT_ONCE_S = 5  # the helpers' grace is 3 s; mostly it takes milliseconds


def wait_until(found, within_s=20):
    until = time.monotonic() + within_s
    while not found():
        if time.monotonic() > until:
            raise AssertionError('it did not come to it')
        time.sleep(0.02)


class Endings(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def start(self, *words):
        # Its own session, as a terminal or a service gives one; its own place for temporary files.
        process = subprocess.Popen([REMOTE, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**support.CLEAN, 'TMPDIR': self.folder.name}, start_new_session=True)
        self.addCleanup(support.end, process)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def ended(self, process, number, expected):
        children = support.descendants(process.pid)
        self.assertTrue(children)
        os.kill(process.pid, number)
        began = time.monotonic()
        self.assertEqual(process.wait(timeout=20), expected)
        self.assertLess(time.monotonic() - began, AT_ONCE_S)
        left = support.gone(children, 1)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        self.assertEqual(left, {})
        self.assertEqual(os.listdir(self.folder.name), [], 'temporary files are left')

    def ready(self, process, word):
        return any(word in text for text in support.living(support.descendants(process.pid)).values())

    def test_run_local(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(number=number):
                process = self.start('run', '--local', '--runtime', 'cpu', '--', 'sleep', '60')
                wait_until(lambda: self.ready(process, 'sleep 60'))
                self.ended(process, number, 128 + number)

    def test_run_local_while_the_worker_starts(self):
        process = self.start('run', '--local', '--runtime', 'cpu', '--', 'sleep', '60')
        wait_until(lambda: self.ready(process, 'hip-worker'))
        self.ended(process, signal.SIGTERM, 128 + signal.SIGTERM)

    def test_the_program_decides_when_it_ends(self):
        script = 'trap "exit 5" TERM; echo ready; while :; do sleep 0.05; done'
        process = self.start('run', '--local', '--runtime', 'cpu', '--', 'sh', '-c', script)
        self.assertEqual(process.stdout.readline(), 'ready\n')
        self.ended(process, signal.SIGTERM, 5)

    def test_ctrl_c_reaches_the_program_once(self):
        """The terminal sends SIGINT to the whole group: it is not handed on a second time, and the private worker
        stays until the program has ended."""
        script = ('import signal, sys, time\ncount = 0\ndef count_it(*_):\n    global count\n    count += 1\n'
                  'signal.signal(signal.SIGINT, count_it)\nprint("ready", flush=True)\n'
                  'until = time.monotonic() + 1\nwhile time.monotonic() < until:\n    time.sleep(0.05)\n'
                  'print("interrupts:", count, flush=True)\n')
        leader, terminal = os.openpty()
        arguments = ['run', '--local', '--runtime', 'cpu', '--', sys.executable, '-c', script]
        setup = ('import fcntl, os, sys, termios\n'
                 'fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n'
                 'os.execv(sys.argv[1], sys.argv[1:])')
        process = subprocess.Popen([sys.executable, '-c', setup, REMOTE, *arguments], stdin=terminal,
                                   stdout=subprocess.PIPE, text=True, start_new_session=True,
                                   env={**support.CLEAN, 'TMPDIR': self.folder.name})
        self.addCleanup(support.end, process)
        self.addCleanup(process.stdout.close)
        self.addCleanup(os.close, leader)
        os.close(terminal)
        self.assertEqual(process.stdout.readline(), 'ready\n')
        os.write(leader, b'\x03')
        time.sleep(0.5)
        self.assertTrue(self.ready(process, 'hip-worker'), 'the worker has ended before the program')
        self.assertEqual(process.stdout.readline(), 'interrupts: 1\n')
        self.assertEqual(process.wait(timeout=20), 0)

    def test_a_worker_does_not_outlive_a_killed_hip_remote(self):
        process = self.start('run', '--local', '--runtime', 'cpu', '--', 'sleep', '3')
        wait_until(lambda: self.ready(process, 'sleep 3'))
        children = support.living(support.descendants(process.pid))
        workers = {pid for pid, text in children.items() if 'hip-worker' in text}
        self.assertTrue(workers)
        process.kill()
        process.wait()
        self.assertEqual(support.gone(workers, 8), {})
        for left in pathlib.Path(self.folder.name).iterdir():  # nobody was there to remove it
            self.assertEqual(list(left.iterdir()), [])

    @unittest.skipUnless(HAS_BENCH, 'no benchmarks in this build')
    def test_bench(self):
        for number, words, program in (
                (signal.SIGTERM, (), 'transport_bench'),
                (signal.SIGINT, ('--rtt', '30ms', '-t', 'shm'), 'hip_bench'),
                (signal.SIGTERM, ('--rtt', '100us,30ms', '-t', 'tcp'), 'hip-worker')):
            with self.subTest(words=words):
                process = self.start('bench', *words)
                wait_until(lambda: self.ready(process, program), 100)
                time.sleep(0.3)
                self.ended(process, number, 128 + number)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1], verbosity=2)
