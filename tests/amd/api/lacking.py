#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lists the functions of HIP that object files call and a library does not export: lacking.py OUTPUT LIBRARY OBJECT...

The output is for lacking.cc: LACKS(name) for each of them.
"""
import pathlib
import re
import subprocess
import sys

HIPS = re.compile(r"(?:_Z\d+)?hip[A-Z]\w*|hiprtc\w+|__hip[A-Z]\w+")


def symbols(options, files):
    text = subprocess.run(["nm", "--format=posix", *options, *files], text=True, check=True, capture_output=True).stdout
    return {line.split()[0].split("@")[0] for line in text.splitlines() if " " in line}


if __name__ == "__main__":
    output, library, *objects = sys.argv[1:]
    called = {name for name in symbols(["--undefined-only"], objects) if HIPS.fullmatch(name)}
    lacking = sorted(called - symbols(["-D", "--defined-only"], [library]))
    pathlib.Path(output).write_text("".join(f"LACKS({name})\n" for name in lacking))
