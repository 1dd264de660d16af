# SPDX-License-Identifier: Apache-2.0
"""Child processes with a place to run, a deadline and an account of the processor time they took."""
import ctypes
import os
import select
import signal
import subprocess
import sys
import tempfile
import time

CORES = sorted(os.sched_getaffinity(0))
GRACE_S = 5
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class Unavailable(Exception):
    """This cannot be measured here; the message says why."""


def end_in_order():
    """From now on SIGTERM and SIGINT unwind this program, so that all it started is ended."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda which, _: sys.exit(128 + which))


class Placement:
    """Where the two ends run: each on a core of its own, or wherever the kernel puts them."""

    def __init__(self, name, client, server):
        self.name, self.client, self.server = name, client, server

    def __str__(self):
        if self.name == 'unpinned':
            return 'unpinned'
        return 'pinned: client on core %d, server on core %d' % (min(self.client), min(self.server))


PINNED = Placement('pinned', {CORES[0]}, {CORES[-1]})
UNPINNED = Placement('unpinned', set(CORES), set(CORES))


class Process:
    """One child. Its standard output goes to a file, its standard error too unless `quiet` is False."""

    def __init__(self, command, cores, environment=None, pipes=False, keep_fd=None):
        self.command = [str(word) for word in command]
        self.errors = tempfile.TemporaryFile('w+')
        self.output = subprocess.PIPE if pipes else tempfile.TemporaryFile('w+')
        variables = dict(os.environ)
        for name, value in (environment or {}).items():
            if value is None:
                variables.pop(name, None)
            else:
                variables[name] = str(value)
        try:
            self.child = subprocess.Popen(
                self.command, env=variables, stdout=self.output, stderr=self.errors,
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL, text=True,
                pass_fds=() if keep_fd is None else (keep_fd,),
                preexec_fn=lambda: self._in_child(cores))
        except OSError as error:
            raise Unavailable('cannot run %s: %s' % (self.command[0], error.strerror)) from error
        self.pid = self.child.pid
        self.cpu_seconds = 0.0

    @staticmethod
    def _in_child(cores):
        os.sched_setaffinity(0, cores)
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)  # it does not outlive this program, whatever ends that

    def wait(self, timeout_s):
        """Waits for the end; raises Unavailable where the deadline passes or the exit code is not 0."""
        code = self._reap(timeout_s)
        if code is None:
            self.end()
            raise Unavailable('%s did not end within %d s' % (os.path.basename(self.command[0]), timeout_s))
        if code != 0:
            raise Unavailable('%s ended with %d: %s' % (os.path.basename(self.command[0]), code, self.last_words()))

    def end(self):
        """Ends the child, by its id, whatever it is doing."""
        if self.child.returncode is not None:
            return
        for number in (signal.SIGTERM, signal.SIGKILL):
            os.kill(self.pid, number)
            if self._reap(GRACE_S) is not None:
                return

    def text(self):
        self.output.seek(0)
        return self.output.read()

    def last_words(self):
        said = []
        for stream in (self.errors, None if self.output == subprocess.PIPE else self.output):
            if stream:
                stream.seek(0)
                said += [line.strip() for line in stream.read().splitlines() if line.strip()]
        return said[-1][:160] if said else 'it said nothing'

    def _reap(self, timeout_s):
        """The exit code, or None where the child still runs after `timeout_s`. Children of it count as its time."""
        if self.child.returncode is not None:
            return self.child.returncode
        descriptor = os.pidfd_open(self.pid)
        try:
            poll = select.poll()
            poll.register(descriptor, select.POLLIN)
            if not poll.poll(timeout_s * 1000):
                return None
        finally:
            os.close(descriptor)
        _, status, usage = os.wait4(self.pid, 0)
        self.cpu_seconds = usage.ru_utime + usage.ru_stime
        self.child.returncode = os.waitstatus_to_exitcode(status)
        return self.child.returncode


def run(command, cores, environment=None, timeout_s=60):
    """Runs to the end; returns (standard output, processor seconds)."""
    process = Process(command, cores, environment)
    try:
        process.wait(timeout_s)
    finally:
        process.end()
    return process.text(), process.cpu_seconds


def run_pair(server, client, placement, environment=None, port=None, timeout_s=60):
    """Starts `server`, waits until it listens on `port`, runs `client` to its end. Returns the client's standard
    output and the processor seconds of both."""
    serving = Process(server, placement.server, environment)
    try:
        wait_until_listening(port, serving)
        asking = Process(client, placement.client, environment)
        try:
            asking.wait(timeout_s)
        finally:
            asking.end()
        serving._reap(1)
    finally:
        serving.end()
    return asking.text(), asking.cpu_seconds + serving.cpu_seconds


def wait_until_listening(port, process, timeout_s=10):
    wanted, listening = ':%04X' % port, '0A'
    until = time.monotonic() + timeout_s
    while time.monotonic() < until:
        for table in ('/proc/net/tcp', '/proc/net/tcp6'):
            for line in open(table).read().splitlines()[1:]:
                words = line.split()
                if words[1].endswith(wanted) and words[3] == listening:
                    return
        if process._reap(0.01) is not None:
            raise Unavailable('%s ended before it listened: %s' % (process.command[0], process.last_words()))
    raise Unavailable('%s did not listen on port %d within %d s' % (process.command[0], port, timeout_s))


def children_of(pid):
    try:
        return [int(word) for task in os.listdir('/proc/%d/task' % pid)
                for word in open('/proc/%d/task/%s/children' % (pid, task)).read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def tree_of(pid):
    """`pid` and all its descendants that live."""
    found = [pid]
    for one in found:
        found += children_of(one)
    return found


def cpu_seconds_of(pids):
    """Processor time that the processes have used so far, by the scheduler's own count (nanoseconds, not ticks)."""
    total = 0
    for pid in pids:
        try:
            for task in os.listdir('/proc/%d/task' % pid):
                total += int(open('/proc/%d/task/%s/schedstat' % (pid, task)).read().split()[0])
        except (FileNotFoundError, ProcessLookupError):
            pass
    return total / 1e9
