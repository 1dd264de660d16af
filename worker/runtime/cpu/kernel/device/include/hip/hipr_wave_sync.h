// SPDX-License-Identifier: Apache-2.0
// Wave functions of HIP 6.2 and 7 that take a mask of lanes, up to HIP 6: __shfl_sync, __ballot_sync, __match_any_sync,
// __reduce_add_sync, __syncwarp and their like. As in HIP a mask has 64 bits; every lane in it has to reach the same
// call. Included by our hip/hip_runtime.h.
#pragma once

#include <hip/hip_runtime.h>

// The result of a function that takes a mask, which no other type than one of 64 bits may be. A program's own function
// for masks of 32 bits so has no rival here.
#define HIPR_MASKED(result) __device__ inline typename hipr::masked<Mask, result>::type

namespace hipr {
template <typename Mask, typename Result, bool is_mask = sizeof(Mask) == 8>
struct masked {};
template <typename Mask, typename Result>
struct masked<Mask, Result, true> {
  using type = Result;
};

// `step(lane)` for each lane of the mask, in order.
template <typename Step>
__device__ inline void for_each_lane(unsigned long long mask, Step step) {
  for (; mask != 0; mask &= mask - 1) step(__builtin_ctzll(mask));
}

// The value of the mask's lanes, joined by `join(a, b)`; every lane gets it.
template <typename Mask, typename T, typename Join>
__device__ inline T joined(Mask mask, T value, Join join) {
  const auto lanes = static_cast<unsigned long long>(mask);
  T result = __shfl(value, __builtin_ctzll(lanes));
  for_each_lane(lanes & (lanes - 1), [&](int lane) { result = join(result, __shfl(value, lane)); });
  return result;
}
}  // namespace hipr

__device__ inline unsigned long long __activemask() { return __ballot(1); }

__device__ inline void __syncwarp() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
template <typename Mask>
HIPR_MASKED(void) __syncwarp(Mask) {
  __syncwarp();
}

// ---- votes
template <typename Mask>
HIPR_MASKED(unsigned long long) __ballot_sync(Mask mask, int predicate) {
  return __ballot(predicate) & static_cast<unsigned long long>(mask);
}
template <typename Mask>
HIPR_MASKED(int) __any_sync(Mask mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
template <typename Mask>
HIPR_MASKED(int) __all_sync(Mask mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}

// ---- shuffles
template <typename Mask, typename T>
HIPR_MASKED(T) __shfl_sync(Mask, T value, int lane, int width = warpSize) {
  return __shfl(value, lane, width);
}
template <typename Mask, typename T>
HIPR_MASKED(T) __shfl_up_sync(Mask, T value, unsigned int delta, int width = warpSize) {
  return __shfl_up(value, delta, width);
}
template <typename Mask, typename T>
HIPR_MASKED(T) __shfl_down_sync(Mask, T value, unsigned int delta, int width = warpSize) {
  return __shfl_down(value, delta, width);
}
template <typename Mask, typename T>
HIPR_MASKED(T) __shfl_xor_sync(Mask, T value, int lanes, int width = warpSize) {
  return __shfl_xor(value, lanes, width);
}

// ---- matches: the lanes of the mask with the same value as the caller's; all of the mask, or none
template <typename Mask, typename T>
HIPR_MASKED(unsigned long long) __match_any_sync(Mask mask, T value) {
  unsigned long long same = 0;
  hipr::for_each_lane(static_cast<unsigned long long>(mask), [&](int lane) {
    if (__shfl(value, lane) == value) same |= 1ull << lane;
  });
  return same;
}
template <typename Mask, typename T>
HIPR_MASKED(unsigned long long) __match_all_sync(Mask mask, T value, int* all_same) {
  const auto lanes = static_cast<unsigned long long>(mask);
  *all_same = __all_sync(mask, __shfl(value, __builtin_ctzll(lanes)) == value);
  return *all_same ? lanes : 0;
}
template <typename T>
__device__ inline unsigned long long __match_any(T value) {
  return __match_any_sync(__activemask(), value);
}
template <typename T>
__device__ inline unsigned long long __match_all(T value, int* all_same) {
  return __match_all_sync(__activemask(), value, all_same);
}

// ---- reductions
#define HIPR_REDUCE(name, value_of)                                            \
  template <typename Mask, typename T>                                         \
  HIPR_MASKED(T) __reduce_##name##_sync(Mask mask, T value) {                  \
    return hipr::joined(mask, value, [](T a, T b) -> T { return value_of; });  \
  }
HIPR_REDUCE(add, a + b)
HIPR_REDUCE(min, a < b ? a : b)
HIPR_REDUCE(max, a < b ? b : a)
HIPR_REDUCE(and, a & b)
HIPR_REDUCE(or, a | b)
HIPR_REDUCE(xor, a ^ b)
#undef HIPR_REDUCE
#undef HIPR_MASKED
