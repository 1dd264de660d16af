// SPDX-License-Identifier: Apache-2.0
// The kernels that hip_bench launches.
#include <hip/hip_runtime.h>

// Runs for so many ticks of a clock of 100 MHz.
extern "C" __global__ void busy_kernel(long long ticks) {
  const long long start = wall_clock64();
  while (wall_clock64() - start < ticks) {
  }
}

extern "C" __global__ void empty_kernel(float* target, const float* source, float scale, int count) {
  (void)target;
  (void)source;
  (void)scale;
  (void)count;
}
