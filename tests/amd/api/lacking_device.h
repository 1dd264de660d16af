// SPDX-License-Identifier: Apache-2.0
// What kernels of the API suite call, and Debian's headers and device libraries of ROCm 5.2.3 lack. Included before
// each source of kernels.
#pragma once

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>

extern "C" __device__ inline _Float16 __llvm_amdgcn_rcp_f16(_Float16 x) { return __builtin_amdgcn_rcph(x); }

// <cstdlib> comes first and knows the host's only.
namespace std {
using ::free;
}
