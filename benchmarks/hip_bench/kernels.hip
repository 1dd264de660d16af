// SPDX-License-Identifier: Apache-2.0
// The kernels that hip_bench launches.
#include <hip/hip_runtime.h>

extern "C" __global__ void empty_kernel(float* target, const float* source, float scale, int count) {
  (void)target;
  (void)source;
  (void)scale;
  (void)count;
}
