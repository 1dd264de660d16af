// SPDX-License-Identifier: Apache-2.0
// A kernel that runs for as long as it is told: one step is a dependent read and write of memory.
#include <hip/hip_runtime.h>

extern "C" __global__ void spin(unsigned long long* target, unsigned long long steps) {
  volatile unsigned long long* value = target;
  for (unsigned long long step = 0; step < steps; ++step) *value = *value + 1;
}
