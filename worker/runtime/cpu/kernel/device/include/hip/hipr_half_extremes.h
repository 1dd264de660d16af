// SPDX-License-Identifier: Apache-2.0
// __hmax, __hmin and their _nan forms, which HIP 6.1 adds: the first two prefer a number to a NaN, the others a NaN to
// a number. For kernels and the host. Templates, so that a program's own functions of these names have no rivals.
#pragma once

#include <type_traits>

namespace hipr {
template <typename X, typename Y>
using both_half = typename std::enable_if<
    std::is_convertible<X, __half>::value && std::is_convertible<Y, __half>::value, __half>::type;

__host__ __device__ inline _Float16 value_of(const __half& x) { return static_cast<__half_raw>(x).data; }
__host__ __device__ inline bool is_nan(const __half& x) { return value_of(x) != value_of(x); }
__host__ __device__ inline __half larger(const __half& x, const __half& y) {
  return is_nan(y) || value_of(x) > value_of(y) ? x : y;
}
__host__ __device__ inline __half smaller(const __half& x, const __half& y) {
  return is_nan(y) || value_of(x) < value_of(y) ? x : y;
}
}  // namespace hipr

#define HIPR_EXTREME(name, choose)                                                \
  template <typename X, typename Y>                                               \
  __host__ __device__ inline hipr::both_half<X, Y> name(const X a, const Y b) {   \
    return choose(static_cast<__half>(a), static_cast<__half>(b));                \
  }                                                                               \
  template <typename X, typename Y>                                               \
  __host__ __device__ inline hipr::both_half<X, Y> name##_nan(const X a, const Y b) { \
    const __half x = a, y = b;                                                    \
    return hipr::is_nan(x) ? x : hipr::is_nan(y) ? y : choose(x, y);              \
  }
HIPR_EXTREME(__hmax, hipr::larger)
HIPR_EXTREME(__hmin, hipr::smaller)
#undef HIPR_EXTREME
