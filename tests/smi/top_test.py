#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hip-remote top in a terminal of its own. top_test.py BUILD"""
import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent / "faults"))
from harness import MIB, Worker  # noqa: E402  (where it is, this file says)

BUILD = pathlib.Path(sys.argv[1])
LIMIT_S = 60
LEAVE = "\033[?1049l"


class Screen:
    """hip-remote top on a terminal of 24 lines."""

    def __init__(self, worker, *words, columns=80, locale="C"):
        self.text = ""
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.before = termios.tcgetattr(slave)
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("TF_", "LC_", "LANG"))}
        self.process = subprocess.Popen(
            [BUILD / "bin/hip-remote", "top", "--worker", f"unix:{worker.socket}", *words], stdin=slave, stdout=slave,
            stderr=subprocess.PIPE, text=True, env={**clean, "TERM": "xterm", "LC_ALL": locale}, start_new_session=True)
        self.slave = slave

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stderr.close()
        os.close(self.master)
        os.close(self.slave)

    def until(self, pattern):
        deadline = time.monotonic() + LIMIT_S
        while not re.search(pattern, self.text):
            if not select.select([self.master], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"no {pattern!r} in {self.text!r}")
            self.text += os.read(self.master, 65536).decode(errors="replace")
        return self.text

    def press(self, key):
        os.write(self.master, key.encode())

    def wait(self):
        return self.process.wait(LIMIT_S)


class Top(unittest.TestCase):
    def setUp(self):
        self.worker = Worker(environment={"HIP_CPU_DEVICES": "2"})
        self.addCleanup(self.worker.__exit__)

    def test_devices_sessions_and_keys(self):
        client = self.worker.client("shm", "hold", 32 * MIB)
        self.addCleanup(client.__exit__)
        self.assertEqual(client.expect("holding", 30)[0], 0, client.errors())
        with Screen(self.worker) as screen:
            screen.until(rf"GPU0[\s\S]*load \[[\s\S]*GPU1[\s\S]*{client.pid}\s+fault_client")
            screen.until("every 1 s")
            screen.until(r"clock \S+.*temp \S+.*power \S+")
            screen.until(r"q quit   \+ slower   - faster")
            screen.press("+")
            screen.until("every 2 s")
            screen.press("-")
            screen.until(r"every 2 s[\s\S]*every 1 s")
            screen.press("q")
            self.assertEqual(screen.wait(), 0, screen.text)
            screen.until(re.escape(LEAVE))
            self.assertEqual(termios.tcgetattr(screen.slave), screen.before)

    def test_signals_leave_the_terminal_as_it_was(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            with Screen(self.worker) as screen:
                screen.until("GPU1")
                os.kill(screen.process.pid, number)
                self.assertEqual(screen.wait(), 0)
                screen.until(re.escape(LEAVE))
                self.assertEqual(termios.tcgetattr(screen.slave), screen.before)

    def test_lines_fit_a_narrow_terminal(self):
        with Screen(self.worker, columns=32, locale="C.UTF-8") as screen:
            text = screen.until(r"GPU1[\s\S]*tenant")
            screen.press("q")
            self.assertEqual(screen.wait(), 0)
        frame = re.split(r"\033\[H", text)[1]
        for line in frame.replace("\r", "").split("\n"):  # the terminal's driver adds some
            shown = re.sub(r"\033\[[?0-9;]*[a-zA-Z]", "", line)
            self.assertLessEqual(len(shown), 32, repr(line))
        self.assertRegex(frame, "[▁▂▃▄▅▆▇█]")

    def test_a_worker_that_ends(self):
        with Screen(self.worker) as screen:
            screen.until("GPU1")
            self.worker.process.kill()
            self.assertEqual(screen.wait(), 1)
            screen.until(re.escape(LEAVE))
            self.assertIn("the connection to the worker is lost", screen.process.stderr.read())

    def test_no_terminal(self):
        done = subprocess.run([BUILD / "bin/hip-remote", "top", "--worker", f"unix:{self.worker.socket}"],
                              capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, check=False)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertRegex(done.stderr, "^hip-remote top: a terminal is needed")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
