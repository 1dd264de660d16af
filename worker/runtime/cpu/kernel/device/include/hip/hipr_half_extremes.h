// SPDX-License-Identifier: Apache-2.0
// __hmax, __hmin and their _nan forms, which HIP 6.1 adds: the first two prefer a number to a NaN, the others a NaN to
// a number. For kernels and the host.
#pragma once

#define HIPR_EXTREME __host__ __device__ inline __half

namespace hipr {
__host__ __device__ inline _Float16 value_of(const __half& x) { return static_cast<__half_raw>(x).data; }
__host__ __device__ inline bool is_nan(const __half& x) { return value_of(x) != value_of(x); }
}  // namespace hipr

HIPR_EXTREME __hmax(const __half x, const __half y) {
  return hipr::is_nan(y) || hipr::value_of(x) > hipr::value_of(y) ? x : y;
}
HIPR_EXTREME __hmin(const __half x, const __half y) {
  return hipr::is_nan(y) || hipr::value_of(x) < hipr::value_of(y) ? x : y;
}
HIPR_EXTREME __hmax_nan(const __half x, const __half y) {
  return hipr::is_nan(x) ? x : hipr::is_nan(y) ? y : __hmax(x, y);
}
HIPR_EXTREME __hmin_nan(const __half x, const __half y) {
  return hipr::is_nan(x) ? x : hipr::is_nan(y) ? y : __hmin(x, y);
}
#undef HIPR_EXTREME
