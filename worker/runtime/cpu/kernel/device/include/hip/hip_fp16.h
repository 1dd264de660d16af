// SPDX-License-Identifier: Apache-2.0
// The vendor's half precision, and what newer HIP adds where it is older: operators on the host (6), the larger and
// the smaller of two and shuffles (6.1), the atomic addition of pairs (6.3).
#pragma once

#include <hip/hip_runtime.h>
#include <hip/hip_version.h>

#include_next <hip/hip_fp16.h>

#if defined(__HIP__) && HIP_VERSION_MAJOR < 6 && !defined(__HIP_NO_HALF_OPERATORS__)
#include <hip/hipr_half_on_host.h>
#endif

#if defined(__HIP__) && (HIP_VERSION_MAJOR < 6 || (HIP_VERSION_MAJOR == 6 && HIP_VERSION_MINOR < 1))
#include <hip/hipr_half_extremes.h>
#include <hip/hipr_half_shuffles.h>
#endif

#if defined(__HIP__) && (HIP_VERSION_MAJOR < 6 || (HIP_VERSION_MAJOR == 6 && HIP_VERSION_MINOR < 3))
#include <hip/hipr_pair_atomics.h>

// Returns the pair that was there.
__device__ inline __half2 unsafeAtomicAdd(__half2* address, __half2 value) {
  return hipr::add_to_pair(address, value, [](__half2 a, __half2 b) { return __hadd2(a, b); });
}
#endif
