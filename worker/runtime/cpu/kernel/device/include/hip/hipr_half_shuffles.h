// SPDX-License-Identifier: Apache-2.0
// Shuffles of __half and __half2, which newer HIP has beside those of numbers. As there: width is a power of two up to
// the wave's.
#pragma once

namespace hipr {
// Shuffles the bits of a value of at most four bytes by `shuffle(bits)`.
template <typename Value, typename Shuffle>
__device__ inline Value shuffled(Value value, Shuffle shuffle) {
  static_assert(sizeof(Value) <= sizeof(unsigned), "one word is exchanged");
  unsigned bits = 0;
  __builtin_memcpy(&bits, &value, sizeof value);
  bits = shuffle(bits);
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}
}  // namespace hipr

#define HIPR_SHUFFLE(type, name, kind)                                                    \
  __device__ inline type name(type value, kind other, int width = warpSize) {             \
    return hipr::shuffled(value, [=](unsigned bits) { return name(bits, other, width); }); \
  }
#define HIPR_SHUFFLES(type)                  \
  HIPR_SHUFFLE(type, __shfl, int)            \
  HIPR_SHUFFLE(type, __shfl_up, unsigned)    \
  HIPR_SHUFFLE(type, __shfl_down, unsigned)  \
  HIPR_SHUFFLE(type, __shfl_xor, int)
HIPR_SHUFFLES(__half)
HIPR_SHUFFLES(__half2)
#undef HIPR_SHUFFLES
#undef HIPR_SHUFFLE
