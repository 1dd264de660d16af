// SPDX-License-Identifier: Apache-2.0
// The code object of the API tests: loaded with hipModuleLoad and hipModuleLoadData.
#include <hip/hip_runtime.h>

#include "kernels.h"

__device__ int module_counter = 41;
__device__ int module_table[16];

extern "C" __global__ void fill(int* out, int value, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = value + i;
}

extern "C" __global__ void increment(int* data, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] += 1;
}

// Follows pointers that lie in memory, one for each block.
extern "C" __global__ void increment_each(int* const* lists, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) ++lists[blockIdx.x][i];
}

extern "C" __global__ void take_struct(tf::api_test::Mixed mixed, char small, long long* out) {
  if (threadIdx.x != 0) return;
  out[0] = mixed.a;
  out[1] = mixed.b;
  out[2] = static_cast<long long>(mixed.c * 2);
  out[3] = mixed.values[9];
  out[4] = small;
}

extern "C" __global__ void reverse_shared(int* data) {
  extern __shared__ int parts[];
  parts[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = parts[blockDim.x - 1 - threadIdx.x];
}

extern "C" __global__ void add_to_counter(int value) {
  if (blockIdx.x == 0 && threadIdx.x == 0) module_counter += value;
}

extern "C" __global__ void nothing() {}

extern "C" __global__ void __launch_bounds__(64) at_most_64(int* out) { out[threadIdx.x] = 1; }

extern "C" __global__ void shape(unsigned* out) {
  const unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
  const unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  out[block * threads + thread] = block * 1000 + thread;
}

// Of each block, how many threads it has.
extern "C" __global__ void count_threads(int* out) { atomicAdd(&out[blockIdx.x], 1); }

// Busy for a while: the loop has to be executed, `rounds` is not known to the compiler.
extern "C" __global__ void slow(int* out, int value, int rounds) {
  if (blockIdx.x != 0 || threadIdx.x != 0) return;
  volatile int spin = 0;
  for (int i = 0; i < rounds; ++i) spin = spin + 1;
  out[0] = value;
}
