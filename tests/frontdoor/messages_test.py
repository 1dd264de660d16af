#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a user is told who types something wrong. messages_test.py HIP-REMOTE HIP-WORKER HELLO-HIP [--no-preload]"""
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

import support

REMOTE, WORKER, HELLO = sys.argv[1:4]
PRELOAD = sys.argv[4:]


class Messages(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def said(self, code, texts, *words, program=REMOTE, **changes):
        done = support.run(program, *words, **changes)
        self.assertEqual(done.returncode, code, done.stderr)
        for text in [texts] if isinstance(texts, str) else texts:
            self.assertIn(text, done.stderr)
        return done

    def file(self, name, text, mode=0o755):
        path = self.folder / name
        path.write_text(text)
        path.chmod(mode)
        return path

    # --- Usage: 2, and what is possible ----------------------------------------------------------------------

    def test_usage(self):
        for words, text in (
                ((), 'a command is missing: run, info, top, keygen, bench or help'),
                (('rnu',), 'there is no command "rnu"; expected run, info, top, keygen, bench or help; '
                           'did you mean run?'),
                (('run',), 'a program is missing'),
                (('run', '--trasport', 'tcp', '--', 'true'), 'unknown option --trasport; did you mean --transport?'),
                (('run', '-x'), 'unknown option -x'),
                (('run', '-t', 'tpc', '--', 'true'),
                 '--transport tpc: expected %s; did you mean tcp?' % support.listed('auto')),
                (('run', '--worker', '--', 'true'), '--worker needs a value: ADDRESS'),
                (('run', '--local=yes', '--', 'true'), '--local takes no value'),
                (('run', '--local', '--worker', 'a', '--', 'true'), '--worker excludes --local'),
                (('run', '--local', '--native', '--', 'true'), '--local excludes --native'),
                (('run', '--runtime', 'cpu', '--', 'true'), '--runtime needs --local or --native'),
                (('run', '-l', '-r', 'cup', '--', 'true'),
                 '--runtime cup: expected auto, cpu, cuda or amd, or the path of a library; did you mean cpu?'),
                (('run', '--native', '-r', 'amd', '--', 'true'), 'cpu or cuda'),
                (('info', 'more'), 'unexpected argument "more"'),
                (('info', '--list', 'device'), 'did you mean devices?'),
                (('help', 'rum'), 'expected run, info, top, keygen, bench or help'),
                (('bench', '--rate', '1Gbit'), '--rate needs --rtt'),
                (('bench', '--compare', '--peers'), '--compare excludes --peers'),
                (('bench', '--rtt', '11s'), 'at most 10s'),
                (('bench', '-t', 'shm,tpc'), '--transport tpc: expected ' + support.listed())):
            with self.subTest(words=words):
                self.said(2, text, *words)

    def test_worker_usage(self):
        for words, text in (
                (('--prot', '1'), 'unknown option --prot; did you mean --port?'),
                (('--port', '70000'), '--port 70000: expected a number from 0 to 65535'),
                (('--device', '64'), 'expected a number from 0 to 63'),
                (('--spares', '0'), 'expected a number from 1 to 64'),
                (('--sessions-max', '5000'), 'expected a number from 1 to 4096'),
                (('--no-tcp',), '--no-tcp needs --socket'),
                (('--listen', '0.0.0.0'), 'SSH tunnel'),
                (('--listen', '0.0.0.0:80'), 'SSH tunnel to 127.0.0.1:80.'),
                (('--listen', '127.0.0.1:x'), '--listen: '),
                (('--listen', 'unix:/x/a'), '--listen unix:/x/a: a Unix socket is named by --socket'),
                (('--listen', '127.0.0.1:81', '--port', '82'), 'name two ports'),
                (('--socket', '/' + 'x' * 200), 'longer than 107 bytes'),
                (('--socket', '@a', '--allow-uid', 'no-such-user'), 'there is no such user here'),
                (('--socket', '@a', '--allow-gid', 'no-such-group'), 'there is no such group here'),
                (('--socket', '@a', '--allow-uid', '4294967295'), 'expected a number from 0 to 4294967294'),
                (('--socket', '/x/a', '--socket-mode', '9'), 'expected an octal number from 0 to 777'),
                (('--socket', '@a', '--socket-mode', '660'), '@a is no file'),
                (('--socket', '/x/a', '--socket-group', 'root'), '--socket-group needs --allow-uid or --allow-gid'),
                (('--allow-uid', 'root'), '--allow-uid needs --socket'),
                (('--runtime', 'rocm'), '--runtime rocm: expected auto, cpu, cuda or amd, or the path of a library'),
                (('here',), 'unexpected argument "here"')):
            with self.subTest(words=words):
                self.said(2, text, *words, program=WORKER)
        self.said(2, 'TF_WORKER_PORT x: expected a number from 0 to 65535', program=WORKER, TF_WORKER_PORT='x')
        self.said(2, 'TF_RUNTIME gpu: expected auto', program=WORKER, TF_RUNTIME='gpu')
        self.said(2, 'TF_IO_TIMEOUT=0: expected seconds, a number from 1 to 86400', program=WORKER, TF_IO_TIMEOUT='0')

    def test_versions(self):
        self.assertRegex(support.run(REMOTE, '--version').stdout, r'^hip-remote \d+\.\d+\.\d+\n$')
        self.assertRegex(support.run(WORKER, '--version').stdout, r'^hip-worker \d+\.\d+\.\d+\n$')

    def test_help_is_the_same_everywhere(self):
        for command in ('run', 'info', 'bench', 'help'):
            one, other = support.run(REMOTE, command, '--help'), support.run(REMOTE, 'help', command)
            self.assertEqual((one.returncode, one.stdout), (0, other.stdout))
            self.assertLessEqual(max(len(line) for line in one.stdout.splitlines()), 80)

    def test_what_stands_behind_the_program_is_the_programs(self):
        done = support.run(REMOTE, 'run', '-vl', '--stats', 'echo', '--stats', '--', '-x')
        self.assertEqual(done.stdout, '--stats -- -x\n', done.stderr)

    # --- Variables are checked before anything is started ----------------------------------------------------

    def test_variables(self):
        for name, value, text in (
                ('TF_COPY_THREADS', '17', 'expected a number from 1 to 16'),
                ('TF_WORKER_PORT', '65536', 'expected a number from 1 to 65535'),
                ('TF_CONNECT_TIMEOUT', '0', 'expected a number from 1 to 86400'),
                ('TF_IO_TIMEOUT', 'soon', 'expected seconds, a number from 1 to 86400'),
                ('TF_DEVICE_ID', '64', 'expected a number from 0 to 63'),
                ('TF_TRANSPORT', 'udp', 'expected ' + support.listed('auto')),
                ('TF_SHAPE', 'rtt=1h', 'is not a shape')):
            with self.subTest(name=name):
                done = self.said(2, [name, text], 'run', '--', 'echo', 'started', **{name: value})
                self.assertEqual(done.stdout, '')
        # What the command line replaces is not looked at.
        support.run(REMOTE, 'run', '--worker', 'localhost:1', '--', 'true', TF_WORKER_PORT='x')

    def test_a_stats_file_that_cannot_be_written_is_said_first(self):
        done = self.said(125, 'cannot be written', 'run', '--stats=/nosuch/x', '--', 'echo', 'started')
        self.assertEqual(done.stdout, '')
        self.said(1, 'the folder is missing', 'bench', '--plot', '/nosuch/x.svg')

    # --- Addresses -------------------------------------------------------------------------------------------

    def test_addresses(self):
        for address, text in (
                ('/run/hip.sock', 'did you mean unix:/run/hip.sock?'),
                ('./hip.sock', 'did you mean unix:./hip.sock?'),
                ('@hip', 'did you mean unix:@hip?'),
                ('tcp://gpuhost:18515', 'did you mean gpuhost:18515?'),
                ('http://gpuhost:80/x', 'did you mean gpuhost:80?'),
                ('unix:', 'the path is empty'),
                ('gpuhost:70000', 'a port is a number from 1 to 65535'),
                ('gpuhost:0', 'a port is a number from 1 to 65535')):
            with self.subTest(address=address):
                self.said(2, text, 'run', '--worker', address, '--', 'true')
                self.said(2, text, 'info', '--worker', address)

    # --- The program -----------------------------------------------------------------------------------------

    def test_programs_that_cannot_be_run(self):
        data = self.file('data.txt', 'no program', 0o644)
        no_interpreter = self.file('script', '#!/nosuch/interpreter\n')
        here = self.file('here', '#!/bin/sh\n')
        for name, code, text in (
                ('nosuch-program', 127, 'nosuch-program: no such program in PATH'),
                ('/nosuch/program', 127, 'no such program'),
                (data, 126, 'not executable (chmod +x makes it so)'),
                (self.folder, 126, 'is a directory'),
                (no_interpreter, 127, 'the interpreter in its first line')):
            with self.subTest(name=name):
                self.said(code, text, 'run', '--local', '--', name)
                # As env(1) has it.
                self.assertEqual(code, support.run('env', name).returncode)
        done = subprocess.run([REMOTE, 'run', '--', 'here'], cwd=here.parent, env=support.CLEAN, capture_output=True,
                              text=True, check=False)
        self.assertEqual((done.returncode, 'did you mean ./here?' in done.stderr), (127, True), done.stderr)

    def test_a_client_without_the_management_programs(self):
        """As the package of the client alone is installed."""
        (self.folder / "bin").mkdir()
        lib = self.folder / "lib"
        lib.mkdir()
        remote = shutil.copy(REMOTE, self.folder / "bin")
        for library in (pathlib.Path(REMOTE).parent.parent / "lib").glob("libamdhip64.so.[567]"):
            (lib / library.name).symlink_to(library)
        self.said(1, ["hip-remote top: ", "smi-remote: No such file", "package hip-remote-smi"], "top", program=remote)
        if not PRELOAD:
            amds = self.file("rocm-smi", "#!/bin/sh\nexit 0\n")
            self.said(126, "would show this host, and not the worker", "run", "--worker", "gpuhost", "--", amds,
                      program=remote)
            self.said(0, "", "run", "--worker", "gpuhost", "--no-preload", "--", amds, program=remote)

    def test_exit_codes_of_programs(self):
        self.assertEqual(support.run(REMOTE, 'run', '--', 'sh', '-c', 'exit 7').returncode, 7)
        self.assertEqual(support.run(REMOTE, 'run', '--', 'sh', '-c', 'kill -9 $$').returncode, 128 + 9)

    # --- Workers that are none -------------------------------------------------------------------------------

    def hello(self, address, *texts, **changes):
        """A HIP program towards `address`, and info in both forms: each says why there is no session."""
        began = time.monotonic()
        done = support.run(REMOTE, 'run', *PRELOAD, '--worker', address, '--', HELLO, **changes)
        took = time.monotonic() - began
        self.assertNotEqual(done.returncode, 0)
        answers = [done.stderr] + [support.run(REMOTE, 'info', '--worker', address, *form, **changes).stdout
                                   for form in ((), ('--json',))]
        for answer in answers:
            for text in texts:
                self.assertIn(text, answer)
        return took

    def test_nobody_listens(self):
        port = support.free_port()
        self.hello(f'127.0.0.1:{port}', f'no worker (worker 127.0.0.1:{port})', 'Connection refused',
                   f'To start a worker there: hip-worker --port {port}')
        self.hello(f'unix:{self.folder}/none.sock', 'No such file', f'hip-worker --socket {self.folder}/none.sock')

    def test_a_name_that_is_none(self):
        self.hello('no-such-host.invalid:18515', 'cannot look up no-such-host.invalid:18515')

    def test_servers_of_another_kind_are_named(self):
        for answer, close, name in (
                (b'HTTP/1.1 400 Bad Request\r\nServer: x\r\n\r\n', True, 'an HTTP server answers there'),
                (b'SSH-2.0-x\r\n', False, 'an SSH server answers there'),
                (b'\x15\x03\x01\x00\x02\x02\x46', True, 'a TLS server answers there'),
                (b'220 mail\r\n', False, 'a mail or FTP server answers there'),
                (b'hello\x01', False, 'something other than hip-worker answers there'),
                (b'no', True, 'something other than hip-worker answers there')):
            with self.subTest(name=name), support.Server(answer, close) as server:
                took = self.hello(f'127.0.0.1:{server.port}', name)
                self.assertLess(took, 5, 'it waited for the timeout')

    def test_a_server_that_hangs_up(self):
        with support.Server() as server:
            self.hello(f'127.0.0.1:{server.port}', 'closed the connection without an answer')

    def test_a_silent_server(self):
        with support.Server(close=False) as server:
            took = self.hello(f'127.0.0.1:{server.port}', f'127.0.0.1:{server.port} accepted the connection but sent '
                              'nothing within TF_CONNECT_TIMEOUT (2 s)', TF_CONNECT_TIMEOUT='2')
            self.assertLess(took, 6)

    def test_a_runtime_that_is_none_is_the_reason(self):
        done = support.run(REMOTE, 'info', '--worker', 'localhost:1', TF_COPY_THREADS='x')
        self.assertIn('wrong: TF_COPY_THREADS=x: expected a number from 1 to 16', done.stdout)

    def test_a_worker_whose_runtime_cannot_load_does_not_say_that_it_listens(self):
        broken = self.file('libbroken.so', 'no library')
        for runtime, why in ((broken, 'libbroken.so'), (self.folder / 'none.so', 'none.so'),
                             (shutil.which('true'), 'true')):
            with self.subTest(why):
                done = self.said(1, [f'--runtime {runtime}: ', why, 'no session process can start'], '--port', '0',
                                 '--runtime', runtime, program=WORKER)
                self.assertNotIn('listening', done.stderr)

    def test_a_worker_that_listens_says_so(self):
        with subprocess.Popen([WORKER, '--port', '0', '--runtime', 'cpu'], stderr=subprocess.PIPE, text=True,
                              env=support.CLEAN) as worker:
            self.addCleanup(support.end, worker)
            self.assertRegex(worker.stderr.readline(), r'listening on 127\.0\.0\.1:\d+')
            worker.terminate()
            self.assertEqual(worker.wait(20), 0)

    def test_a_host_and_a_port_in_one_word(self):
        with socket.create_server(('127.0.0.1', 0)) as free:
            port = free.getsockname()[1]
        for words in (('--listen', f'127.0.0.1:{port}'), ('--listen', '127.0.0.1', '--port', str(port)),
                      ('--listen', f'127.0.0.1:{port}', '--port', str(port))):
            with subprocess.Popen([WORKER, *words, '--runtime', 'cpu'], stderr=subprocess.PIPE, text=True,
                                  env=support.CLEAN) as worker:
                self.addCleanup(support.end, worker)
                self.assertIn(f'listening on 127.0.0.1:{port}', worker.stderr.readline())
                worker.terminate()
                self.assertEqual(worker.wait(20), 0)

    def test_a_device_that_there_is_not(self):
        for words, variables in ((('--device', '2'), {}), ((), {'TF_DEVICE_ID': '2'})):
            done = self.said(1, ['devices 2: runtime cpu (', 'libhip_cpu.so) has no such device'], '--port', '0',
                             '--runtime', 'cpu', *words, program=WORKER, HIP_CPU_DEVICES='2', **variables)
            self.assertNotIn('listening', done.stderr)

    # The variable names the device once, not at the worker and again at the client.
    def test_one_device_of_a_private_worker(self):
        self.said(0, '', 'run', '--local', '--runtime', 'cpu', *PRELOAD, '--', HELLO, HIP_CPU_DEVICES='2',
                  TF_DEVICE_ID='1')

    def test_a_port_that_is_taken(self):
        with support.Server() as server:
            self.said(1, ['cannot listen on 127.0.0.1', 'in use'], '--port', server.port, program=WORKER)


if __name__ == '__main__':
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    unittest.main(argv=sys.argv[:1], verbosity=2)
