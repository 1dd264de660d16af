# SPDX-License-Identifier: Apache-2.0
"""What rocRAND's generators of random words yield, computed here without it.

Each is a dictionary from the index of a word to the word. rocRAND's kernels give word i of XORWOW and MRG32K3A to
engine i % ENGINES, whose sequence begins at a subsequence of its own; Philox's words are those of the counter i / 4;
Sobol's are those of the first dimension, which is van der Corput's sequence in the order of the Gray code.
The generators: Salmon et al., "Parallel Random Numbers: As Easy as 1, 2, 3" (Philox); Marsaglia, "Xorshift RNGs"
(XORWOW); L'Ecuyer, "Good Parameters and Implementations for Combined Multiple Recursive Random Number Generators"
(MRG32k3a). How a seed becomes a state, and how far apart subsequences are, is rocRAND's own.
"""
ENGINES = 512 * 256  # of rocRAND 5.3 on every device
WORD = (1 << 32) - 1


def philox(seed, indices):
    return {index: philox_block(seed, index // 4)[index % 4] for index in indices}


def philox_block(seed, counter):
    words = [counter & WORD, counter >> 32 & WORD, 0, 0]
    key = [seed & WORD, seed >> 32]
    for _ in range(10):
        first, second = 0xD2511F53 * words[0], 0xCD9E8D57 * words[2]
        words = [second >> 32 ^ words[1] ^ key[0], second & WORD, first >> 32 ^ words[3] ^ key[1], first & WORD]
        key = [(key[0] + 0x9E3779B9) & WORD, (key[1] + 0xBB67AE85) & WORD]
    return words


def sobol32(_seed, indices):
    return {index: int(f"{index ^ index >> 1:032b}"[::-1], 2) for index in indices}


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


def mrg32k3a(seed, indices):
    x, y = seed & WORD ^ 0x55555555, seed >> 32 ^ 0xAAAAAAAA
    first = tuple(part * seed % M1 for part in (x, y, x))
    second = tuple(part * seed % M2 for part in (y, x, y))
    jump1, jump2 = squared(A1, M1, 76), squared(A2, M2, 76)  # subsequences are 2^76 numbers apart
    words = {}
    engine = 0
    for index in by_engine(indices):
        while engine < index % ENGINES:
            first, second = applied(jump1, first, M1), applied(jump2, second, M2)
            engine += 1
        state1, state2 = first, second
        for _ in range(index // ENGINES + 1):
            state1, state2 = applied(A1, state1, M1), applied(A2, state2, M2)
        difference = (state1[2] - state2[2]) % M1 or M1
        words[index] = int((difference - 1) * 1.000000048662)
    return words


def by_engine(indices):
    """So that each engine's state is reached from that of the one before."""
    return sorted(indices, key=lambda index: (index % ENGINES, index))


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


def xorwow(seed, indices):
    low, high = 1228688033 * (seed & WORD ^ 0x2C7F967F) & WORD, 2073658381 * (seed >> 32 ^ 0xA03697CB) & WORD
    start = (123456789 + low, 362436069 ^ low, 521288629 + high, 88675123 ^ high, 5783321 + low)
    state = sum((part & WORD) << 32 * place for place, part in enumerate(start))
    count = 6615241 + high + low
    jump = [step(1 << bit) for bit in range(160)]
    for _ in range(67):  # subsequences are 2^67 numbers apart
        jump = [through(jump, column) for column in jump]
    words = {}
    engine = 0
    for index in by_engine(indices):
        while engine < index % ENGINES:
            state = through(jump, state)
            engine += 1
        own = state
        for _ in range(index // ENGINES + 1):
            own = step(own)
        words[index] = (own >> 128) + count + 362437 * (index // ENGINES + 1) & WORD
    return words
