// SPDX-License-Identifier: Apache-2.0
// Sums in shared memory with __syncthreads: once over a static array, once over dynamic shared memory.
#include "check.h"

#include <hip/hip_runtime.h>

#include <vector>

constexpr int kThreads = 256;

template <typename T>
__device__ void reduce(T* parts, T value, T* out) {
  parts[threadIdx.x] = value;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}

__global__ void sum_static(const int* in, int* out) {
  __shared__ int parts[kThreads];
  reduce(parts, in[blockIdx.x * blockDim.x + threadIdx.x], out);
}

__global__ void sum_dynamic(const int* in, long long* out) {
  extern __shared__ long long wide_parts[];
  reduce(wide_parts, static_cast<long long>(in[blockIdx.x * blockDim.x + threadIdx.x]) << 20, out);
}

int main() {
  const int blocks = 512, n = blocks * kThreads;
  std::vector<int> in(n), sums(blocks);
  std::vector<long long> wide(blocks);
  for (int i = 0; i < n; ++i) in[i] = i % 977 - 400;
  int *on_in = nullptr, *on_sums = nullptr;
  long long* on_wide = nullptr;
  CHECK(hipMalloc(&on_in, n * sizeof(int)));
  CHECK(hipMalloc(&on_sums, blocks * sizeof(int)));
  CHECK(hipMalloc(&on_wide, blocks * sizeof(long long)));
  CHECK(hipMemcpy(on_in, in.data(), n * sizeof(int), hipMemcpyHostToDevice));

  sum_static<<<blocks, kThreads>>>(on_in, on_sums);
  sum_dynamic<<<blocks, kThreads, kThreads * sizeof(long long)>>>(on_in, on_wide);
  CHECK(hipDeviceSynchronize());
  CHECK(hipMemcpy(sums.data(), on_sums, blocks * sizeof(int), hipMemcpyDeviceToHost));
  CHECK(hipMemcpy(wide.data(), on_wide, blocks * sizeof(long long), hipMemcpyDeviceToHost));

  long wrong = 0;
  for (int block = 0; block < blocks; ++block) {
    int expected = 0;
    for (int i = 0; i < kThreads; ++i) expected += in[block * kThreads + i];
    wrong += sums[block] != expected;
    wrong += wide[block] != static_cast<long long>(expected) << 20;
  }
  CHECK(hipFree(on_in));
  CHECK(hipFree(on_sums));
  CHECK(hipFree(on_wide));
  return verdict(wrong, 2 * blocks);
}
