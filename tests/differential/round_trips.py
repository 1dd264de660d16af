#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the functions of API.md wait for the worker when it says so, and never else: counts (TF_STATS) while
hip_differential calls each of them in every way.

usage: round_trips.py HIP-REMOTE PROGRAM TABLE MAJOR TRANSPORT...    TABLE: round_trips.json of apigen
"""
import json
import os
import subprocess
import sys
import tempfile

from compare import ALL_S, CALL_MS

FUNCTIONS_MIN = 250  # that are counted in a whole run


def counts(hip_remote, program, major, transport):
    """Function -> what TF_STATS has of it."""
    environment = os.environ | {"HIP_CPU_DEVICES": "2", "HIP_CPU_MEMORY_BYTES": str(1 << 30)}
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "stats.json")
        subprocess.run([hip_remote, "run", "--local", "--runtime", "cpu", "--transport", transport, f"--stats={path}",
                        "--", program, major, str(CALL_MS)], check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, timeout=ALL_S, env=environment)
        with open(path, encoding="utf-8") as file:
            return json.load(file)["functions"]


def faults_of(found, table, transport):
    for name, count in sorted(found.items()):
        when, uses_host_memory = table.get(name, ("", False))
        waits = count["round_trips"]
        reaches_worker = count["calls"] > count["local"]
        if waits and not when and not (uses_host_memory and transport != "shm"):
            yield f"{name}: waits {waits} times in {count['calls']} calls over {transport}, API.md says never"
        if when == "always" and reaches_worker and not waits:
            yield f"{name}: never waits in {count['calls']} calls over {transport}, API.md says always"


def main():
    hip_remote, program, path, major, *transports = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        table = json.load(file)
    faults, waited = [], set()
    for transport in transports:
        found = counts(hip_remote, program, major, transport)
        if len(found) < FUNCTIONS_MIN:
            faults.append(f"only {len(found)} functions were counted over {transport}")
        faults += faults_of(found, table, transport)
        waited |= {name for name, count in found.items() if count["round_trips"]}
    print("\n".join(faults))
    unseen = sorted(name for name, (when, _) in table.items() if when and name not in waited)
    print(f"{len(waited)} functions waited, {len(faults)} faults; said to wait and not seen to: {' '.join(unseen)}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
