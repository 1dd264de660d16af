# SPDX-License-Identifier: Apache-2.0
"""Device memory for programs that call AMD's libraries through ctypes, and what they print.

What a call made is printed as a digest of its bytes: two ways to run a program differ if one bit does.
"""
import ctypes
import hashlib
import sys

TO_DEVICE, FROM_DEVICE = 1, 2  # hipMemcpyKind


def checked(status, what):
    if status != 0:
        sys.exit(f"{what}: {status}")


class Device:
    """The current device of the HIP runtime that the process has loaded, with RTLD_GLOBAL."""

    def __init__(self):
        self.hip = ctypes.CDLL(None)

    def select(self, number):
        checked(self.hip.hipSetDevice(number), "hipSetDevice")

    def memory(self, size):
        memory = ctypes.c_void_p()
        checked(self.hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(size)), "hipMalloc")
        return memory

    def put(self, values):
        """A copy of a ctypes array in new memory of the device."""
        memory, size = self.memory(ctypes.sizeof(values)), ctypes.c_size_t(ctypes.sizeof(values))
        checked(self.hip.hipMemcpy(memory, values, size, TO_DEVICE), "hipMemcpy to the device")
        return memory

    def get(self, memory, kind, count):
        values = (kind * count)()
        size = ctypes.c_size_t(ctypes.sizeof(values))
        checked(self.hip.hipMemcpy(values, memory, size, FROM_DEVICE), "hipMemcpy from the device")
        return values

    def free(self, *memory):
        for one in memory:
            checked(self.hip.hipFree(one), "hipFree")


def show(name, values, expected, tolerance=0.0):
    """Prints one line: whether all values are as expected, and the digest. Returns whether they are."""
    wrong = [at for at, (one, other) in enumerate(zip(values, expected))
             if not abs(one - other) <= tolerance * abs(other)]
    digest = hashlib.sha256(bytes(values)).hexdigest()[:16]
    word = "right" if not wrong else f"WRONG at {wrong[0]}: {values[wrong[0]]}, expected {expected[wrong[0]]}"
    print(f"{name}: {len(values)} values, {digest}, {word}", flush=True)
    return not wrong
