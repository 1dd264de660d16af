# SPDX-License-Identifier: Apache-2.0
"""The words of rocRAND's generators, computed here without it.

A generator's take(count, width) draws `count` groups of `width` words, as a call of rocRAND does whose distribution
makes something of `width` words. It yields the groups whose indices are wanted, and only goes past the others. The
groups of XORWOW and MRG32K3A come from engine after engine, each of which has a subsequence of its own and goes on
from there in the next round; the next call begins with the engine after the last one. Philox and Sobol are one
sequence; Sobol's is that of the first dimension, van der Corput's in the order of the Gray code.
The generators: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (Philox); Marsaglia, "Xorshift RNGs"
(XORWOW); L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators"
(MRG32k3a). How a seed becomes a state, and how far apart subsequences are, is rocRAND's own.
"""
ENGINES = 512 * 256  # of rocRAND 5.3 on every device
WORD = (1 << 32) - 1


class Sequence:
    """A generator whose words are a function of their index."""

    def __init__(self, seed):
        self.seed, self.position = seed, 0

    def take(self, count, width=1, wanted=None):
        first = self.position
        self.position += count * width
        return [[self.word(first + index * width + place) for place in range(width)]
                for index in (range(count) if wanted is None else wanted)]


class Philox(Sequence):
    def word(self, index):
        words, key = [index >> 2 & WORD, index >> 34, 0, 0], [self.seed & WORD, self.seed >> 32]
        for _ in range(10):
            first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
            words = [second >> 32 ^ words[1] ^ key[0], second & WORD, first >> 32 ^ words[3] ^ key[1], first & WORD]
            key = [(key[0] + 0x9E3779B9) & WORD, (key[1] + 0xBB67AE85) & WORD]
        return words[index % 4]


class Sobol32(Sequence):
    def word(self, index):
        return int(f"{index ^ index >> 1:032b}"[::-1], 2)


class Engines:
    """A generator of many engines. `states` begins with the first one's; `jumped` makes the next one's of it."""

    def __init__(self, state):
        self.states, self.used, self.next = [state], [0] * ENGINES, 0

    def take(self, count, width=1, wanted=None):
        groups, wanted = [], None if wanted is None else set(wanted)
        for index in range(count):
            engine = (self.next + index) % ENGINES
            if wanted is None or index in wanted:
                groups.append(self.words(self.state(engine), self.used[engine], width))
            self.used[engine] += width
        self.next = (self.next + count) % ENGINES
        return groups

    def state(self, engine):
        while len(self.states) <= engine:
            self.states.append(self.jumped(self.states[-1]))
        return self.states[engine]


M1, M2 = 4294967087, 4294944443
A1 = ((0, 1, 0), (0, 0, 1), (M1 - 810728, 1403580, 0))
A2 = ((0, 1, 0), (0, 0, 1), (M2 - 1370589, 0, 527612))


def product(left, right, modulus):
    return tuple(tuple(sum(left[y][k] * right[k][x] for k in range(3)) % modulus for x in range(3)) for y in range(3))


def applied(matrix, state, modulus):
    return tuple(sum(row[k] * state[k] for k in range(3)) % modulus for row in matrix)


def squared(matrix, modulus, times):
    for _ in range(times):
        matrix = product(matrix, matrix, modulus)
    return matrix


class Mrg32k3a(Engines):
    """Its words are from 1 to M1."""

    def __init__(self, seed):
        x, y = seed & WORD ^ 0x55555555, seed >> 32 ^ 0xAAAAAAAA
        super().__init__((tuple(part * seed % M1 for part in (x, y, x)), tuple(part * seed % M2 for part in (y, x, y))))
        self.jumps = squared(A1, M1, 76), squared(A2, M2, 76)  # subsequences are 2^76 numbers apart

    def jumped(self, state):
        return applied(self.jumps[0], state[0], M1), applied(self.jumps[1], state[1], M2)

    def words(self, state, skipped, count):
        words = []
        for _ in range(skipped + count):
            state = applied(A1, state[0], M1), applied(A2, state[1], M2)
            words.append((state[0][2] - state[1][2]) % M1 or M1)
        return words[skipped:]


def step(state):
    """XORWOW's five words, as one number; the sixth only counts."""
    oldest, newest = state & WORD, state >> 128
    shifted = oldest ^ oldest >> 2
    return state >> 32 | ((newest ^ newest << 4 & WORD) ^ (shifted ^ shifted << 1 & WORD)) << 128


def through(columns, state):
    """A matrix of bits by a vector of bits."""
    result = 0
    for column in columns:
        if state & 1:
            result ^= column
        state >>= 1
    return result


class Xorwow(Engines):
    def __init__(self, seed):
        low, high = 1228688033 * (seed & WORD ^ 0x2C7F967F) & WORD, 2073658381 * (seed >> 32 ^ 0xA03697CB) & WORD
        start = (123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low)
        super().__init__(sum((part & WORD) << 32 * place for place, part in enumerate(start)))
        self.count = 6615241 + high + low  # no jump changes it
        self.jump = [step(1 << bit) for bit in range(160)]
        for _ in range(67):  # subsequences are 2^67 numbers apart
            self.jump = [through(self.jump, column) for column in self.jump]

    def jumped(self, state):
        return through(self.jump, state)

    def words(self, state, skipped, count):
        words = []
        for number in range(1, skipped + count + 1):
            state = step(state)
            words.append((state >> 128) + self.count + 362437 * number & WORD)
        return words[skipped:]
