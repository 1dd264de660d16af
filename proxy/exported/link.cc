// SPDX-License-Identifier: Apache-2.0
// Linking of HIP 6.4: libhiprtc's functions, with HIP's errors.
#include <hip/hiprtc.h>

#include "hipcore/errors/link_errors.h"
#include "proxy/base/thread_state.h"
#include "proxy/exported/rtc.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

// Calls libhiprtc's function of that name, of this type; enums are ints.
template <typename... Parameters>
hipError_t call_rtc(const char* name, Parameters... arguments) {
  auto* const function = reinterpret_cast<int (*)(Parameters...)>(rtc_function(name));
  return note_error(function != nullptr ? hipdata::link_error(function(arguments...)) : hipErrorNotSupported);
}

int* ints(hipJitOption* options) { return reinterpret_cast<int*>(options); }

void* state_of(hipLinkState_t state) { return state; }

}  // namespace

hipError_t hipLinkCreate(unsigned int count, hipJitOption* options, void** values, hipLinkState_t* state) {
  return call_rtc("hiprtcLinkCreate", count, ints(options), values, reinterpret_cast<void**>(state));
}

hipError_t hipLinkAddData(hipLinkState_t state, hipJitInputType type, void* image, size_t bytes,
                          const char* name, unsigned int count, hipJitOption* options, void** values) {
  return call_rtc("hiprtcLinkAddData", state_of(state), static_cast<int>(type), image, bytes, name, count,
                  ints(options), values);
}

hipError_t hipLinkAddFile(hipLinkState_t state, hipJitInputType type, const char* path, unsigned int count,
                          hipJitOption* options, void** values) {
  return call_rtc("hiprtcLinkAddFile", state_of(state), static_cast<int>(type), path, count, ints(options),
                  values);
}

hipError_t hipLinkComplete(hipLinkState_t state, void** image, size_t* bytes) {
  return call_rtc("hiprtcLinkComplete", state_of(state), image, bytes);
}

hipError_t hipLinkDestroy(hipLinkState_t state) { return call_rtc("hiprtcLinkDestroy", state_of(state)); }

}  // namespace tf::proxy::local
