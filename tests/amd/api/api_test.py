#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The API suite for gfx90a on AMD's own HIP runtime, above the stand-in for HSA's, through a worker.

api_test.py FOLDER-OF-STAND-IN HIP-REMOTE PROGRAM TRANSPORT [--only PATTERN]... [--natively] [--left-out]
            [--agents NUMBER] [--rdma-devices WORKER CLIENT] [--limit SECONDS]

The worker has no walls, as it has none by default where AMD's driver is: behind them the stand-in's processes do not
find each other's memory. Every case has to pass over the transport, or to be skipped by the test, except for those that
left_out.py names with a reason. --natively runs the same cases without hip-remote as well, and prints where they
differ; --left-out runs those that are left out. --agents gives the stand-in so many GPU agents, and runs the cases that
are about several devices. --rdma-devices names an RDMA device of the machine for either end (tools/rdma-vm runs this in
its guest). --limit is of each case. No AMD hardware takes part.

With AMD's 6.4.3 by hand (--suite experimental: 7.2.4), where libfmt.so.9 lies in FOLDER, and B is the build:
tools/debian-chroot --suite sid --bind B --bind FOLDER -- env LD_LIBRARY_PATH=FOLDER python3 tests/amd/api/api_test.py \
    B/lib/amd-standin B/bin/hip-remote B/bin/tests/hip_api_gfx90a shm
"""
import argparse
import concurrent.futures
import fnmatch
import os
import pathlib
import sys
import time

import cases as suite
from left_out import SEVERAL_DEVICES, left_out

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from stand_in import amd_folder, amd_major, why_not_below  # noqa: E402
from worker import environment, worker  # noqa: E402

LIMIT_S = 120  # cases that copy through the interpreter take 40 beside busy programs
PARTS = 2  # at the same time: most cases wait for something
GOOD = ("passed", "skipped")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("stand_in", type=pathlib.Path)
    parser.add_argument("hip_remote", type=pathlib.Path)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("transport")
    parser.add_argument("--only", action="append", metavar="PATTERN", help="cases, as a shell pattern (repeatable)")
    parser.add_argument("--natively", action="store_true", help="also without hip-remote, and print the differences")
    parser.add_argument("--left-out", action="store_true", help="only the cases that are left out")
    parser.add_argument("--agents", type=int, default=1, help="GPU agents of the stand-in")
    parser.add_argument("--limit", type=float, default=LIMIT_S, help="seconds for each case (default: %(default)s)")
    parser.add_argument("--rdma-devices", nargs=2, metavar=("WORKER", "CLIENT"), help="RDMA devices, by name")
    return parser.parse_args()


def matches(case, patterns):
    return any(fnmatch.fnmatchcase(case, pattern) for pattern in patterns)


def reason_to_leave_out(case):
    return next((why for why, patterns in left_out(amd_major()).items() if matches(case, patterns)), None)


def run(command, variables, names, limit_s):
    """Outcomes in the order of the names."""
    with concurrent.futures.ThreadPoolExecutor(PARTS) as pool:
        parts = pool.map(lambda part: suite.run(command, variables, names[part::PARTS], limit_s), range(PARTS))
        outcomes = {case: outcome for part in parts for case, outcome in part.items()}
    return {case: outcomes[case] for case in names}


def print_sum(way, outcomes, seconds):
    verdicts = [outcome.verdict for outcome in outcomes.values()]
    counts = ", ".join(f"{verdicts.count(verdict)} {verdict}" for verdict in sorted(set(verdicts)))
    print(f"{way}: {counts}, in {seconds:.0f} s")


def print_differences(remote, native):
    lacking = {name for outcome in native.values() for name in suite.LACKS.findall(outcome.output)}
    print("AMD's library lacks: " + (" ".join(sorted(lacking)) or "nothing"))
    for case, outcome in remote.items():
        if native[case].verdict != outcome.verdict:
            print(f"{case}: {outcome.verdict}, natively {native[case].verdict}: {native[case].reason()}")


def print_left_out(names):
    for why, patterns in left_out(amd_major()).items():
        count = sum(1 for name in names if matches(name, patterns))
        print(f"left out, {count} cases: {why}")


def main():
    args = arguments()
    reason = why_not_below()
    if reason is not None:
        print("all tests skipped:", reason)
        return 0
    if args.natively and amd_folder() is None:
        sys.exit("--natively: the program is of HIP 5, and there is no libamdhip64.so.5 of AMD's")
    os.environ["HSA_STANDIN_AGENTS"] = str(args.agents)
    program = [str(args.program)]
    any_library = environment(args.hip_remote.parent.parent / "lib")  # a program only lists its cases
    every = [name for name in suite.names(program, any_library) if matches(name, args.only or ["*"])
             and (args.agents == 1 or matches(name, SEVERAL_DEVICES))]
    names = [name for name in every if (reason_to_leave_out(name) is not None) == args.left_out]
    began = time.monotonic()
    near, far = ({"TF_RDMA_DEVICE": device} if device else {} for device in args.rdma_devices or (None, None))
    variables = environment(args.stand_in)
    with worker(args.hip_remote.parent / "hip-worker", variables | near, args.transport) as (address, said):
        options = ["--worker", address, "--transport", args.transport, "--"]
        remote = run([str(args.hip_remote), "run", *options, *program], variables | far, names, args.limit)
        said = [line for line in said().splitlines() if "audit:" not in line]
    print_sum(args.transport, remote, time.monotonic() - began)
    print_left_out(every)
    if args.natively:
        began = time.monotonic()
        native = run(program, environment(args.stand_in, amd_folder()), names, args.limit)
        print_sum("natively", native, time.monotonic() - began)
        print_differences(remote, native)
    wrong = [case for case in names if remote[case].verdict not in GOOD]
    for case in wrong:
        print(f"{case}: {remote[case].verdict} after {remote[case].seconds:.1f} s: {remote[case].reason()}")
    if wrong:
        print("what the worker said:", *said, sep="\n")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
