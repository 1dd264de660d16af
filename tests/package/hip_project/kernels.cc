// SPDX-License-Identifier: Apache-2.0
#include "kernels.h"

#include <hip/hip_runtime.h>

namespace {
__global__ void add(int* numbers, int n, int factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) numbers[i] += factor * i;
}
}  // namespace

void add_indices(int* numbers, int n, int factor) { add<<<(n + 63) / 64, 64>>>(numbers, n, factor); }
