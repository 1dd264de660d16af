// SPDX-License-Identifier: Apache-2.0
// Compiled as C++ whatever compiles the kernels.
#ifdef __HIP__
#define COMPILED_AS "HIP"
#else
#define COMPILED_AS "C++"
#endif
#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

const char* compiled_as() { return COMPILED_AS; }

int* device_numbers(int n) {
  int major = 0, minor = 0;
  if (hiprtcVersion(&major, &minor) != HIPRTC_SUCCESS || major < 5) return nullptr;
  int* numbers = nullptr;
  if (hipMalloc(reinterpret_cast<void**>(&numbers), n * sizeof(int)) != hipSuccess) return nullptr;
  return hipMemset(numbers, 0, n * sizeof(int)) == hipSuccess ? numbers : nullptr;
}
