# SPDX-License-Identifier: Apache-2.0
"""The command line of tools/rdma-vm."""
import argparse
import json
import os
import pathlib
import shlex
import signal
import sys
import time

from . import image, machine, packages, programs, report, suite
from .errors import IMPOSSIBLE, NO_RESULT, Impossible, NoResult

ROOT = pathlib.Path(__file__).resolve().parents[2]
ABOUT = """Runs hip-remote's rdma transport on real RDMA verbs, on a machine without an RDMA card.

Boots Debian's kernel in a small virtual machine (emulated: no KVM needed) with two soft-RoCE devices, rxe0 (10.9.0.1)
and rxe1 (10.9.0.2), joined by a wire. Programs of this host run there from where they are; nothing they write stays.
In it: the conformance suite on real verbs, a HIP program from one device to the other, and our figures beside those
of perftest and UCX on the same two devices. An emulated machine is slow: ratios count, never the figures themselves."""
EXAMPLES = """examples:
  tools/rdma-vm                        everything, one table at the end (about ten minutes, most of it building)
  tools/rdma-vm --quick                conformance, verbs, one HIP program, a few figures (three minutes): for CI
  tools/rdma-vm --json > rdma.jsonl    the table as one JSON object a line; progress is on standard error
  tools/rdma-vm --faults               cut links, killed peers, no memory to lock; limits by cgroups
  tools/rdma-vm --two                  two machines with a device and a key each: worker in one, program in the other
  tools/rdma-vm run my_script.sh       your own script in the guest, as root; exits with its code
  tools/rdma-vm fidelity DIR -- --filter 'memory/*' --timeout 300
                                       test programs of a folder, case by case, natively and over rdma: what stands
                                       behind -- goes to tools/fidelity (--help), its table and exit code come back
  tools/rdma-vm build                  only fetch the kernel and make the machine, for example before going offline
  tools/rdma-vm --only figures --rounds 5
The first run installs packages (as root; TF_SKIP_SETUP=1 leaves them alone), fetches a kernel package of 70 MB, which
it never installs, and builds hip-remote. In a script: $VM/out is a folder whose files come back (--keep).
exit codes: 0 all passed, 1 something failed, 2 wrong command, 3 the machine cannot be made here (the reason is
printed), 99 the guest gave no result; run and fidelity: the script's own."""
PARTS = ('conformance', 'verbs', 'hello', 'api', 'amd', 'hip_bench', 'figures')
LIMITS_S = {'run': 600, 'fidelity': 3600, 'quick': 900, 'full': 3900, 'faults': 900, 'two': 300}


def positive(kind, least, most):
    def parse(text):
        value = kind(text)
        if not least <= value <= most:
            raise argparse.ArgumentTypeError(f'{text}: from {least} to {most}')
        return value
    return parse


def parser():
    made = argparse.ArgumentParser(prog='tools/rdma-vm', description=ABOUT, epilog=EXAMPLES,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument('command', nargs='?', choices=('build', 'run', 'fidelity'),
                      help='build: the machine only; run: a script; fidelity: a folder of test programs')
    made.add_argument('script', nargs='?', type=pathlib.Path, metavar='FILE.sh|DIR',
                      help='the script, or the folder')
    kind = made.add_mutually_exclusive_group()
    kind.add_argument('--quick', action='store_true', help='conformance, verbs, hello_hip and a few figures')
    kind.add_argument('--faults', action='store_true', help='failures instead: links, peers, locked memory, cgroups')
    kind.add_argument('--two', action='store_true', help='two machines instead of one')
    made.add_argument('--only', action='append', choices=PARTS, help='this part (may be repeated; default: all)')
    made.add_argument('--filter', default='*/rdma_threads:*/rdma_processes',
                      help='conformance, as --gtest_filter (%(default)s)')
    made.add_argument('--rounds', type=positive(int, 1, 50), default=3, help='of figures; medians count (default 3)')
    made.add_argument('--json', action='store_true', help='one JSON object a line on standard output')
    made.add_argument('--transport', choices=('rdma', 'tcp'), default='rdma',
                      help='with --faults: tcp tests the tests that do not need rdma')
    made.add_argument('--preset', default='release', choices=('test', 'dev', 'release'),
                      help='which build (default release)')
    made.add_argument('--build', type=pathlib.Path, metavar='DIR', help='a build folder to use as it is')
    made.add_argument('--cpus', type=positive(int, 1, 64), default=min(2, os.cpu_count() or 1),
                      help='of the guest (default %(default)s; more than the host has make it slower)')
    made.add_argument('--memory', type=positive(int, 256, 65536), default=1024, metavar='MIB',
                      help='of the guest (default 1024)')
    limits = ', '.join(f'{name} {value}' for name, value in LIMITS_S.items())
    made.add_argument('--limit', type=positive(float, 10, 86400), metavar='SECONDS',
                      help=f'for the whole machine (default: {limits})')
    made.add_argument('--accel', choices=('tcg', 'kvm'), default='tcg',
                      help='tcg: emulated, works everywhere (default); kvm: where /dev/kvm can run an ordinary kernel')
    made.add_argument('--cache', type=pathlib.Path, default=image.default_cache(), metavar='DIR',
                      help='where kernel and modules are kept (default %(default)s)')
    made.add_argument('--anew', action='store_true', help='make the machine anew, with the kernel of today')
    made.add_argument('--keep', action='store_true', help='keep the folders of results under build/rdma-vm')
    return made


def check_place(made, options):
    """What stands behind the command: a script for run, a folder for fidelity, nothing for build."""
    if options.command in ('run', 'fidelity') and options.script is None:
        made.error(f'{options.command}: which {"script" if options.command == "run" else "folder"}? see --help')
    if options.command == 'run' and not options.script.is_file():
        made.error(f'run: {options.script}: there is no such file')
    if options.command == 'fidelity' and not options.script.is_dir():
        made.error(f'fidelity: {options.script}: there is no such folder')
    if options.command not in ('run', 'fidelity') and options.script is not None:
        made.error(f'{options.script}: only run takes a script, and fidelity a folder')
    if options.words and options.command != 'fidelity':
        made.error('--: only fidelity takes more words')


def parse(words):
    made = parser()
    end = words.index('--') if '--' in words else len(words)
    options = made.parse_intermixed_args(words[:end])
    options.words = words[end + 1:]
    check_place(made, options)
    if options.command and (options.quick or options.faults or options.only):
        made.error(f'{options.command}: --quick, --faults and --only belong to the tests')
    if options.two and (options.command or options.only):
        made.error('--two: it runs hello_hip and nothing else')
    chosen = [kind for kind in ('quick', 'faults', 'two') if getattr(options, kind)]
    options.kind = options.command or (chosen + ['full'])[0]
    possible = suite.PARTS.get(options.kind, ())
    strange = [part for part in options.only or () if part not in possible]
    if strange:
        made.error(f'--{options.kind}: it does not run {", ".join(strange)}; possible: {", ".join(possible) or "none"}')
    if options.limit is None:
        options.limit = LIMITS_S.get(options.kind, LIMITS_S['full'])
    return options


class Progress:
    """Lines on standard error, with the seconds since the start."""

    def __init__(self):
        self.start = time.monotonic()

    def __call__(self, text):
        print(f'rdma-vm {time.monotonic() - self.start:5.0f} s  {text}', file=sys.stderr, flush=True)


def run_script(options, folder, work, say, script, settings=None):
    """The script's output is ours, and so is its exit status."""
    with suite.made(options, say, work, script, settings=settings) as guest:
        try:
            guest.start(folder)
            for line in guest.lines():
                if line is not None:
                    print(line, flush=True)
            return guest.status()
        except NoResult:
            for line in guest.kernel_says():
                say('kernel: ' + line)
            raise


def run_fidelity(options, folder, work, say):
    """`fidelity`: the tool of that name in the guest, with our build."""
    with programs.held(ROOT, options, say, programs.TO_RUN) as built:
        settings = {'BUILD': built, 'FIDELITY': ROOT / 'tools' / 'fidelity', 'PROGRAMS': options.script.resolve(),
                    'WORDS': shlex.join(options.words)}
        return run_script(options, folder, work, say, image.GUEST / 'fidelity.sh', settings)


def results_folder():
    work = ROOT / 'build' / 'rdma-vm'
    try:
        work.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Impossible(f'cannot make {work}: {error.strerror}') from error
    if not os.access(work, os.W_OK):
        raise Impossible(f'{work} belongs to somebody else and cannot be written to')
    return work


def conduct(options, say):
    wanted = packages.MACHINE + (() if options.command else packages.TOOLS)
    packages.require(wanted, say)
    with image.held(options.cache.absolute(), say, options.anew) as folder:
        if options.kind == 'build':
            say(f'the machine is in {folder}')
            return 0
        work = results_folder()
        machine.clear(work, say)
        if options.kind == 'run':
            return run_script(options, folder, work, say, options.script)
        if options.command == 'fidelity':
            return run_fidelity(options, folder, work, say)
        return run_tests(options, folder, work, say)


def run_tests(options, folder, work, say):
    with programs.held(ROOT, options, say) as built:
        if options.preset != 'release' and not options.build:
            say(f'figures will be of an unoptimised build (--preset {options.preset})')
        rows = suite.run(ROOT, built, options, folder, work, say)
    if options.json:
        for row in rows:
            print(json.dumps(row))
    else:
        report.show(rows)
    return suite.verdict(rows)


def on_signal(number, _):
    raise SystemExit(128 + number)


def main(words):
    options = parse(words)
    say = Progress()
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, on_signal)
    try:
        return conduct(options, say)
    except Impossible as why:
        print(f'rdma-vm: cannot make the machine here: {why}', file=sys.stderr)
        return IMPOSSIBLE
    except NoResult as why:
        print(f'rdma-vm: no result: {why}', file=sys.stderr)
        return NO_RESULT
    except BrokenPipeError:  # whoever read the table has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except OSError as why:
        print(f'rdma-vm: no result: {why.filename or "the system says"}: {why.strerror or why}', file=sys.stderr)
        return NO_RESULT
    except KeyboardInterrupt:
        print('rdma-vm: interrupted', file=sys.stderr)
        return 130
