// SPDX-License-Identifier: Apache-2.0
// y = a*x + y with <<<>>>, a __constant__ factor and a __device__ counter.
#include "check.h"

#include <hip/hip_runtime.h>

#include <vector>

__constant__ float factor;
__device__ unsigned finished;

__global__ void saxpy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = factor * x[i] + y[i];
  atomicAdd(&finished, 1u);
}

int main() {
  const int n = 1 << 20;
  const float a = 2.5f;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 1000);
    y[i] = 1.0f;
  }
  float *on_x = nullptr, *on_y = nullptr;
  CHECK(hipMalloc(&on_x, n * sizeof(float)));
  CHECK(hipMalloc(&on_y, n * sizeof(float)));
  CHECK(hipMemcpy(on_x, x.data(), n * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemcpy(on_y, y.data(), n * sizeof(float), hipMemcpyHostToDevice));
  CHECK(hipMemcpyToSymbol(HIP_SYMBOL(factor), &a, sizeof a));

  saxpy<<<(n + 255) / 256, 256>>>(on_x, on_y, n);
  CHECK(hipGetLastError());

  unsigned count = 0;
  CHECK(hipMemcpyFromSymbol(&count, HIP_SYMBOL(finished), sizeof count));
  CHECK(hipMemcpy(y.data(), on_y, n * sizeof(float), hipMemcpyDeviceToHost));
  long wrong = count == static_cast<unsigned>(n) ? 0 : 1;
  for (int i = 0; i < n; ++i) wrong += y[i] != a * x[i] + 1.0f;
  std::printf("saxpy over %d elements, counted by the kernel: %u\n", n, count);
  CHECK(hipFree(on_x));
  CHECK(hipFree(on_y));
  return verdict(wrong, n);
}
