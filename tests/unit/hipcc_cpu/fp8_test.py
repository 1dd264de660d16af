# SPDX-License-Identifier: Apache-2.0
"""hip_fp8.h against a table made here from the OCP specification and AMD's of the FNUZ formats: all codes, the numbers
between them, and what is beyond them. Usage: fp8_test.py HIPCC_CPU NATIVE_DIR"""
import bisect
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

HIPCC, NATIVE = os.path.abspath(sys.argv.pop(1)), os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'fp8.hip')
LIMIT_SECONDS = 300
# exponent bits, bias, codes of magnitudes that are infinity, that are NaN; zero has a sign
FORMATS = {'e4m3': (4, 7, (), (0x7f,), True), 'e5m2': (5, 15, (0x7c,), (0x7d, 0x7e, 0x7f), True),
           'e4m3_fnuz': (4, 8, (), (), False), 'e5m2_fnuz': (5, 16, (), (), False)}
INTEGERS = ((-2**31, 2**31 - 1), (0, 2**32 - 1), (-128, 127), (0, 2**64 - 1))


class Format:
    def __init__(self, name):
        exponent_bits, bias, infinities, nans, self.signed_zero = FORMATS[name]
        mantissa_bits = 7 - exponent_bits
        one = 1 << mantissa_bits
        self.values = {}  # of every code
        for code in range(128):
            field, fraction = code >> mantissa_bits, code % one
            whole = fraction if field == 0 else one + fraction
            value = math.ldexp(whole, max(field, 1) - bias - mantissa_bits)
            value = math.inf if code in infinities else math.nan if code in nans else value
            self.values[code], self.values[128 + code] = value, -value
        if not self.signed_zero:
            self.values[0x80] = math.nan
        self.finite = [code for code in range(128) if math.isfinite(self.values[code])]
        self.line = [self.values[code] for code in self.finite]
        self.beyond = infinities[0] if infinities else None
        self.next = 2 * self.line[-1] - self.line[-2]  # what would follow the largest

    def nan(self, sign):
        return sign | 0x7f if self.signed_zero else 0x80

    def nearest(self, magnitude):
        """The code; None beyond the largest."""
        at = bisect.bisect_left(self.line, magnitude)
        if at < len(self.line) and self.line[at] == magnitude:
            return at
        upper = self.line[at] if at < len(self.line) else self.next
        middle = (self.line[at - 1] + upper) / 2  # exact: both have four bits
        code = at - 1 if magnitude < middle or magnitude == middle and at % 2 == 1 else at
        return code if code < len(self.line) else None

    def code(self, value, saturates):
        sign = 0x80 if math.copysign(1, value) < 0 else 0
        if math.isnan(value):
            return self.nan(sign)
        found = self.nearest(abs(value))
        if found is None:
            if saturates:
                return sign | self.finite[-1]
            return self.nan(sign) if self.beyond is None else sign | self.beyond
        return found if found == 0 and not self.signed_zero else sign | found

    def inputs(self):
        edges = self.line + [self.next]
        for low, high in zip(edges, edges[1:]):
            middle = (low + high) / 2
            yield from (low, middle, math.nextafter(middle, 0), math.nextafter(middle, math.inf))
        yield self.next


def as_float(value):
    try:
        return struct.unpack('f', struct.pack('f', value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def as_half(value):
    """Of a float, as the processor rounds it."""
    try:
        return struct.unpack('e', struct.pack('e', value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def as_bfloat16(value):
    if not math.isfinite(value):
        return value
    bits, = struct.unpack('I', struct.pack('f', value))
    return struct.unpack('f', struct.pack('I', (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000))[0]


def inputs():
    found = {0.0, 1.0, 464.0, 5e-324, 1e-310, 1e300, 3e38, 65504.0, 65520.0, math.inf, math.nan}
    for name in FORMATS:
        found.update(Format(name).inputs())
    chance = random.Random(8)
    found.update(math.ldexp(chance.uniform(1, 2), chance.randint(-22, 20)) for _ in range(2000))
    ordered = sorted(found, key=lambda value: (math.isnan(value), value))
    return ordered + [-value for value in ordered]


def expected_codes(form, value):
    single = as_float(value)
    twice = as_float(2 * single)
    saturated = [form.code(v, True) for v in (as_half(single), as_bfloat16(single), value, single)]
    return [form.code(value, False), form.code(value, True), form.code(single, False), *saturated,
            form.code(value, True), form.code(-value, True),
            form.code(single, True), form.code(-single, True), form.code(twice, True), form.code(1.0, True)]


def whole(value, least, most):
    if math.isnan(value):
        return 0
    return int(min(max(value, least), most))


def expected_values(form, code):
    value, first, zero = form.values[code], form.values[1], form.values[0]
    return [value, value, value, first, value, zero, value, zero, value,
            *[whole(value, *limits) for limits in INTEGERS], int(value != 0)]


def same(one, other):
    """Equal, also in the sign of zero."""
    if math.isnan(one) or math.isnan(other):
        return math.isnan(one) and math.isnan(other)
    return one == other and (one != 0 or math.copysign(1, one) == math.copysign(1, other))


class Fp8(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.numbers = inputs()
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, 'fp8')
            subprocess.run([HIPCC, '-O1', SOURCE, '-o', program], check=True, timeout=LIMIT_SECONDS)
            text = ' '.join('nan' if math.isnan(n) and math.copysign(1, n) > 0 else '-nan' if math.isnan(n) else n.hex()
                            for n in cls.numbers)
            done = subprocess.run([program], input=text, capture_output=True, text=True, check=False,
                                  timeout=LIMIT_SECONDS, env=dict(os.environ, LD_LIBRARY_PATH=NATIVE))
        if done.returncode != 0:
            raise RuntimeError(f'the program ended with {done.returncode}: {done.stderr}')
        cls.lines = [line.split(': ') for line in done.stdout.splitlines()]

    def rows(self, kind):
        """(format, side, the number in the head, the numbers behind it) of each line of a kind."""
        for head, tail in self.lines:
            name, side, word, number = head.split()
            if word == kind:
                yield name, side, number, tail.split()

    def test_codes_of_numbers(self):
        formats = {name: Format(name) for name in FORMATS}
        seen = 0
        for at, (name, side, number, codes) in enumerate(self.rows('of')):
            value = self.numbers[at % len(self.numbers)]
            self.assertTrue(same(value, math.nan if 'nan' in number else float.fromhex(number)), number)
            self.assertEqual(expected_codes(formats[name], value), [int(c) for c in codes], f'{name} {side} {number}')
            seen += 1
        self.assertEqual(seen, 2 * len(FORMATS) * len(self.numbers))

    def test_values_of_codes(self):
        formats = {name: Format(name) for name in FORMATS}
        seen = 0
        for name, side, code, words in self.rows('is'):
            expected = expected_values(formats[name], int(code))
            found = [float.fromhex(word) for word in words[:9]] + [int(word) for word in words[9:]]
            self.assertTrue(all(same(*pair) for pair in zip(expected, found)),
                            f'{name} {side} {code}: {found}, expected {expected}')
            self.assertEqual(len(expected), len(found))
            seen += 1
        self.assertEqual(seen, 2 * len(FORMATS) * 256)


if __name__ == '__main__':
    unittest.main()
