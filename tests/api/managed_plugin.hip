// SPDX-License-Identifier: Apache-2.0
// A library that a program opens and closes, with a managed variable.
#include <hip/hip_runtime.h>

__managed__ int plugin_value = 3;

__global__ void triple() { plugin_value *= 3; }

extern "C" int* plugin_place() { return &plugin_value; }
extern "C" hipError_t plugin_triple() {
  triple<<<1, 1>>>();
  return hipDeviceSynchronize();
}
