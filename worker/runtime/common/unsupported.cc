// SPDX-License-Identifier: Apache-2.0
// The answer of every exported function that the runtime does not implement. Thread-safe.
#include <cstdio>
#include <cstdlib>

#include "worker/runtime/common/api.h"

namespace tf::runtime {

hipError_t unsupported(const char* name);

// Returns hipErrorNotSupported, and reports the function's name.
hipError_t unsupported(const char* name) {
  static const bool verbose = std::getenv(Backend::kVerboseVariable) != nullptr;
  if (verbose) std::fprintf(stderr, "%s: %s is not supported\n", Backend::kName, name);
  return remember(hipErrorNotSupported);
}

}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipProfilerStart() { return unsupported("hipProfilerStart"); }
hipError_t hipProfilerStop() { return unsupported("hipProfilerStop"); }

// Texts instead of error codes: there is nothing to name.
const char* hipApiName(uint32_t) { return "unknown"; }
TF_EXPORT const char* hipGetCmdName(uint32_t) { return "unknown"; }
TF_EXPORT const char* amd_dbgapi_get_build_name() { return Backend::kName; }
TF_EXPORT const char* amd_dbgapi_get_git_hash() { return ""; }
TF_EXPORT size_t amd_dbgapi_get_build_id() { return 0; }

// No precompiled header: hiprtc compiles from the sources.
TF_EXPORT void __hipGetPCH(const char** header, unsigned* bytes) {
  if (header) *header = nullptr;
  if (bytes) *bytes = 0;
}

}  // extern "C"
