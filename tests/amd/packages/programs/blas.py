# SPDX-License-Identifier: Apache-2.0
"""BLAS calls on small matrices of eighths, whose results floats hold exactly: any order of summation is right.

rocBLAS and hipBLAS take the same arguments in the same order, so one list of calls serves both.
"""
import ctypes
import pathlib
import sys

from device import Device, checked, show

NONE, TRANSPOSED = 111, 112  # rocblas_operation, hipblasOperation_t
ALPHA, BETA = 1.5, -0.5
BATCH = 3


def eighths(count, seed):
    """Multiples of 1/8 between -2 and 2."""
    return [((at * 37 + seed * 101) % 33 - 16) / 8 for at in range(count)]


def product(m, n, k, a, b, c):
    """ALPHA * a * b + BETA * c, all in columns; `a` is m x k as its transpose (k x m), `b` is k x n."""
    return [ALPHA * sum(a[i * k + at] * b[j * k + at] for at in range(k)) + BETA * c[j * m + i]
            for j in range(n) for i in range(m)]


class Blas:
    """Calls of one library, whichever version there is. `name(word)` makes a function's name of BLAS's, such as
    "saxpy"."""

    def __init__(self, library, create, name):
        file, = pathlib.Path("/usr/lib").glob(f"*/{library}.so.?")
        self.library, self.name = ctypes.CDLL(file, mode=ctypes.RTLD_GLOBAL), name
        self.device = Device()
        self.handle = ctypes.c_void_p()
        checked(getattr(self.library, create)(ctypes.byref(self.handle)), create)
        self.right = True

    def call(self, word, *arguments):
        checked(getattr(self.library, self.name(word))(self.handle, *arguments), self.name(word))

    def show(self, word, values, expected, tolerance=0.0):
        self.right &= show(self.name(word), values, expected, tolerance)

    def vectors(self, n=1000):
        x, y = eighths(n, 1), eighths(n, 2)
        kind = ctypes.c_float
        device_x, device_y = self.device.put((kind * n)(*x)), self.device.put((kind * n)(*y))
        result = kind()
        self.call("sdot", n, device_x, 1, device_y, 1, ctypes.byref(result))
        self.show("sdot", (kind * 1)(result), [sum(map(float.__mul__, x, y))])
        self.call("snrm2", n, device_x, 1, ctypes.byref(result))
        self.show("snrm2", (kind * 1)(result), [sum(value * value for value in x) ** 0.5], 1e-6)
        self.call("saxpy", n, ctypes.byref(kind(ALPHA)), device_x, 1, device_y, 1)
        self.show("saxpy", self.device.get(device_y, kind, n), [ALPHA * one + two for one, two in zip(x, y)])
        self.device.free(device_x, device_y)

    def matrix_vector(self, m=96, n=64):
        kind = ctypes.c_float
        for operation in (NONE, TRANSPOSED):
            rows, columns = (m, n) if operation == NONE else (n, m)
            a, x, y = eighths(m * n, 3), eighths(columns, 4), eighths(rows, 5)
            at = (lambda i, j: a[j * m + i]) if operation == NONE else (lambda i, j: a[i * m + j])
            memory = [self.device.put((kind * len(values))(*values)) for values in (a, x, y)]
            self.call("sgemv", operation, m, n, ctypes.byref(kind(ALPHA)), memory[0], m, memory[1], 1,
                      ctypes.byref(kind(BETA)), memory[2], 1)
            self.show("sgemv", self.device.get(memory[2], kind, rows),
                      [ALPHA * sum(at(i, j) * x[j] for j in range(columns)) + BETA * y[i] for i in range(rows)])
            self.device.free(*memory)

    def matrices(self, word, kind, size, batched=None):
        """C = ALPHA * A' * B + BETA * C, BATCH of them if `batched` is "pointers" or "strides"."""
        m, n, k = size
        count = BATCH if batched else 1
        lengths = [k * m, k * n, m * n]
        values = [[eighths(length, 6 + 3 * one + at) for one in range(count)] for at, length in enumerate(lengths)]
        memory = [self.device.put((kind * (length * count))(*sum(parts, [])))
                  for length, parts in zip(lengths, values)]
        where, more = memory, ([], [], [])
        if batched == "pointers":
            size_of = ctypes.sizeof(kind)
            where = [self.device.put((ctypes.c_void_p * count)(*(one.value + at * length * size_of
                                                                 for at in range(count))))
                     for one, length in zip(memory, lengths)]
        if batched == "strides":
            more = [[ctypes.c_int64(length)] for length in lengths]
        last = [count] if batched else []
        self.call(word, TRANSPOSED, NONE, m, n, k, ctypes.byref(kind(ALPHA)), where[0], k, *more[0], where[1], k,
                  *more[1], ctypes.byref(kind(BETA)), where[2], m, *more[2], *last)
        expected = sum((product(m, n, k, *(parts[one] for parts in values)) for one in range(count)), [])
        self.show(word, self.device.get(memory[2], kind, m * n * count), expected)
        self.device.free(*memory, *(where if batched == "pointers" else ()))


def run(blas, batched, strided):
    """`batched`, `strided`: what the library calls these variants of sgemm."""
    blas.vectors()
    blas.matrix_vector()
    blas.matrices("sgemm", ctypes.c_float, (16, 16, 16))
    blas.matrices("sgemm", ctypes.c_float, (64, 48, 32))
    blas.matrices("dgemm", ctypes.c_double, (32, 32, 16))
    blas.matrices(batched, ctypes.c_float, (16, 16, 8), "pointers")
    blas.matrices(strided, ctypes.c_float, (16, 16, 8), "strides")
    sys.exit(0 if blas.right else 1)
