#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A prototype of the description that drifts from the vendor's header does not compile.

usage: drift_test.py COMPILER HIP_INCLUDE [DESCRIPTION_OBJECT]
DESCRIPTION_OBJECT: the build's object of description.cc; that it exists shows that the build compiles the check.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "tools" / "apigen"))

import apigen  # noqa: E402

# (file, text of it, what it drifts to, what the compiler must name)
DRIFTS = [
    ("stream.h", "hipStreamWaitEvent(IN(stream) hipStream_t stream, IN(event) hipEvent_t event, unsigned int flags);",
     "hipStreamWaitEvent(IN(stream) hipStream_t stream, IN(event) hipEvent_t event, int flags);", "hipStreamWaitEvent"),
    ("device.h", "LOCAL(thread) hipError_t hipSetDevice(int device);",
     "LOCAL(thread) int hipSetDevice(int device);", "hipSetDevice"),
    ("event.h", "OUT() float* milliseconds", "OUT() int* milliseconds", "hipEventElapsedTime"),
    ("launch.h", "uint32_t local_z,\n                                    size_t shared_bytes",
     "uint32_t local_z,\n                                    int shared_bytes", "hipExtModuleLaunchKernel"),
]


def compile_description(compiler, include, tree):
    """(exit status, messages) of compiling the check of the description in tree/proxy/api."""
    source = tree / "description.cc"
    source.write_text(apigen.generate(tree / "proxy/api")["proxy/gen/description.cc"])
    # The compiler's own directory must keep its place in the search.
    headers = [] if include == "/usr/include" else ["-isystem", include]
    command = [compiler, "-std=c++20", "-fsyntax-only", "-w", "-D__HIP_PLATFORM_AMD__=1", f"-I{tree}", *headers,
               str(source)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=100)
    return done.returncode, done.stdout


def check_drift(compiler, include, tree, drift):
    file, old, new, named = drift
    path = tree / "proxy/api" / file
    text = path.read_text()
    if text.count(old) < 1:
        return f"{file} has no longer '{old}': this test needs another example"
    path.write_text(text.replace(old, new, 1))
    status, output = compile_description(compiler, include, tree)
    path.write_text(text)
    if status == 0:
        return f"{file}: '{new}' was taken"
    return "" if named in output else f"{file}: refused, but not for {named}:\n{output}"


def main():
    compiler, include = sys.argv[1:3]
    if len(sys.argv) > 3 and not pathlib.Path(sys.argv[3]).exists():
        print(f"{sys.argv[3]} is missing: the build does not compile the check")
        return 1
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        shutil.copytree(ROOT / "proxy/api", tree / "proxy/api")
        shutil.copytree(ROOT / "hipcore/newer", tree / "hipcore/newer")
        status, output = compile_description(compiler, include, tree)
        if status != 0:
            print(f"the description as it stands does not compile:\n{output}")
            return 1
        failures = [check_drift(compiler, include, tree, drift) for drift in DRIFTS]
    print("\n".join(filter(None, failures)) or f"{len(DRIFTS)} drifting prototypes, each a compile error")
    return 1 if any(failures) else 0


if __name__ == "__main__":
    sys.exit(main())
