#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the bundle that HIP programs embed of one code object for gfx90a: bundle.py CODE-OBJECT BUNDLE.

clang-offload-bundler does the same; Debian has it in a package of its own.
"""
import pathlib
import struct
import sys

ALIGNMENT = 4096
HOST, DEVICE = b"host-x86_64-unknown-linux", b"hipv4-amdgcn-amd-amdhsa--gfx90a"


def bundle(code):
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 2)
    head += struct.pack("<QQQ", ALIGNMENT, 0, len(HOST)) + HOST
    head += struct.pack("<QQQ", ALIGNMENT, len(code), len(DEVICE)) + DEVICE
    return head.ljust(ALIGNMENT, b"\0") + code


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_bytes(bundle(pathlib.Path(sys.argv[1]).read_bytes()))
