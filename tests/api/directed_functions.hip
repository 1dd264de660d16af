// SPDX-License-Identifier: Apache-2.0
// Conversions and arithmetic of kernels that round in one direction. Device libraries of older ROCm have no such
// functions.
#include <hip/hip_runtime.h>

#include "kernels.h"

// Conversions that round down, up and to zero, by the names that newer headers use: three values for each.
#define DIRECTED(to, name, from)                             \
  extern "C" __device__ to __ocml_cvtrtn_##name(from value); \
  extern "C" __device__ to __ocml_cvtrtp_##name(from value); \
  extern "C" __device__ to __ocml_cvtrtz_##name(from value);
DIRECTED(float, f32_f64, double)
DIRECTED(_Float16, f16_f32, float)
DIRECTED(float, f32_s32, int)
DIRECTED(float, f32_u64, unsigned long long)
DIRECTED(double, f64_s64, long long)
#undef DIRECTED
__global__ void directed_conversions(double x, long long n, double* out) {
  const auto put = [out](int row, double down, double up, double to_zero) {
    out[3 * row] = down;
    out[3 * row + 1] = up;
    out[3 * row + 2] = to_zero;
  };
  const float y = static_cast<float>(x);
  const int i = static_cast<int>(n);
  const unsigned long long u = static_cast<unsigned long long>(n);
  put(0, __ocml_cvtrtn_f32_f64(x), __ocml_cvtrtp_f32_f64(x), __ocml_cvtrtz_f32_f64(x));
  put(1, __ocml_cvtrtn_f16_f32(y), __ocml_cvtrtp_f16_f32(y), __ocml_cvtrtz_f16_f32(y));
  put(2, __ocml_cvtrtn_f32_s32(i), __ocml_cvtrtp_f32_s32(i), __ocml_cvtrtz_f32_s32(i));
  put(3, __ocml_cvtrtn_f32_u64(u), __ocml_cvtrtp_f32_u64(u), __ocml_cvtrtz_f32_u64(u));
  put(4, __ocml_cvtrtn_f64_s64(n), __ocml_cvtrtp_f64_s64(n), __ocml_cvtrtz_f64_s64(n));
}

// Arithmetic that rounds down, up and to zero: six operations on three numbers, in each direction.
#define DIRECTED(T, name, mode)                                \
  extern "C" __device__ T __ocml_add_##mode##_##name(T, T);    \
  extern "C" __device__ T __ocml_sub_##mode##_##name(T, T);    \
  extern "C" __device__ T __ocml_mul_##mode##_##name(T, T);    \
  extern "C" __device__ T __ocml_div_##mode##_##name(T, T);    \
  extern "C" __device__ T __ocml_sqrt_##mode##_##name(T);      \
  extern "C" __device__ T __ocml_fma_##mode##_##name(T, T, T); \
  __device__ void put_##mode##_##name(T a, T b, T c, T* out) { \
    out[0] = __ocml_add_##mode##_##name(a, b);                 \
    out[1] = __ocml_sub_##mode##_##name(a, b);                 \
    out[2] = __ocml_mul_##mode##_##name(a, b);                 \
    out[3] = __ocml_div_##mode##_##name(a, b);                 \
    out[4] = __ocml_sqrt_##mode##_##name(a);                   \
    out[5] = __ocml_fma_##mode##_##name(a, b, c);              \
  }
DIRECTED(float, f32, rtn)
DIRECTED(float, f32, rtp)
DIRECTED(float, f32, rtz)
DIRECTED(double, f64, rtn)
DIRECTED(double, f64, rtp)
DIRECTED(double, f64, rtz)
#undef DIRECTED
__global__ void directed_arithmetic(const float* x, float* single, const double* y, double* wide) {
  x += 3 * threadIdx.x;
  y += 3 * threadIdx.x;
  single += tf::api_test::kDirectedResults * threadIdx.x;
  wide += tf::api_test::kDirectedResults * threadIdx.x;
  put_rtn_f32(x[0], x[1], x[2], single);
  put_rtp_f32(x[0], x[1], x[2], single + 6);
  put_rtz_f32(x[0], x[1], x[2], single + 12);
  put_rtn_f64(y[0], y[1], y[2], wide);
  put_rtp_f64(y[0], y[1], y[2], wide + 6);
  put_rtz_f64(y[0], y[1], y[2], wide + 12);
}

namespace tf::api_test {

void launch_directed_conversions(double x, long long n, double* out) {
  directed_conversions<<<1, 1>>>(x, n, out);
}
void launch_directed_arithmetic(const float* x, float* single, const double* y, double* wide, int count) {
  directed_arithmetic<<<1, count>>>(x, single, y, wide);
}

}  // namespace tf::api_test
