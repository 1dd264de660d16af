// SPDX-License-Identifier: Apache-2.0
// What sources written for newer headers of HIP use. First of all a word of HIP before any header of it, and
// cooperative groups before the runtime.
__host__ __device__ inline unsigned twice(unsigned value) { return 2 * value; }

#include <hip/hip_cooperative_groups.h>
#include <hip/hip_bf16.h>
#include <hip/hip_fp16.h>

namespace cg = cooperative_groups;

// Programs for older headers bring functions that newer ones have.
static __device__ __half2 __shfl_xor(__half2 value, int mask, int width) {
  return __floats2half2_rn(__shfl_xor(__low2float(value), mask, width), 100);
}
static __device__ __half __hmax(const __half, const __half) { return __float2half(7); }
extern "C" __global__ void own_half_functions(float* out) {
  const __half lane = __int2half_rn(static_cast<int>(threadIdx.x));
  const __half2 pair = __shfl_xor(__half2half2(lane), 1, 64);
  float* const own = out + 4 * threadIdx.x;
  own[0] = __low2float(pair);
  own[1] = __high2float(pair);
  own[2] = __half2float(__hmax(lane, lane));
  own[3] = __half2float(__hmin(__shfl(lane, 9), 5.0f));
}

// What newer headers make of unsafeAtomicAdd, -Min and -Max.
extern "C" __global__ void float_atomics(double* d) {
  const double own = threadIdx.x;
  __builtin_amdgcn_global_atomic_fadd_f64(&d[0], 0.5);
  __builtin_amdgcn_flat_atomic_fadd_f64(&d[1], 0.5);
  __builtin_amdgcn_global_atomic_fmax_f64(&d[2], own);
  __builtin_amdgcn_flat_atomic_fmax_f64(&d[3], own);
  __builtin_amdgcn_global_atomic_fmin_f64(&d[4], own);
  __builtin_amdgcn_flat_atomic_fmin_f64(&d[5], own);
}

extern "C" __global__ void bfloat16_round(const float* in, unsigned short* out, float* back) {
  const __hip_bfloat16 value = __float2bfloat16(in[threadIdx.x]);
  out[threadIdx.x] = __bfloat16_as_ushort(value);
  back[threadIdx.x] = value;
}

extern "C" __global__ void bfloat16_math(const __hip_bfloat16* in, float* out) {
  const __hip_bfloat16 a = in[0], b = in[1];
  const __hip_bfloat162 pair = __halves2bfloat162(a, b);
  __hip_bfloat16 sum = a;
  sum += b;
  const float2 products = __bfloat1622float2(pair * __bfloat162bfloat162(b));
  const float values[] = {a + b,
                          __hsub(a, b),
                          a * b,
                          __hdiv(a, b),
                          __hfma(a, b, a),
                          sum,
                          products.x,
                          products.y,
                          -a,
                          __habs(-a),
                          __hmax(a, b),
                          hsqrt(b),
                          __hlt(a, b) ? 1.0f : 0.0f,
                          __hisnan(__float2bfloat16(0.0f) / __float2bfloat16(0.0f)) ? 1.0f : 0.0f};
  for (unsigned i = 0; i < sizeof values / sizeof values[0]; ++i) out[i] = values[i];
}

template <unsigned size>
__device__ unsigned of_any(const cg::thread_block_tile<size>& tile) {
  return 100 * tile.meta_group_size() + tile.meta_group_rank();
}
extern "C" __global__ void meta_groups(unsigned* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const auto part = cg::tiled_partition<4>(tile);
  const unsigned t = block.thread_rank(), n = block.size();
  out[t] = 100 * tile.meta_group_size() + tile.meta_group_rank();
  out[n + t] = 100 * part.meta_group_size() + part.meta_group_rank();
  out[2 * n + t] = of_any<16>(tile);
  out[3 * n + t] = tile.shfl(twice(t), 3) + tile.thread_rank() + cg::tiled_partition(block, 8).size();
}

// Pairs of halves and of bfloat16: every thread adds (0.5, 1).
extern "C" __global__ void pair_atomics(__half2* halves, __hip_bfloat162* bfloats) {
  unsafeAtomicAdd(halves, __floats2half2_rn(0.5f, 1.0f));
  unsafeAtomicAdd(bfloats, __floats2bfloat162_rn(0.5f, 1.0f));
}

// One wave: what the functions with masks give each lane. Lanes whose bit is clear do not take part.
extern "C" __global__ void wave_votes(unsigned long long mask, unsigned long long* out) {
  const unsigned lane = threadIdx.x;
  if ((mask >> lane & 1) == 0) return;
  int all_same = -1;
  const unsigned long long values[] = {
      __activemask(),
      __ballot_sync(mask, lane % 2),
      static_cast<unsigned long long>(__any_sync(mask, lane == 5)),
      static_cast<unsigned long long>(__all_sync(mask, lane < 40)),
      __match_any_sync(mask, static_cast<int>(lane % 3)),
      __match_all_sync(mask, 7, &all_same),
      static_cast<unsigned long long>(all_same),
      __match_all_sync(mask, lane < 2 ? 1 : 0, &all_same),
      static_cast<unsigned long long>(all_same)};
  constexpr unsigned kValues = sizeof values / sizeof values[0];
  for (unsigned i = 0; i < kValues; ++i) out[lane * kValues + i] = values[i];
}

extern "C" __global__ void wave_exchanges(unsigned long long mask, int* out) {
  __shared__ int shared[64];
  const int lane = static_cast<int>(threadIdx.x);
  if ((mask >> lane & 1) == 0) return;
  shared[lane] = 100 + lane;
  __syncwarp(mask);
  const int values[] = {__shfl_sync(mask, lane, 3),
                        __shfl_up_sync(mask, lane, 2u),
                        __shfl_down_sync(mask, lane, 2u),
                        __shfl_xor_sync(mask, lane, 1),
                        __shfl_sync(mask, lane, 1, 8),
                        __reduce_add_sync(mask, lane),
                        __reduce_min_sync(mask, 50 - lane),
                        __reduce_max_sync(mask, lane),
                        __reduce_and_sync(mask, lane | 64),
                        __reduce_or_sync(mask, lane),
                        __reduce_xor_sync(mask, lane),
                        shared[lane ^ 1]};
  constexpr int kValues = sizeof values / sizeof values[0];
  for (int i = 0; i < kValues; ++i) out[lane * kValues + i] = values[i];
}
