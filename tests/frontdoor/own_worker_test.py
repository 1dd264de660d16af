#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker without options, and the programs that find it.
own_worker_test.py HIP-REMOTE HIP-WORKER HELLO-HIP [--no-preload]"""
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import support

REMOTE, WORKER, HELLO = sys.argv[1:4]
PRELOAD = sys.argv[4:]
OWN_USER = f'no keys: for programs of user {os.geteuid()} only'


class OwnWorker(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.socket = f'{self.folder}/hip-remote.sock'

    def worker(self, *words, **changes):
        """A worker of the CPU runtime, and where it listens."""
        read_end, write_end = os.pipe()
        process = subprocess.Popen([WORKER, '--runtime', 'cpu', '--ready-fd', str(write_end), *words], text=True,
                                   stderr=subprocess.PIPE, pass_fds=[write_end],
                                   env={**support.CLEAN, 'XDG_RUNTIME_DIR': self.folder, **changes})
        self.addCleanup(process.stderr.close)
        self.addCleanup(support.end, process)
        os.close(write_end)
        with open(read_end, encoding='utf-8') as ready:
            _, port, *socket = ready.readline().split()
        return process, int(port), *socket

    def lines(self, process):
        """What it has said, once it has ended."""
        process.send_signal(signal.SIGTERM)
        self.assertEqual(process.wait(support.LIMIT_S), 0)
        return process.stderr.read().splitlines()

    def hello(self, *words, **changes):
        return support.run(REMOTE, 'run', *PRELOAD, *words, '--', HELLO, XDG_RUNTIME_DIR=self.folder, **changes)

    def test_has_no_port_and_is_found(self):
        process, port, socket = self.worker()
        self.assertEqual((port, socket), (0, self.socket))
        for transport, over in (('auto', 'shm'), ('tcp', 'tcp')):
            done = self.hello('-v', '-t', transport)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(f'connected to unix:{self.socket} over {over}', done.stderr)
        info = support.run(REMOTE, 'info', XDG_RUNTIME_DIR=self.folder).stdout
        self.assertIn(f'unix:{self.socket}', info)
        listening = [line for line in self.lines(process) if 'listening on' in line]
        self.assertEqual(len(listening), 1, listening)
        self.assertIn(f'listening on unix:{self.socket}', listening[0])

    def test_is_one(self):
        self.worker()
        done = support.run(WORKER, '--runtime', 'cpu', XDG_RUNTIME_DIR=self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f'another process already listens on unix:{self.socket}', done.stderr)

    def test_who_names_another_does_not_get_it(self):
        self.worker()
        port = str(support.free_port())
        for changes in ({'TF_WORKER_PORT': port}, {'TF_WORKER_HOST': '127.0.0.1', 'TF_WORKER_PORT': port},
                        {'TF_WORKER_SOCKET': f'{self.folder}/other.sock'}):
            done = self.hello(**changes)
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, rf'no worker \(worker (\w+\S*:{port}|unix:\S+other.sock)\)')

    def test_one_that_was_killed_is_not_found(self):
        process, *_ = self.worker()
        support.end(process)
        done = self.hello(TF_CONNECT_TIMEOUT='2')
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f'no worker of this user listens on unix:{self.socket}. To start one: hip-worker', done.stderr)
        self.worker()  # takes the place
        self.assertEqual(self.hello().returncode, 0)

    def test_a_port_is_open_if_it_is_asked_for(self):
        for words, changes in ((('--port', '0'), {}), (('--listen', '127.0.0.1', '--port=0'), {}),
                               (('--socket', f'{self.folder}/a.sock', '-p', '0'), {})):
            process, port, *_ = self.worker(*words, **changes)
            self.assertNotEqual(port, 0)
            text = '\n'.join(self.lines(process))
            self.assertRegex(text, rf'listening on 127\.0\.0\.1:{port} \({OWN_USER}\)')
            self.assertNotIn(self.socket, text)
        port = support.free_port()
        self.assertEqual(self.worker(TF_WORKER_PORT=str(port))[1], port)
        self.assertEqual(self.worker('--no-tcp', '--socket', f'{self.folder}/b.sock', TF_WORKER_PORT=str(port))[1:],
                         (0, f'{self.folder}/b.sock'))
        self.assertEqual(self.worker('--socket', f'{self.folder}/c.sock')[1:], (0, f'{self.folder}/c.sock'))

    def test_a_private_worker_has_a_port_for_transports_that_need_one(self):
        for transport, has_port in (('auto', False), ('shm', False), ('tcp', True)):
            done = self.hello('--local', '--runtime', 'cpu', '-v', '-t', transport)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(OWN_USER in done.stderr, has_port, done.stderr)
            self.assertFalse(os.path.exists(self.socket))


if __name__ == '__main__':
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    unittest.main(argv=sys.argv[:1], verbosity=2)
