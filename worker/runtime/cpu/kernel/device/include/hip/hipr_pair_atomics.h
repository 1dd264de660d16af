// SPDX-License-Identifier: Apache-2.0
// Atomic additions to pairs of 16 bits each, for hip_fp16.h and hip_bf16.h of ours.
#pragma once

namespace hipr {
// Puts add(*address, value) there, atomically; returns what was there. A pair is aligned to its 32 bits.
template <typename Pair, typename Add>
__device__ inline Pair add_to_pair(Pair* address, Pair value, Add add) {
  static_assert(sizeof(Pair) == sizeof(unsigned int), "a pair of 16 bits each");
  auto* const word = reinterpret_cast<unsigned int*>(address);
  unsigned int seen = __atomic_load_n(word, __ATOMIC_RELAXED);
  for (;;) {
    Pair before;
    __builtin_memcpy(&before, &seen, sizeof before);
    const Pair after = add(before, value);
    unsigned int wanted;
    __builtin_memcpy(&wanted, &after, sizeof wanted);
    if (__atomic_compare_exchange_n(word, &seen, wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) return before;
  }
}
}  // namespace hipr
