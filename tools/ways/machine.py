# SPDX-License-Identifier: Apache-2.0
"""How a program is run each way: natively on a runtime library, or through a private worker over one transport."""
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NATIVE = 'native'
WAYS = (NATIVE, 'shm', 'tcp')
TRANSPORTS = re.findall(r'^[^#\n].*$', (ROOT / 'transport/factory/transports.txt').read_text(), re.M)
OUTPUT_LIMIT = 4 << 20  # bytes of each stream that are read: of longer ones the first and the last half of it
LIST_LIMIT = 128 << 20  # the same of a list of cases, or of many cases' output: rocFFT lists 186,350 names, 15 MiB
GRACE_S = 2.0           # from the request to end until the kill
SIGNAL_BASE = 128       # a shell's exit status of a process that signal n ended is 128 + n


@dataclasses.dataclass
class Run:
    """How one process ended. `status` is None if it ran out of time."""
    status: int | None
    out: str
    err: str
    seconds: float

    @property
    def signal(self):
        """The name of the signal that ended the program, or None."""
        number = (self.status or 0) - SIGNAL_BASE if (self.status or 0) > 0 else -(self.status or 0)
        try:
            return signal.Signals(number).name
        except ValueError:
            return None


def progress(text):
    print(text, file=sys.stderr, flush=True)


def chosen_ways(text, fail):
    """The ways that --ways names. `fail` gets the message if one does not exist."""
    ways = [way for way in text.split(',') if way]
    possible = [NATIVE, *TRANSPORTS]
    unknown = sorted(set(ways) - set(possible))
    if unknown or not ways:
        fail(f"--ways {','.join(unknown)}: possible are {', '.join(possible)}")
    return ways


def build_release(folder, tool):
    """Builds build/release, which `folder` must be; ends the tool otherwise."""
    if folder != ROOT / 'build' / 'release':
        sys.exit(f'{tool}: {folder}/bin/hip-remote: there is none')
    steps = 'source "$0/tools/lib.sh"; step setup "$0/tools/setup" && build release'
    if subprocess.run(['bash', '-c', steps, str(ROOT)], stdout=sys.stderr).returncode != 0:
        sys.exit(f'{tool}: the build failed, see above')


def end(process):
    """Ends a process and what it started: asks, then kills."""
    for number, wait_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            pass
        try:
            process.wait(wait_s)
        except subprocess.TimeoutExpired:
            continue


def text_of(file, limit=OUTPUT_LIMIT):
    size = file.seek(0, os.SEEK_END)
    file.seek(0)
    if size <= limit:
        return file.read().decode(errors='replace')
    first = file.read(limit // 2)
    file.seek(-(limit // 2), os.SEEK_END)
    last = file.read(limit // 2)  # a verdict stands at the end
    return (first + b'\n[...]\n' + last).decode(errors='replace')


class Machine:
    """A build of hip-remote and the runtime that programs use. `timeout` is in seconds, for one process. `options`:
    more of hip-remote run --local."""

    def __init__(self, build, runtime, timeout, options=()):
        self.options = options
        self.bin = build / 'bin'
        self.hip_remote = self.bin / 'hip-remote'
        self.timeout = timeout
        system = build / 'sys'  # libraries that a carried build brings along
        self.environment = dict(os.environ)
        if system.is_dir():
            others = self.environment.get('LD_LIBRARY_PATH')
            self.environment['LD_LIBRARY_PATH'] = f'{system}:{others}' if others else str(system)
        self.runtime = self.find_runtime() if runtime == 'auto' else runtime

    def find_runtime(self):
        probe = subprocess.run([self.hip_remote, 'info', '--json'], env=self.environment, capture_output=True,
                               text=True, check=False)
        try:
            usable = [r['name'] for r in json.loads(probe.stdout)['runtimes'] if r['usable']]
        except (ValueError, KeyError, TypeError):
            usable = []
        return next((name for name in ('amd', 'cuda') if name in usable), 'cpu')

    def command(self, way, program):
        if way == NATIVE and self.runtime == 'amd':  # the program finds AMD's library itself
            return program
        where = ['--native'] if way == NATIVE else ['--local', '--transport', way, *self.options]
        return [self.hip_remote, 'run', *where, '--runtime', self.runtime, '--', *program]

    def run(self, way, program, folder=None, limit=OUTPUT_LIMIT):
        """Runs `program`, a list of words, in `folder` (default: the current one). Output goes through files: a process
        that outlives the program and keeps its output open delays nobody."""
        start = time.monotonic()
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            process = subprocess.Popen([str(word) for word in self.command(way, program)], env=self.environment,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err, cwd=folder,
                                       start_new_session=True)
            status = None
            try:
                status = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                pass
            finally:
                end(process)
            return Run(status, text_of(out, limit), text_of(err, limit), time.monotonic() - start)
