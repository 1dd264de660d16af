// SPDX-License-Identifier: Apache-2.0
// Kernels and variables compiled into the test program, launched with <<<>>>.
#include <assert.h>
#include <hip/hip_runtime.h>

#include "kernels.h"

__constant__ float factor;
__device__ int counter = 7;
__device__ int table[16];
__device__ unsigned char block[tf::api_test::kBlockBytes];
inline __constant__ int only_hosts = 11;  // no kernel uses it
static __constant__ const int only_kernels[2] = {1, 2};

__global__ void fill(int* out, int value, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = value + i;
}

__global__ void scale(float* data, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] *= factor;
}

__global__ void read_table(int* out) { out[threadIdx.x] = table[threadIdx.x]; }

// Not to be shortened by the compiler: every step needs the one before.
__global__ void slow_store(int* out, int value, int steps) {
  unsigned state = 1;
  for (int i = 0; i < steps; ++i) state = state * 1664525u + 1013904223u;
  out[0] = state == 0 ? 0 : value;
}

__global__ void add_to_counter(int value) { counter += value; }

__global__ void take_struct(tf::api_test::Mixed mixed, long long* out) {
  out[0] = mixed.a;
  out[1] = mixed.b;
  out[2] = static_cast<long long>(mixed.c * 2);
  out[3] = mixed.values[9];
}

template <typename T>
__global__ void square(T* data, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] *= data[i];
}

__global__ void __launch_bounds__(64) bounded(int* out) { out[threadIdx.x] = only_kernels[threadIdx.x / 64]; }

__global__ void with_shared(int* data) {
  __shared__ int parts[256];
  parts[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = parts[255 - threadIdx.x];
}

__global__ void trap(int* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x == 3) __builtin_trap();
}

__global__ void assert_that(int* out) {
  out[threadIdx.x] = 1;
  assert(threadIdx.x != 3);
}

__global__ void wild_write(int* nowhere) { nowhere[threadIdx.x] = 1; }

namespace tf::api_test {

void launch_trap(int* out, hipStream_t stream) { trap<<<1, 64, 0, stream>>>(out); }
void launch_assert(int* out, hipStream_t stream) { assert_that<<<1, 64, 0, stream>>>(out); }
void launch_wild_write(hipStream_t stream) { wild_write<<<1, 64, 0, stream>>>(reinterpret_cast<int*>(64)); }

void launch_fill(int* out, int value, int n, hipStream_t stream) {
  fill<<<(n + 127) / 128, 128, 0, stream>>>(out, value, n);
}
void launch_scale(float* data, int n, hipStream_t stream) {
  scale<<<(n + 127) / 128, 128, 0, stream>>>(data, n);
}
void launch_read_table(int* out, hipStream_t stream) { read_table<<<1, 16, 0, stream>>>(out); }
void launch_add_to_counter(int value, hipStream_t stream) { add_to_counter<<<1, 1, 0, stream>>>(value); }
void launch_take_struct(const Mixed& mixed, long long* out) { take_struct<<<1, 1>>>(mixed, out); }
void launch_square(double* data, int n) { square<double><<<(n + 127) / 128, 128>>>(data, n); }

const void* fill_kernel() { return reinterpret_cast<const void*>(&fill); }
const void* bounded_kernel() { return reinterpret_cast<const void*>(&bounded); }
const void* shared_kernel() { return reinterpret_cast<const void*>(&with_shared); }
const void* factor_symbol() { return &factor; }
const void* counter_symbol() { return &counter; }
const void* table_symbol() { return &table; }
const void* block_symbol() { return &block; }
const void* inline_symbol() { return &only_hosts; }
void launch_slow_store(int* out, int value, hipStream_t stream) {
  slow_store<<<1, 1, 0, stream>>>(out, value, 2'000'000);
}

}  // namespace tf::api_test
