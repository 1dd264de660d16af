// SPDX-License-Identifier: Apache-2.0
// Linking of HIP 6.4: the hiprtc functions of this library, with HIP's errors.
#include "hipcore/errors/link_errors.h"
#include "hipcore/newer/hip_types.h"
#include "worker/runtime/common/api.h"
#include "worker/runtime/common/rtc/link_functions.h"

using namespace tf::runtime;

namespace {

hipError_t answer(int result) {
  return host_api([result] { return tf::hipdata::link_error(result); });
}

int* ints(hipJitOption* options) { return reinterpret_cast<int*>(options); }

}  // namespace

extern "C" {

TF_EXPORT hipError_t hipLinkCreate(unsigned count, hipJitOption* options, void** values,
                                   hipLinkState_t* state) {
  return answer(hiprtcLinkCreate(count, ints(options), values, reinterpret_cast<void**>(state)));
}

TF_EXPORT hipError_t hipLinkAddData(hipLinkState_t state, hipJitInputType type, void* image, size_t bytes,
                                    const char* name, unsigned count, hipJitOption* options, void** values) {
  return answer(hiprtcLinkAddData(state, type, image, bytes, name, count, ints(options), values));
}

TF_EXPORT hipError_t hipLinkAddFile(hipLinkState_t state, hipJitInputType type, const char* path,
                                    unsigned count, hipJitOption* options, void** values) {
  return answer(hiprtcLinkAddFile(state, type, path, count, ints(options), values));
}

TF_EXPORT hipError_t hipLinkComplete(hipLinkState_t state, void** image, size_t* bytes) {
  return answer(hiprtcLinkComplete(state, image, bytes));
}

TF_EXPORT hipError_t hipLinkDestroy(hipLinkState_t state) { return answer(hiprtcLinkDestroy(state)); }

}  // extern "C"
