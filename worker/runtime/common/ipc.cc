// SPDX-License-Identifier: Apache-2.0
// Memory and events shared between processes.
#include <algorithm>

#include "hipcore/abi/rules.h"
#include "worker/runtime/common/api.h"

namespace tf::runtime {
namespace {

template <typename Handle>
bool is_empty(const Handle& handle) {
  const char* const bytes = reinterpret_cast<const char*>(&handle);
  return std::all_of(bytes, bytes + sizeof handle, [](char byte) { return byte == 0; });
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* pointer) {
  return api(
      [&] { return handle && pointer ? Backend::share_memory(pointer, *handle) : hipErrorInvalidValue; });
}

hipError_t hipIpcOpenMemHandle(void** pointer, hipIpcMemHandle_t handle, unsigned flags) {
  return api([&] {
    if (!pointer || !tf::abi::kRules.takes_ipc_flags(flags) || is_empty(handle)) return hipErrorInvalidValue;
    return Backend::open_memory(handle, *pointer);
  });
}

hipError_t hipIpcCloseMemHandle(void* pointer) {
  return api([&] { return pointer ? Backend::close_memory(pointer) : hipErrorInvalidValue; });
}

hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event) {
  return api([&] { return handle && event ? Backend::share_event(event, *handle) : hipErrorInvalidValue; });
}

hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  return api([&] {
    return event && !is_empty(handle) ? Backend::open_event(handle, *event) : hipErrorInvalidValue;
  });
}

}  // extern "C"
