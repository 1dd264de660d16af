#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The names and version nodes of a library against a list: none missing, none in another node, none extra.

usage: exports_test.py LIST LIBRARY [EXTRA-PATTERN]    LIST: hipcore/exports/<major>.txt
"""
import pathlib
import re
import subprocess
import sys


def exported(library):
    """{name: node} of a library's dynamic symbols."""
    lines = subprocess.run(["readelf", "--dyn-syms", "--wide", library], check=True, capture_output=True,
                           text=True).stdout.splitlines()
    names = {}
    for line in lines:
        words = line.split()
        if len(words) == 8 and words[6] not in ("UND", "ABS", "Ndx") and words[4] in ("GLOBAL", "WEAK"):
            name, _, node = words[7].partition("@")
            names[name] = node.lstrip("@")
    return names


def main():
    wanted = {}
    for line in pathlib.Path(sys.argv[1]).read_text().splitlines():
        if line and not line.startswith("#"):
            name, node, *_ = line.split()
            wanted[name] = node
    found = exported(sys.argv[2])
    extra = re.compile(sys.argv[3]) if len(sys.argv) > 3 else re.compile(r"$.")
    faults = [f"missing: {name} ({node})" for name, node in sorted(wanted.items()) if name not in found]
    faults += [f"{name} is in node '{found[name]}', not in {node}" for name, node in sorted(wanted.items())
               if found.get(name, node) != node]
    faults += [f"extra: {name}" for name in sorted(found) if name not in wanted and not extra.fullmatch(name)]
    print("\n".join(faults) or f"{len(wanted)} symbols, all in their nodes")
    return 1 if faults or len(wanted) < 400 else 0


if __name__ == "__main__":
    sys.exit(main())
