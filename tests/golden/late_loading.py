#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that shared libraries can be loaded by a running process: late_loading.py LIBRARY...

One that asks for static thread-local memory (DF_STATIC_TLS) gets it from what little the C library sets aside for
all of them, so that dlopen() fails in programs that have used it up, and with older C libraries in any.
"""
import struct
import sys

PT_DYNAMIC, DT_NULL, DT_FLAGS, DF_STATIC_TLS = 2, 0, 30, 0x10


def dynamic_flags(path):
    with open(path, 'rb') as file:
        elf = file.read()
    if elf[:5] != b'\x7fELF\x02':
        raise ValueError(path + ': not a 64-bit ELF file')
    headers, = struct.unpack_from('<Q', elf, 32)
    size, count = struct.unpack_from('<HH', elf, 54)
    for index in range(count):
        kind, _, offset, _, _, length = struct.unpack_from('<IIQQQQ', elf, headers + index * size)
        if kind != PT_DYNAMIC:
            continue
        for at in range(offset, offset + length, 16):
            tag, value = struct.unpack_from('<QQ', elf, at)
            if tag == DT_FLAGS:
                return value
            if tag == DT_NULL:
                return 0
    return 0


def main():
    late = [path for path in sys.argv[1:] if dynamic_flags(path) & DF_STATIC_TLS]
    for path in late:
        print(path + ': needs static thread-local memory (is some variable of the initial-exec model?)')
    return 1 if late or len(sys.argv) < 2 else 0


if __name__ == '__main__':
    sys.exit(main())
