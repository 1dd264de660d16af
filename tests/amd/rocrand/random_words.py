# SPDX-License-Identifier: Apache-2.0
"""A HIP program: numbers of rocRAND's generators, made on the device, on standard output as hexadecimal words.

random_words.py GENERATOR SEED COUNT [FIRST LAST]...    words FIRST to LAST - 1 of COUNT (all without them)
"""
import ctypes
import sys

GENERATORS = {"xorwow": 401, "mrg32k3a": 402, "mtgp32": 403, "philox": 404, "sobol32": 501}
DEVICE_TO_HOST = 2


def checked(status, what):
    if status != 0:
        sys.exit(f"{what}: {status}")


def main():
    generator, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    bounds = list(map(int, sys.argv[4:])) or [0, count]
    rocrand = ctypes.CDLL("librocrand.so.1")
    hip = ctypes.CDLL("libamdhip64.so.5")
    handle, memory = ctypes.c_void_p(), ctypes.c_void_p()
    checked(hip.hipMalloc(ctypes.byref(memory), ctypes.c_size_t(4 * count)), "hipMalloc")
    checked(rocrand.rocrand_create_generator(ctypes.byref(handle), GENERATORS[generator]), "create")
    if generator != "sobol32":
        checked(rocrand.rocrand_set_seed(handle, ctypes.c_uint64(seed)), "seed")
    checked(rocrand.rocrand_generate(handle, memory, ctypes.c_size_t(count)), "generate")
    words = (ctypes.c_uint32 * count)()
    checked(hip.hipMemcpy(words, memory, ctypes.c_size_t(4 * count), DEVICE_TO_HOST), "hipMemcpy")
    for first, last in zip(bounds[::2], bounds[1::2]):
        print("\n".join(f"{word:08x}" for word in words[first:last]))
    checked(rocrand.rocrand_destroy_generator(handle), "destroy")
    checked(hip.hipFree(memory), "hipFree")


main()
