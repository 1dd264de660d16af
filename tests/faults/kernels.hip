// SPDX-License-Identifier: Apache-2.0
// Kernels that run for as long as they are told.
#include <hip/hip_runtime.h>

// One step is a dependent read and write of memory.
extern "C" __global__ void spin(unsigned long long* target, unsigned long long steps) {
  volatile unsigned long long* value = target;
  for (unsigned long long step = 0; step < steps; ++step) *value = *value + 1;
}

// Ticks of a clock of 100 MHz.
extern "C" __global__ void run_for(long long ticks) {
  const long long start = wall_clock64();
  while (wall_clock64() - start < ticks) {
  }
}
