# SPDX-License-Identifier: Apache-2.0
"""Our own programs: where they lie, how they are run natively and through a worker, and what they print."""
import json
import os
import pathlib
import select
import shutil
import tempfile
import time

from .processes import Process, Unavailable, cpu_seconds_of, run, tree_of

HERE = pathlib.Path(__file__).resolve().parent
READY_TIMEOUT_S = 20
# A worker is at rest when it used less than this in one look: a tick of /proc.
REST_LOOK_S, REST_USES_S, REST_LOOKS = 0.25, 0.01, 40


class Programs:
    """An installation or a build tree: bin/ and a lib directory beside it."""

    def __init__(self, bin_directory=None):
        self.bin = pathlib.Path(bin_directory) if bin_directory else self._find()
        if not (self.bin / 'transport_bench').exists():
            raise Unavailable('no transport_bench in %s; build it with: cmake --build build/release --target programs'
                              % self.bin)
        prefix = self.bin.resolve().parent
        libraries = sorted(prefix.glob('lib*/**/libhip_cpu.so'))
        if not libraries:
            raise Unavailable('no libhip_cpu.so below %s' % prefix)
        self.lib = libraries[0].parent

    @staticmethod
    def _find():
        # Installed in <prefix>/share/hip-remote/benchmarks, or in the source tree.
        candidates = [HERE.parents[3] / 'bin', HERE.parents[1] / 'build' / 'release' / 'bin']
        return next((place for place in candidates if (place / 'transport_bench').exists()), candidates[-1])

    def path(self, name):
        return self.bin / name


def json_lines(text):
    return [json.loads(line) for line in text.splitlines() if line.startswith('{')]


def transport_bench(programs, placement, arguments=(), timeout_s=120):
    """Rows of one run. The program pins its two ends itself (to the first and the last core)."""
    where = 'unpinned' if placement.name == 'unpinned' else 'pinned'
    command = [programs.path('transport_bench'), '--json', '--placement', where, *arguments]
    text, _ = run(command, placement.client | placement.server, timeout_s=timeout_s)
    return json_lines(text)


class Worker:
    """A private hip-worker on loopback, ended with its owner: use it in a with statement."""

    def __init__(self, programs, placement, arguments=()):
        self.directory = tempfile.mkdtemp(prefix='hip-remote-compare-')
        self.socket = os.path.join(self.directory, 'worker.sock')
        read_end, write_end = os.pipe()
        command = [programs.path('hip-worker'), '--runtime', 'cpu', '--port', 0, '--socket', self.socket,
                   '--ready-fd', write_end, '--quiet', *arguments]
        self.process = Process(command, placement.server, {'LD_PRELOAD': None, 'LD_LIBRARY_PATH': None},
                               keep_fd=write_end)
        os.close(write_end)
        ready, _, _ = select.select([read_end], [], [], READY_TIMEOUT_S)
        words = os.read(read_end, 4096).split() if ready else []
        os.close(read_end)
        if len(words) < 2:
            self.end()
            raise Unavailable('hip-worker did not get ready: ' + self.process.last_words())
        self.port = int(words[1])

    def environment(self, transport):
        return {'TF_TRANSPORT': transport, 'TF_WORKER_HOST': '127.0.0.1', 'TF_WORKER_PORT': self.port,
                'TF_WORKER_SOCKET': self.socket if transport == 'shm' else None}

    def cpu_seconds(self):
        """Of the supervisor and all its session processes that live."""
        return cpu_seconds_of(tree_of(self.process.pid))

    def rest(self):
        """Waits until it does nothing; its processor seconds then. For each session that begins it starts a spare,
        and one that has ended is still freeing its memory: half a second for a GiB."""
        used = self.cpu_seconds()
        for _ in range(REST_LOOKS):
            time.sleep(REST_LOOK_S)
            before, used = used, self.cpu_seconds()
            if used - before < REST_USES_S:
                break
        return used

    def end(self):
        self.process.end()
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


def hip_environment(programs, transport, worker):
    """What makes a HIP program use the native runtime (no worker) or the proxy."""
    if worker is None:
        return {'LD_LIBRARY_PATH': programs.lib / 'native', 'LD_PRELOAD': None}
    return {'LD_LIBRARY_PATH': programs.lib, 'LD_PRELOAD': None, **worker.environment(transport)}


def hip_bench(programs, transport, placement, worker=None, arguments=(), timeout_s=300):
    if worker:
        worker.rest()
    command = [programs.path('hip_bench'), '--json', '--label', transport, *arguments]
    text, _ = run(command, placement.client, hip_environment(programs, transport, worker), timeout_s)
    return json_lines(text)


class HipLoad:
    """One gated hip_load: connected when constructed, runs between go() and figures(), ends with end()."""

    def __init__(self, programs, transport, placement, worker, arguments):
        self.process = Process([programs.path('hip_load'), *arguments, '--gate'], placement.client,
                               hip_environment(programs, transport, worker), pipes=True)

    def wait_until_ready(self, timeout_s=30):
        if self._line(timeout_s) != 'ready':
            raise Unavailable('hip_load did not get ready: ' + self.process.last_words())

    def go(self):
        self.process.child.stdin.write('go\n')
        self.process.child.stdin.flush()

    def figures(self, timeout_s=120):
        line = self._line(timeout_s)
        if not line.startswith('{'):
            raise Unavailable('hip_load printed no figures: ' + self.process.last_words())
        return json.loads(line)

    def cpu_seconds(self):
        return cpu_seconds_of([self.process.pid])

    def end(self):
        try:
            self.process.child.stdin.close()  # the gate opens
            self.process.wait(10)
        except (Unavailable, OSError):
            pass
        self.process.end()
        self.process.child.stdout.close()

    def _line(self, timeout_s):
        ready, _, _ = select.select([self.process.child.stdout], [], [], timeout_s)
        return self.process.child.stdout.readline().strip() if ready else ''
