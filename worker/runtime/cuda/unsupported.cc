// SPDX-License-Identifier: Apache-2.0
// The answer of every exported function that this runtime does not implement. Thread-safe.
#include <cstdio>
#include <cstdlib>

#include "worker/runtime/cuda/api.h"

namespace tf::cuda {

hipError_t unsupported(const char* name);

// hipErrorNotSupported, and the name for who wants to know which call it was.
hipError_t unsupported(const char* name) {
  static const bool verbose = std::getenv("HIP_CUDA_VERBOSE") != nullptr;
  if (verbose) std::fprintf(stderr, "hip-cuda: %s is not supported\n", name);
  return remember(hipErrorNotSupported);
}

}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipProfilerStart() { return unsupported("hipProfilerStart"); }
hipError_t hipProfilerStop() { return unsupported("hipProfilerStop"); }

// Texts instead of error codes: there is nothing to name.
const char* hipApiName(uint32_t) { return "unknown"; }
TF_CUDA_EXPORT const char* hipGetCmdName(uint32_t) { return "unknown"; }
TF_CUDA_EXPORT const char* amd_dbgapi_get_build_name() { return "hip-cuda"; }
TF_CUDA_EXPORT const char* amd_dbgapi_get_git_hash() { return ""; }
TF_CUDA_EXPORT size_t amd_dbgapi_get_build_id() { return 0; }

// No precompiled header: hiprtc compiles from the sources.
TF_CUDA_EXPORT void __hipGetPCH(const char** header, unsigned* bytes) {
  if (header) *header = nullptr;
  if (bytes) *bytes = 0;
}

}  // extern "C"
