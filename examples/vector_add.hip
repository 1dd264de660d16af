// SPDX-License-Identifier: Apache-2.0
// The kernel of hello_hip, compiled on its own and loaded as a module.
#include <hip/hip_runtime.h>

extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
