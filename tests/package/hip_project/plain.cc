// SPDX-License-Identifier: Apache-2.0
// Compiled as C++ whatever compiles the kernels.
#ifdef __HIP__
#define COMPILED_AS "HIP"
#else
#define COMPILED_AS "C++"
#endif
#include <hip/hip_runtime_api.h>

const char* compiled_as() { return COMPILED_AS; }

int* device_numbers(int n) {
  int* numbers = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&numbers), n * sizeof(int)) != hipSuccess) return nullptr;
  return hipMemset(numbers, 0, n * sizeof(int)) == hipSuccess ? numbers : nullptr;
}
