# SPDX-License-Identifier: Apache-2.0
"""hip-remote's own programs, built on the host; they run in the guest at the same path."""
import contextlib
import os
import signal
import subprocess
import sys
import time

from . import locks

TARGETS = ('conformance', 'transport_bench', 'hip_bench', 'hello_hip', 'fault_client', 'hip_remote', 'hip_worker',
           'hip_cpu', 'proxies', 'hip_cpu_natives', 'hip_api_test', 'rdma_verbs_test', 'amd_in_the_vm')
NEEDED = ('bin/hip-remote', 'bin/hip-worker', 'bin/hello_hip', 'bin/transport_bench', 'bin/hip_bench',
          'bin/tests/conformance', 'bin/tests/fault_client', 'bin/tests/hip_api_test', 'bin/tests/rdma_verbs_test')


TO_RUN = ('bin/hip-remote', 'bin/hip-worker')  # what foreign programs need

END_LIMIT_S = 10
ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)


def is_group(pid):
    """Whether any process of that group is there, zombies included."""
    try:
        os.killpg(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def end_group(process):
    """Ends the process and all that it started: in order, and when the limit is over by force."""
    for number, limit_s in ((signal.SIGTERM, END_LIMIT_S), (signal.SIGKILL, END_LIMIT_S)):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        deadline = time.monotonic() + limit_s
        while (process.poll() is None or is_group(process.pid)) and time.monotonic() < deadline:
            time.sleep(0.05)
        if not is_group(process.pid):
            return


def run_group(words):
    """The exit status of `words`, whose output goes to standard error. What it starts ends when we are ended."""
    # Signals wait until it is known what there is to end.
    signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    process = None
    try:
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=sys.stderr, start_new_session=True,
                                   preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        return process.wait()
    except BaseException:
        if process is not None:
            end_group(process)
        raise
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)


def build(root, preset, say):
    # The presets' own flags: plain x86-64, which any emulator runs.
    steps = ('source "$0/tools/lib.sh"; { [ -n "${TF_SKIP_SETUP:-}" ] || step setup "$0/tools/setup"; } && '
             'step "configure-$1" cmake -S "$ROOT" --preset "$1" && '
             'step "build-$1" cmake --build "$ROOT/build/$1" -j "$(nproc)" --target "${@:2}"')
    say(f'building with the preset {preset}')
    if run_group(['bash', '-c', steps, str(root), preset, *TARGETS]) != 0:
        raise SystemExit('rdma-vm: the build failed, see above')


@contextlib.contextmanager
def held(root, options, say, needed=NEEDED):
    """The folder of the build, with the files `needed`: --build as it is, else the preset, configured and brought up
    to date. No run of this tool builds in it until the end of the block."""
    folder = options.build.resolve() if options.build else root / 'build' / options.preset
    if options.build is None:
        folder.mkdir(parents=True, exist_ok=True)
    elif not folder.is_dir():
        raise SystemExit(f'rdma-vm: --build: there is no folder {folder}')
    with locks.Lock(folder) as lock:
        if options.build is None:
            lock.take(locks.EXCLUSIVE, say, f'it builds in {folder} or runs what is there (--build would not build)')
            build(root, options.preset, say)
        lock.take(locks.SHARED, say, f'it builds in {folder}')
        missing = [name for name in needed if not (folder / name).exists()]
        if missing:
            raise SystemExit(f'rdma-vm: {folder} lacks {", ".join(missing)}')
        yield folder
