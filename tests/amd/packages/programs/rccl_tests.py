# SPDX-License-Identifier: Apache-2.0
"""RCCL's own tests of collective operations between two devices, in one process or in one for each device."""
import os
import pathlib
import subprocess
import sys

import topology

PROGRAM, = pathlib.Path("/usr/libexec/rocm/librccl1-tests").glob("*UnitTests")
CASES = ("AllReduce.OutOfPlace", "AllReduce.InPlace", "Broadcast.OutOfPlace", "AllGather.InPlace",
         "ReduceScatter.OutOfPlace", "SendRecv.SinglePairs")
ONE_PROCESS, PROCESSES = "1", "2"
# Two ranks, one channel: what the interpreter does in a minute.
SMALL = {"UT_MIN_GPUS": "2", "UT_MAX_GPUS": "2", "UT_REDOPS": "sum", "UT_DATATYPES": "float",
         "UT_MAX_RANKS_PER_GPU": "1", "NCCL_MAX_NCHANNELS": "1"}


def run(processes, cases=CASES):
    """Prints of each case whether it passed, and ends at the first that did not."""
    topology.show()
    surroundings = {**os.environ, **SMALL, "UT_PROCESS_MASK": processes}
    for case in cases:
        done = subprocess.run([PROGRAM, f"--gtest_filter={case}"], env=surroundings, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True, check=False)
        passed = done.returncode == 0 and "[  PASSED  ] 1 test" in done.stdout
        print(case, "passed" if passed else f"failed, exit {done.returncode}", flush=True)
        if not passed:
            sys.exit(1)
