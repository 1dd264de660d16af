// SPDX-License-Identifier: Apache-2.0
// Shuffles of __half and __half2, which newer HIP has beside those of numbers. As there: width is a power of two up to
// the wave's. Templates, so that a program's own functions of these names have no rivals.
#pragma once

#include <type_traits>

namespace hipr {
template <typename Value>
using only_half =
    typename std::enable_if<std::is_same<Value, __half>::value || std::is_same<Value, __half2>::value, Value>::type;

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

#define HIPR_SHUFFLE(name, kind)                                                                    \
  template <typename Value>                                                                         \
  __device__ inline hipr::only_half<Value> name(Value value, kind other, int width = warpSize) {    \
    return hipr::shuffled(value, [=](unsigned bits) { return name(bits, other, width); });          \
  }
HIPR_SHUFFLE(__shfl, int)
HIPR_SHUFFLE(__shfl_up, unsigned)
HIPR_SHUFFLE(__shfl_down, unsigned)
HIPR_SHUFFLE(__shfl_xor, int)
#undef HIPR_SHUFFLE
