#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pod that TensorFusion's operator has given a worker: the program finds it by the pod's variables.
operator_test.py HIP-REMOTE HIP-WORKER RUNTIME PROGRAM [--no-preload]"""
import http.server
import re
import subprocess
import sys
import threading
import unittest

import support

REMOTE, WORKER, RUNTIME, PROGRAM = sys.argv[1:5]
RUN = [REMOTE, 'run', *sys.argv[5:], '--', PROGRAM]
INFO, URL = 'TENSOR_FUSION_OPERATOR_CONNECTION_INFO', 'TENSOR_FUSION_OPERATOR_GET_CONNECTION_URL'


class Operator:
    """Says that it has no worker for some times, and then which."""

    def __init__(self, answer, refusals=0, status=200):
        outer = self
        self.asked = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):  # noqa: N802 (the base class's name)
                outer.asked.append(self.path)
                late = len(outer.asked) <= refusals
                body = b'' if late else answer.encode()
                self.send_response(503 if late else status)
                self.send_header('Content-Type', 'text/plain')
                self.send_header('Content-Length', str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
        self.url = 'http://127.0.0.1:%d/api/connection?name=app&namespace=default' % self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Pod(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.worker = subprocess.Popen([WORKER, '-p', '0', '--runtime', RUNTIME], stderr=subprocess.PIPE, text=True,
                                      env=support.CLEAN)
        cls.port = None
        for line in cls.worker.stderr:
            found = re.search(r'127\.0\.0\.1:(\d+)', line)
            if found:
                cls.port = int(found.group(1))
                break
        threading.Thread(target=cls.worker.stderr.read, daemon=True).start()

    @classmethod
    def tearDownClass(cls):
        cls.worker.terminate()
        cls.worker.wait(support.LIMIT_S)

    def succeeds(self, **variables):
        done = support.run(*RUN, **variables)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def test_a_connection_in_the_environment(self):
        self.succeeds(**{INFO: 'native+127.0.0.1+%d+worker-1-77' % self.port})

    def test_an_operator_that_is_asked(self):
        with Operator('hip+127.0.0.1+%d+worker-1-77+code' % self.port, refusals=1) as operator:
            self.succeeds(**{URL: operator.url})
            self.assertEqual(operator.asked, ['/api/connection?name=app&namespace=default'] * 2)

    def test_info_asks_it_too(self):
        with Operator('native+127.0.0.1+%d+w-1' % self.port) as operator:
            done = support.run(REMOTE, 'info', **{URL: operator.url})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn('127.0.0.1:%d' % self.port, done.stdout)

    def test_what_goes_wrong_is_named(self):
        done = support.run(*RUN, **{INFO: 'teapot'})
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn('%s="teapot": expected native+HOST+PORT' % INFO, done.stderr)
        with Operator('who are you?', status=401) as operator:
            done = support.run(*RUN, **{URL: operator.url})
            self.assertNotEqual(done.returncode, 0)
            self.assertRegex(done.stderr, r"operator at 127\.0\.0\.1:\d+: it answered 401: who are you\?")

    def test_our_own_variables_come_first(self):
        self.succeeds(TF_WORKER_HOST='127.0.0.1', TF_WORKER_PORT=str(self.port), **{INFO: 'native+192.0.2.1+1'})


if __name__ == '__main__':
    del sys.argv[1:]
    unittest.main()
