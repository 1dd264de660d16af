#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the bundle of code objects that HIP programs embed or load: bundle.py BUNDLE PROCESSOR=CODE-OBJECT...

clang-offload-bundler does the same; Debian has it in a package of its own.
"""
import pathlib
import struct
import sys

ALIGNMENT = 4096
HOST = b"host-x86_64-unknown-linux"


def aligned(size):
    return (size + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT


def bundle(codes):
    """`codes` by processor."""
    head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", 1 + len(codes))
    head += struct.pack("<QQQ", ALIGNMENT, 0, len(HOST)) + HOST
    body = b""
    for processor, code in codes.items():
        name = b"hipv4-amdgcn-amd-amdhsa--" + processor.encode()
        head += struct.pack("<QQQ", ALIGNMENT + len(body), len(code), len(name)) + name
        body += code.ljust(aligned(len(code)), b"\0")
    return head.ljust(ALIGNMENT, b"\0") + body


if __name__ == "__main__":
    given = dict(word.split("=", 1) for word in sys.argv[2:])
    pathlib.Path(sys.argv[1]).write_bytes(bundle({name: pathlib.Path(file).read_bytes()
                                                  for name, file in given.items()}))
