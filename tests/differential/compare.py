#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every call of hip_differential natively and over each transport: names each call whose record differs.

usage: compare.py HIP-REMOTE PROGRAM MAJOR [--threads N,... | --lost] TRANSPORT...    fails on a difference, a crash, a
hang, and a value that no fixture makes

With threads, the calls that leave the device and the process as they were are made by several threads at a time,
natively too, and must give what they give alone. With --lost, they are made without a worker, which the client had and
lost: they return, and none succeeds that gives a handle.
"""
import argparse
import os
import re
import subprocess
import sys

CALL_MS = 20000         # more than any call takes that does not wait for ever; hiprtc takes 7 s on a busy machine
ALL_S = 240
CALLS_MIN = 5000
# Calls that other threads notice. What a case has freed may be another thread's when the case frees it again, and so
# may the name of a texture or surface object, which is an address; a capture forbids calls of all threads; what a
# stream waits for in memory depends on who had the memory before; the program has one texture reference, which belongs
# to the thread that binds it.
NOT_AT_ONCE = re.compile(r"^hip\w*Free|freed|(texture|surface)_destroyed|aptur|^hipStreamWaitValue|indTexture|"
                         r"^hipTexRef|TextureAl|TextureRef")
# The host's cores reach memory of the program's own, but not from another process. So such memory is taken natively
# only, where hipDeviceAttributePageableMemoryAccess is 1.
NATIVE_ONLY = re.compile(r"^hipMem(Advise|PrefetchAsync|RangeGetAttributes?)(_v2)? pointer=host$")
HANDLE_MADE = re.compile(r"^hipSuccess .*=(null|set)")
# What the client has by itself, and memory of no size, which is none.
OWN_HANDLE = re.compile(r"^(__hipPopCall|hipDrvGetError|hipGet(ProcAddress|DriverEntryPoint|TextureReference)|"
                        r"hipM(emA|a)llocPitch (width\w*|height)=#0$)")
ENDINGS = ("hangs", "exits", "Segmentation", "Aborted", "Bus error", "Illegal")


def records(options, how, threads=None, calls=()):
    """Call -> what it gave. `calls`: with `threads`, those that are made."""
    environment = os.environ | {"HIP_CPU_DEVICES": "2", "HIP_CPU_MEMORY_BYTES": str(1 << 30)}
    more = ["lost"] if options.lost else [str(threads)] if threads else []
    words = [options.program, options.major, str(CALL_MS)] + more
    result = subprocess.run([options.hip_remote, "run", *how, "--", *words], check=True, input="\n".join(calls),
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=ALL_S,
                            env=environment)
    lines = result.stdout.splitlines()
    options.left_out |= {line for line in lines if line.startswith("left out: ")}
    return dict(line.split(" -> ", 1) for line in lines if " -> " in line)


def differences(expected, found, where):
    return [f"{call}:\n  native {expected.get(call, 'not called')}\n  {where} {found.get(call, 'not called')}"
            for call in sorted(expected.keys() | found.keys())
            if expected.get(call) != found.get(call) and not NATIVE_ONLY.match(call)]


def faults_without_worker(options, ways):
    """What is wrong with calls of a client that has lost its worker; how many calls there were."""
    faults, made = [], 0
    for way, how in ways.items():
        found = records(options, how)
        made = min(made or len(found), len(found))
        faults += [f"{way}: {call} {record}" for call, record in found.items()
                   if record.startswith(ENDINGS) or (HANDLE_MADE.match(record) and not OWN_HANDLE.match(call))]
    return faults, made


def report(faults, made):
    print("\n".join(faults))
    print(f"{made} calls, {len(faults)} differences, crashes and hangs")
    return 1 if faults or made < CALLS_MIN else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hip_remote")
    parser.add_argument("program")
    parser.add_argument("major")
    parser.add_argument("--threads", type=lambda text: [int(word) for word in text.split(",")], default=[])
    parser.add_argument("--lost", action="store_true")
    parser.add_argument("transports", nargs="*")
    options = parser.parse_intermixed_args()
    options.left_out = set()
    ways = {"native": ["--native"]} | {name: ["--local", "--runtime", "cpu", "--transport", name]
                                       for name in options.transports}
    if options.lost:
        return report(*faults_without_worker(options, {way: how for way, how in ways.items() if way != "native"}))
    native = records(options, ways["native"])
    faults = [f"{call}: natively {record}" for call, record in native.items()
              if record.startswith(ENDINGS) or " fixtures:" in record]
    made = len(native)
    if not options.threads:
        for transport in options.transports:
            faults += differences(native, records(options, ways[transport]), transport)
    harmless = {call: record for call, record in native.items()
                if " then=hipSuccess" in record and not NOT_AT_ONCE.search(call)}
    for threads in options.threads:
        alone = records(options, ways["native"], 1, harmless)
        made = min(made, len(alone))
        for way, how in ways.items():
            faults += differences(alone, records(options, how, threads, harmless), f"{way}, {threads} threads")
    return report(faults + sorted(options.left_out), made)


if __name__ == "__main__":
    sys.exit(main())
