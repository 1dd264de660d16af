// SPDX-License-Identifier: Apache-2.0
// What kernels call: warp operations, atomics, math, half precision, printf. Written for any width of a wave.
#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include <stdio.h>

#include "kernels.h"

// out: one row of values a thread, as device_functions_test.cc expects them.
__global__ void warp_functions(int* out, unsigned long long* votes) {
  const int i = static_cast<int>(threadIdx.x), lane = i % warpSize;
  out[i] = __shfl(i, 5);
  out[blockDim.x + i] = __shfl_xor(i, 1);
  out[2 * blockDim.x + i] = __shfl_down(i, 2, 8);
  int sum = i;
  for (int step = warpSize / 2; step > 0; step /= 2) sum += __shfl_xor(sum, step);
  out[3 * blockDim.x + i] = sum;
  out[4 * blockDim.x + i] = __any(lane == 3) + 2 * __all(lane < warpSize) + 4 * __any(lane == warpSize) +
                            8 * __syncthreads_or(i == 9) + 16 * (__syncthreads_count(i < 10) == 10) +
                            32 * (__popcll(__ballot(lane < 6)) == 6);
  votes[i] = __ballot(lane % 3 == 0);
  // Lanes that part and meet again exchange among those that are there.
  int value = 0;
  if (lane % 2 == 0) {
    value = __shfl_xor(i, 2);
  } else {
    value = 1000 + __shfl_xor(i, 4);
  }
  out[5 * blockDim.x + i] = value;
}

__global__ void atomic_functions(int* i, unsigned* u, unsigned long long* wide, float* f, double* d) {
  const unsigned all = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(&i[0], 1);
  atomicSub(&i[1], 2);
  atomicMin(&i[2], -static_cast<int>(all));
  atomicMax(&i[3], static_cast<int>(all));
  atomicXor(&i[4], static_cast<int>(all));
  atomicAdd_system(&i[5], 3);
  __hip_atomic_fetch_add(&i[6], 1, __ATOMIC_SEQ_CST, __HIP_MEMORY_SCOPE_SYSTEM);
  atomicInc(&u[0], 6);
  atomicOr(&u[1], 1u << (all % 32));
  atomicAnd(&u[2], ~(1u << (all % 8)));
  atomicAdd(&wide[0], 1ull << 33);
  unsigned long long seen = wide[1], expected = 0;
  do {
    expected = seen;
    seen = atomicCAS(&wide[1], expected, expected + 5);
  } while (seen != expected);
  atomicAdd(f, 0.5f);
  atomicAdd(d, 0.25);
}

__global__ void math_functions(const float* x, float* single, const double* y, double* wide) {
  const float a = x[threadIdx.x];
  const double b = y[threadIdx.x];
  const unsigned n = blockDim.x;
  float* f = single + threadIdx.x;
  f[0 * n] = sinf(a);
  f[1 * n] = expf(a);
  f[2 * n] = logf(a);
  f[3 * n] = powf(a, 1.5f);
  f[4 * n] = tanhf(a);
  f[5 * n] = sqrtf(a);
  f[6 * n] = floorf(a) + fminf(a, 2.0f) + fabsf(-a);
  f[7 * n] = __half2float(__hadd(__float2half(a), __float2half(0.5f)));
  double* d = wide + threadIdx.x;
  d[0 * n] = sin(b);
  d[1 * n] = exp(b);
  d[2 * n] = log(b);
  d[3 * n] = pow(b, 1.5);
  d[4 * n] = atan2(b, 2.0);
  d[5 * n] = cbrt(b);
  d[6 * n] = erf(b);
  d[7 * n] = fmod(b, 0.75) + rint(b) + fma(b, b, 1.0);
}

// Functions in which roundings add up, or that have edges. Two numbers each: the argument, and room for the answer.
__global__ void delicate_functions(double* d) {
  int bits = 77;
  d[1] = cbrt(d[0]);
  d[3] = rcbrt(d[2]);
  d[5] = norm4d(d[4], 1.0, 2.0, 3.0);
  d[7] = rnorm4d(d[6], 1.0, 2.0, 3.0);
  d[9] = erfinv(d[8]);
  d[11] = erfcinv(d[10]);
  d[13] = erfcx(d[12]);
  d[15] = normcdf(d[14]);
  d[17] = normcdfinv(d[16]);
  d[19] = cyl_bessel_i0(d[18]);
  d[21] = scalbln(d[20], 2147483647l);
  d[25] = sinpi(d[24]);
  d[27] = lgamma(d[26]);
  d[23] = isnan(remquo(d[22], 2.0, &bits)) ? bits : 78;
}

// Short vectors and half precision go to AMD's device libraries in ways of their own.
__global__ void dot_products(int* i, unsigned* u, float* f) {
  const short2 s = make_short2(-32768, -32768);
  const ushort2 t = make_ushort2(65535, 65535);
  const char4 c = make_char4(-128, -128, 127, 1), d = make_char4(127, 1, 2, 3);
  const uchar4 b = make_uchar4(255, 255, 255, 255);
  const int nibbles = static_cast<int>(0x87654321u), others = 0x12345678;
  const __half2 h = __floats2half2_rn(1.5f, 2.5f);
  i[0] = amd_mixed_dot(s, s, 5, true);
  i[1] = amd_mixed_dot(s, s, 5, false);
  i[2] = amd_mixed_dot(c, d, 5, true);
  i[3] = amd_mixed_dot(nibbles, others, 5, true);
  u[0] = amd_mixed_dot(t, t, 5u, true);
  u[1] = amd_mixed_dot(t, t, 5u, false);
  u[2] = amd_mixed_dot(b, b, 5u, false);
  u[3] = amd_mixed_dot(0x87654321u, 0x12345678u, 5u, true);
  f[0] = amd_mixed_dot(h, h, 1.0f, false);
  f[1] = amd_mixed_dot(h, h, 1.0f, true);
  f[2] = __half2float(hrcp(__float2half(4.0f)));
}

__global__ void sign_fields(const long long* x, long long* out) {
  const long long number = x[threadIdx.x];
  out[threadIdx.x] = number < 0 ? 7 : 0;
  out[blockDim.x + threadIdx.x] = (number >> 60) & 0xff;
}

// To integers: three rows of `n`.
__global__ void integers_of(const double* x, long long* out) {
  const unsigned i = threadIdx.x, n = blockDim.x;
  out[i] = static_cast<int>(x[i]);
  out[n + i] = static_cast<unsigned>(static_cast<float>(x[i]));
  out[2 * n + i] = __half2short_rz(__float2half(static_cast<float>(x[i])));
}

__global__ void print_values(int x) {
  if (threadIdx.x < 2)
    printf("device says %d %s %5.2f %c %ld\n", x + int(threadIdx.x), "text", 1.5, 'z', -7L);
}

namespace tf::api_test {

void launch_warp_functions(int* out, unsigned long long* votes, int threads) {
  warp_functions<<<1, threads>>>(out, votes);
}
void launch_atomic_functions(int* i, unsigned* u, unsigned long long* wide, float* f, double* d, int blocks,
                             int threads) {
  atomic_functions<<<blocks, threads>>>(i, u, wide, f, d);
}
void launch_math_functions(const float* x, float* single, const double* y, double* wide, int threads) {
  math_functions<<<1, threads>>>(x, single, y, wide);
}
void launch_delicate_functions(double* d) { delicate_functions<<<1, 1>>>(d); }
void launch_dot_products(int* i, unsigned* u, float* f) { dot_products<<<1, 1>>>(i, u, f); }
void launch_integers_of(const double* x, long long* out, int count) { integers_of<<<1, count>>>(x, out); }
void launch_sign_fields(const long long* x, long long* out, int count) { sign_fields<<<1, count>>>(x, out); }
void launch_print_values(int x) { print_values<<<1, 32>>>(x); }

}  // namespace tf::api_test
