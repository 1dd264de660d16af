# SPDX-License-Identifier: Apache-2.0
"""The tests of tools/rdma-vm: runs the guest's scripts and makes rows of what they left behind.

A row is a check (`result`: passed, FAILED) or a figure (`ours` beside `limit` and `ucx`).
"""
import contextlib
import pathlib
import shutil
import subprocess
import tempfile
import time

from . import report
from .errors import FAILED, NoResult
from .image import GUEST, told
from .machine import Machine

CONFORMANCE_LIMIT_S = {'quick': 480, 'full': 900}
SILENCE_S = 30  # without a word: progress says where it is
API_LIMIT_S = 600
# Of the API tests all but those that compile, which takes an emulated processor minutes, that need more memory than
# the guest has, or that compare thousands of values of device functions, which has nothing to do with the transport.
API_FILTER = '-*Rtc*:*Program*:Large*:*DeviceFunctions*'
# Of the same cases for AMD's runtime those that move memory and order work, but for kernels of millions of steps.
AMD_CASES = ('Memory.*', 'Copy*', 'Launch.[!W]*', 'Launch.WithoutArguments', 'Event*', 'Stream.*', 'Fill*', 'Rows*')
AMD_LIMIT_S = 1500
KEYGEN_LIMIT_S = 60
WIRE_LIMIT_S = 60  # until the near machine listens
PARTS = {'quick': ('conformance', 'verbs', 'hello', 'figures'),
         'full': ('conformance', 'verbs', 'hello', 'api', 'amd', 'hip_bench', 'figures')}


def watch(machine, say, label=''):
    """Passes progress on until the machine ends; True when it ended by itself with a status."""
    last, told = 'booting', time.monotonic()
    try:
        for line in machine.lines():
            now = time.monotonic()
            if line is not None:
                last, told = line[2:] if line.startswith('+ ') else line, now
                say(label + last)
            elif now - told > SILENCE_S:
                told = now
                say(f'{label}still at: {last}')
        machine.status()
        return True
    except NoResult as why:
        say(f'{label}{why}')
        for line in machine.kernel_says():
            say(f'{label}kernel: {line}')
        return False


def finish(machine, options, say):
    machine.end()
    if machine.started:
        say(f'the guest was up after {machine.booted_s()} s; {machine.seconds:.1f} s in all, '
            f'{machine.peak_mib} MiB of memory')
    if options.keep:
        say(f'results are in {machine.out}')
    machine.remove()


@contextlib.contextmanager
def made(options, say, work, script, **more):
    """A machine, which is ended and removed at the end of the block."""
    machine = Machine(work, options, script, **more)
    try:
        yield machine
    finally:
        finish(machine, options, say)


def run_one(script, settings, rows_of, options, folder, work, say):
    """One machine with `script`; `rows_of(out)` makes the rows."""
    with made(options, say, work, GUEST / script, settings=settings) as machine:
        say(f'starting the machine ({options.cpus} processors, {options.memory} MiB)')
        machine.start(folder)
        ended = watch(machine, say)
        rows = rows_of(machine.out)
    return rows if ended else rows + [report.failed('machine', 'it gave no result in the end, see above')]


def run_tests(root, built, options, folder, work, say):
    parts = [part for part in PARTS[options.kind] if not options.only or part in options.only]
    quick = options.kind == 'quick'
    settings = {'BUILD': built, 'PARTS': ' '.join(parts), 'FILTER': options.filter, 'QUICK': int(quick),
                'ROUNDS': 1 if quick else options.rounds, 'CONFORMANCE_LIMIT': CONFORMANCE_LIMIT_S[options.kind],
                'API_FILTER': API_FILTER, 'API_LIMIT': API_LIMIT_S, 'AMD_TESTS': root / 'tests' / 'amd',
                'AMD_LIMIT': AMD_LIMIT_S, 'AMD_CASES': AMD_CASES}

    def rows_of(out):
        return report.rows_of_tests(out, parts, quick)
    return run_one('suite.sh', settings, rows_of, options, folder, work, say)


def run_faults(root, built, options, folder, work, say):
    settings = {'BUILD': built, 'TESTS': root / 'tests' / 'faults', 'TRANSPORT': options.transport,
                'FAULTS_LIMIT': max(30, int(options.limit) - 60)}
    return run_one('faults.sh', settings, report.rows_of_faults, options, folder, work, say)


def wait_for_wire(near, wire, say):
    """Until the near machine listens on it. Else what qemu says of it is told, and there is no result."""
    if report.eventually(lambda: wire.exists() or near.process.poll() is not None, WIRE_LIMIT_S) and wire.exists():
        return
    near.process.terminate()
    watch(near, say, 'near: ')
    raise NoResult(f'the near machine does not listen on {wire}, see above')


def make_keys(built, folder):
    """What keygen makes of a worker's and a laptop's key, and the file that lets the laptop in."""
    folder.mkdir()
    program = str(pathlib.Path(built) / 'bin' / 'hip-remote')
    for name in ('worker', 'laptop'):
        try:
            subprocess.run([program, 'keygen', '--name', name, str(folder / name)], check=True, capture_output=True,
                           timeout=KEYGEN_LIMIT_S, text=True)
        except subprocess.SubprocessError as error:
            raise NoResult(f'hip-remote keygen: {getattr(error, "stderr", None) or error}') from error
    shutil.copy(folder / 'laptop.pub', folder / 'authorized')


def run_two(built, options, folder, work, say):
    """The near machine serves until the far one has ended."""
    script = GUEST / 'two.sh'
    with contextlib.ExitStack() as stack:
        # Paths of sockets have 107 bytes at most.
        with told('the wire'):
            place = stack.enter_context(tempfile.TemporaryDirectory(dir='/tmp', prefix='rdma-vm.'))
        wire = pathlib.Path(place) / 'wire'
        near, far = [stack.enter_context(made(options, say, work, script, network=role, wire=wire,
                                              settings={'BUILD': built, 'ROLE': role})) for role in ('near', 'far')]
        with told('the keys'):
            keys = pathlib.Path(place) / 'keys'
            make_keys(built, keys)
            for machine in (near, far):
                shutil.copytree(keys, machine.share / 'keys')
        say('starting two machines')
        near.start(folder)
        wait_for_wire(near, wire, say)
        far.start(folder)
        ended = watch(far, say, 'far: ')
        (near.share / 'stop').touch()
        ended = watch(near, say, 'near: ') and ended
        rows = (report.rows_of_serving(near.out) + report.rows_of_verbs(far.out) + report.rows_of_keys(far.out))
    return rows if ended else rows + [report.failed('machines', 'one gave no result, see above')]


def run(root, built, options, folder, work, say):
    if options.kind == 'faults':
        return run_faults(root, built, options, folder, work, say)
    if options.kind == 'two':
        return run_two(built, options, folder, work, say)
    return run_tests(root, built, options, folder, work, say)


def verdict(rows):
    return FAILED if any(row.get('result') == 'FAILED' for row in rows) else 0
