# SPDX-License-Identifier: Apache-2.0
"""The numbers that rocRAND's distributions make of a generator's words, computed here without it.

Each function takes the groups of words and yields pairs: a number, and how far from it rocRAND's may be. 0 says that
every bit is determined: each operation of the formula is exact, or rounded once. Elsewhere the bounds are those of
OpenCL's specification for the functions that the device's library has (section 7.4, relative error as ULP: 3 for log,
exp and sqrt, 4 for sin and cos), put through the formula.

Where the formulas are from: rocRAND's documentation says which transform a function uses (rocrand_normal: Box-Muller);
which word becomes which argument, and the constants, are read in its source (rocrand_uniform.h, rocrand_normal.h,
rocrand_discrete.h of 5.3.3). Box and Muller, "A Note on the Generation of Random Normal Deviates", 1958. Winitzki, "A
handy approximation for the error function and its inverse", 2008 (Sobol's normal numbers, with a = 0.147). Walker, "An
Efficient Method for Generating Discrete Random Variables with General Distributions", 1977, with the tables of Vose,
"A Linear Algorithm for Generating Random Numbers with a Given Distribution", 1991.
"""
import itertools
import math
import struct
import typing
from dataclasses import dataclass

from random_words import LAMBDA, LOG_NORMAL, NORMAL

FLOAT, DOUBLE = 2.0**-23, 2.0**-52  # the distance of 1 from the next number
M1 = 4294967087  # MRG32k3a's first modulus
SINGLE_ROOT_OF_2 = 1.41421353816986083984375  # a float also where numbers are double


def single(value):
    """Rounded to a float."""
    return struct.unpack("f", struct.pack("f", value))[0]


def unit(word):
    """In (0, 1]. The product is exact, so it does not matter whether the sum is fused."""
    return single(2.0**-32 + single(word) * 2.0**-32)


def unit_double(low, high):
    return 2.0**-53 + (low | high >> 11 << 32) * 2.0**-53


def scaled_normal(value, tolerance, unit_in_last_place):
    mean, deviation = NORMAL
    result = mean + value * deviation
    return result, tolerance * deviation + (abs(result) + abs(value * deviation)) * unit_in_last_place


def scaled_log_normal(value, tolerance, unit_in_last_place):
    mean, deviation = LOG_NORMAL
    exponent = mean + value * deviation
    error = tolerance * deviation + (abs(exponent) + abs(value * deviation) + 4) * unit_in_last_place
    return math.exp(exponent), math.exp(exponent) * error


def sine_and_cosine_of_half_turns(half_turns):
    """In quarters: the argument of sin() is then as exact as a number can be."""
    quarter = round(half_turns * 2)
    rest = (half_turns - quarter / 2) * math.pi
    sine, cosine = math.sin(rest), math.cos(rest)
    return ((sine, cosine), (cosine, -sine), (-sine, -cosine), (-cosine, sine))[quarter % 4]


def box_muller(u, angle):
    """Both in single precision. log() and sqrt() may be wrong by 3 ULP each, of which the root halves the first; with
    the product 6. The angle becomes a part of a turn, for the hardware's sine and cosine: two roundings of up to half
    of 2^-23 turns, which is 2 pi 2^-23 in the angle; as much again for the sine itself."""
    radius = math.sqrt(-2 * math.log(u))
    tolerance = radius * (6 + 4 * math.pi) * FLOAT
    return (radius * math.sin(angle), tolerance), (radius * math.cos(angle), tolerance)


def box_muller_double(u, half_turns):
    radius = math.sqrt(-2 * math.log(u))
    tolerance = radius * (6 + 4) * DOUBLE
    return [(radius * value, tolerance) for value in sine_and_cosine_of_half_turns(half_turns)]


def winitzki(x, precise):
    """sqrt(2) erfinv(x), where x and what log() gets of it are already rounded as on the device. 8 ULP of the terms of
    the difference under the root, which may be much smaller than they are."""
    rounded = (lambda value: value) if precise else single
    left = rounded(rounded(1 - x) * rounded(1 + x))
    if left == 0:
        return 0.0, 0.0  # rocRAND answers 0 for the infinite ones
    logarithm = math.log(left)
    half, quotient = 2 / (math.pi * 0.147) + 0.5 * logarithm, logarithm / 0.147
    inner = math.sqrt(half * half - quotient)
    difference, error = inner - half, 8 * (inner + abs(half)) * (DOUBLE if precise else FLOAT)
    if not precise:  # the device's constants are floats
        error += (abs(half) + abs(quotient)) * FLOAT
    root = math.sqrt(max(difference, 0.0))
    tolerance = max(math.sqrt(difference + error) - root, root - math.sqrt(max(difference - error, 0.0)))
    sign = -1.0 if x < 0 else 1.0
    return sign * SINGLE_ROOT_OF_2 * root, SINGLE_ROOT_OF_2 * tolerance + root * (DOUBLE if precise else FLOAT)


def poisson_probabilities():
    """From the first number that has 10^-12 on: what is less is left out."""
    logarithm = math.log(LAMBDA)
    every = [math.exp(number * logarithm - math.lgamma(number + 1.0) - LAMBDA) for number in range(200)]
    offset = next(number for number, probability in enumerate(every) if probability >= 1e-12)
    some = [probability for probability in every if probability >= 1e-12]
    total = sum(some)
    return offset, [probability / total for probability in some]


def alias_table(probabilities):
    """Vose's two stacks: each small one is filled up by a large one."""
    size, left, average = len(probabilities), list(probabilities), 1.0 / len(probabilities)
    large = [index for index in range(size) if left[index] >= average]
    small = [index for index in range(size) if left[index] < average]
    shares, aliases = [1.0] * size, [0] * size
    while small and large:
        less, more = small.pop(), large.pop()
        shares[less], aliases[less] = left[less] * size, more
        left[more] = left[more] + left[less] - average
        (large if left[more] >= average else small).append(more)
    return shares, aliases


class Poisson:
    def __init__(self):
        self.offset, self.probabilities = poisson_probabilities()
        self.shares, self.aliases = alias_table(self.probabilities)
        self.sums = list(itertools.accumulate(self.probabilities))

    def of_alias(self, word):
        place = word * 2.0**-32 * len(self.shares)
        index = math.floor(place)
        return self.offset + (index if place - index < self.shares[index] else self.aliases[index])

    def of_sums(self, word):
        """Sobol's: the quasi-random order is kept."""
        last = len(self.sums) - 1
        return self.offset + next((index for index in range(last) if word * 2.0**-32 <= self.sums[index]), last)


POISSON = Poisson()


def mrg_unit(word):
    return word * (1.0 / M1)


def mrg_word(word):
    """Of all 32 bits, which M1 is a little too small for."""
    return int((word - 1) * ((2.0**32 - 1) / (M1 - 1)))


def normals(u, angle):
    return box_muller(unit(u), single(single(2.0**-32 * single(2 * math.pi)) * (single(angle) + 1)))


def normals_double(first, second, third, fourth):
    u, half_turns = (1 + (low ^ high << 21) for low, high in ((first, second), (third, fourth)))
    return box_muller_double(u * 2.0**-53, half_turns * 2.0**-52)


def mrg_normals(u, angle):
    return box_muller(single(mrg_unit(u)), single(single(mrg_unit(angle)) * single(2 * math.pi)))


def mrg_normals_double(u, half_turns):
    """Of floats, as rocRAND 5.3 has it."""
    return box_muller_double(single(mrg_unit(u)), single(mrg_unit(half_turns)) * 2)


def sobol_normal(word):
    return [winitzki(single(2 * unit(word) - 1), False)]


def sobol_normal_double(word):
    return [winitzki(2 * (2.0**-32 + word * 2.0**-32) - 1, True)]


@dataclass
class Form:
    """How many words of the generator make how many numbers, and which."""
    words: int
    numbers: int
    function: typing.Callable  # of the words; yields pairs


def exact(function, words=1):
    return Form(words, 1, lambda *given: [(function(*given), 0)])


def scaled(form, scale, unit_in_last_place):
    return Form(form.words, form.numbers,
                lambda *words: [scale(*pair, unit_in_last_place) for pair in form.function(*words)])


def forms(word, uniform, uniform_double, poisson, normal, normal_double):
    """One for each function of rocRAND."""
    return {
        "word": word, "uniform": uniform, "uniform_double": uniform_double, "poisson": poisson,
        "normal": scaled(normal, scaled_normal, FLOAT),
        "normal_double": scaled(normal_double, scaled_normal, DOUBLE),
        "log_normal": scaled(normal, scaled_log_normal, FLOAT),
        "log_normal_double": scaled(normal_double, scaled_log_normal, DOUBLE),
    }


FORMS = forms(exact(int), exact(unit), exact(unit_double, 2), exact(POISSON.of_alias), Form(2, 2, normals),
              Form(4, 2, normals_double))
FORMS_OF_MRG32K3A = forms(exact(mrg_word), exact(lambda word: single(mrg_unit(word))), exact(mrg_unit),
                          exact(lambda word: POISSON.of_alias(mrg_word(word))), Form(2, 2, mrg_normals),
                          Form(2, 2, mrg_normals_double))
FORMS_OF_SOBOL32 = forms(exact(int), exact(unit), exact(lambda word: 2.0**-32 + word * 2.0**-32),
                         exact(POISSON.of_sums), Form(1, 1, sobol_normal), Form(1, 1, sobol_normal_double))
