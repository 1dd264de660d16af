# SPDX-License-Identifier: Apache-2.0
"""A HIP program: what rocRAND's generators make on the device, on standard output, one value a line.

random_words.py GENERATOR SEED COUNT [FIRST LAST]...

First words FIRST to LAST - 1 of COUNT (all without them), then VALUES numbers of each distribution, which go on where
the words end. Integers are decimal, other numbers float.hex()'s, so that no bit is lost.
"""
import ctypes
import sys

GENERATORS = {"xorwow": 401, "mrg32k3a": 402, "mtgp32": 403, "philox": 404, "sobol32": 501}
DEVICE_TO_HOST = 2
VALUES = 256  # of each distribution; MTGP32 makes no fewer
LAMBDA = 12.5
NORMAL = (0.5, 1.5)  # mean and standard deviation
LOG_NORMAL = (0.25, 0.5)  # of the logarithm

# The functions in the order in which they are called: rocRAND's name, its type, its parameters.
DISTRIBUTIONS = {
    "uniform": (ctypes.c_float, ()),
    "uniform_double": (ctypes.c_double, ()),
    "normal": (ctypes.c_float, tuple(map(ctypes.c_float, NORMAL))),
    "normal_double": (ctypes.c_double, tuple(map(ctypes.c_double, NORMAL))),
    "log_normal": (ctypes.c_float, tuple(map(ctypes.c_float, LOG_NORMAL))),
    "log_normal_double": (ctypes.c_double, tuple(map(ctypes.c_double, LOG_NORMAL))),
    "poisson": (ctypes.c_uint32, (ctypes.c_double(LAMBDA),)),
}


def checked(status, what):
    if status != 0:
        sys.exit(f"{what}: {status}")


def generated(rocrand, hip, handle, function, kind, count, parameters=()):
    memory, values = ctypes.c_void_p(), (kind * count)()
    size = ctypes.c_size_t(ctypes.sizeof(values))
    checked(hip.hipMalloc(ctypes.byref(memory), size), "hipMalloc")
    checked(getattr(rocrand, function)(handle, memory, ctypes.c_size_t(count), *parameters), function)
    checked(hip.hipMemcpy(values, memory, size, DEVICE_TO_HOST), "hipMemcpy")
    checked(hip.hipFree(memory), "hipFree")
    return values


def main():
    generator, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    bounds = list(map(int, sys.argv[4:])) or [0, count]
    rocrand = ctypes.CDLL("librocrand.so.1")
    hip = ctypes.CDLL("libamdhip64.so.5")
    handle = ctypes.c_void_p()
    checked(rocrand.rocrand_create_generator(ctypes.byref(handle), GENERATORS[generator]), "create")
    if generator != "sobol32":
        checked(rocrand.rocrand_set_seed(handle, ctypes.c_uint64(seed)), "seed")
    words = generated(rocrand, hip, handle, "rocrand_generate", ctypes.c_uint32, count)
    for first, last in zip(bounds[::2], bounds[1::2]):
        print("\n".join(map(str, words[first:last])))
    for name, (kind, parameters) in DISTRIBUTIONS.items():
        values = generated(rocrand, hip, handle, "rocrand_generate_" + name, kind, VALUES, parameters)
        print("\n".join(value.hex() if isinstance(value, float) else str(value) for value in values))
    checked(rocrand.rocrand_destroy_generator(handle), "destroy")


if __name__ == "__main__":
    main()
