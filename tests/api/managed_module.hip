// SPDX-License-Identifier: Apache-2.0
// Managed variables of a code object that a program loads.
#include <hip/hip_runtime.h>

__managed__ int module_values[3] = {10, 20, 30};
__device__ int plain_value = 4;

extern "C" __global__ void add_to_values(int step) { module_values[threadIdx.x] += step * plain_value; }
