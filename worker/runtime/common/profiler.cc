// SPDX-License-Identifier: Apache-2.0
// The profiler's switch, and the names that tools ask for.
#include "hipcore/abi/rules.h"
#include "hipcore/errors/api_names.h"
#include "hipcore/errors/command_names.h"
#include "worker/runtime/common/api.h"

using namespace tf::runtime;

extern "C" {

hipError_t hipProfilerStart() {
  return api([] { return Backend::switch_profiler(true); });
}

hipError_t hipProfilerStop() {
  return api([] { return Backend::switch_profiler(false); });
}

// The numbers are those of HIP 5; the numbers of other releases differ, and no header at hand has them.
const char* hipApiName(uint32_t id) {
  return tf::abi::kRules.major == 5 ? tf::hipdata::api_name(id) : "unknown";
}
TF_EXPORT const char* hipGetCmdName(uint32_t number) { return tf::hipdata::command_name(number); }
TF_EXPORT const char* amd_dbgapi_get_build_name() { return Backend::kName; }
TF_EXPORT const char* amd_dbgapi_get_git_hash() { return ""; }
TF_EXPORT size_t amd_dbgapi_get_build_id() { return 0; }

// The records of a tracer come from the queues of AMD's devices.
TF_EXPORT bool hipEnableActivityCallback(unsigned, bool) {
  return static_cast<void>(remember(hipErrorNotSupported)), false;
}

// No precompiled header: hiprtc compiles from the sources.
TF_EXPORT void __hipGetPCH(const char** header, unsigned* bytes) {
  if (header) *header = nullptr;
  if (bytes) *bytes = 0;
}

}  // extern "C"
