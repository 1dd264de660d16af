// SPDX-License-Identifier: Apache-2.0
// Memory and events shared between processes. The driver's handles are as large as HIP's and travel as they
// are.
#include <cstring>

#include "worker/runtime/cuda/api.h"

namespace tf::cuda {
namespace {

static_assert(sizeof(hipIpcMemHandle_t) == sizeof(driver::IpcMemoryHandle));
static_assert(sizeof(hipIpcEventHandle_t) == sizeof(driver::IpcEventHandle));

hipError_t open_memory(void** pointer, const hipIpcMemHandle_t& handle, unsigned flags) {
  if (!pointer || flags != hipIpcMemLazyEnablePeerAccess) return hipErrorInvalidValue;
  driver::IpcMemoryHandle theirs;
  std::memcpy(&theirs, &handle, sizeof theirs);
  return check(cu().IpcOpenMemHandle(pointer, theirs, driver::kIpcLazyPeerAccess));
}

hipError_t open_event(hipEvent_t* event, const hipIpcEventHandle_t& handle) {
  if (!event) return hipErrorInvalidValue;
  driver::IpcEventHandle theirs;
  std::memcpy(&theirs, &handle, sizeof theirs);
  return check(cu().IpcOpenEventHandle(event, theirs));
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipIpcGetMemHandle(hipIpcMemHandle_t* handle, void* pointer) {
  return api([&] {
    if (!handle || !pointer) return hipErrorInvalidValue;
    driver::IpcMemoryHandle ours{};
    const hipError_t status = check(cu().IpcGetMemHandle(&ours, pointer));
    if (status == hipSuccess) std::memcpy(handle, &ours, sizeof ours);
    return status == hipErrorInvalidValue ? hipErrorInvalidDevicePointer : status;
  });
}

hipError_t hipIpcOpenMemHandle(void** pointer, hipIpcMemHandle_t handle, unsigned flags) {
  return api([&] { return open_memory(pointer, handle, flags); });
}

hipError_t hipIpcCloseMemHandle(void* pointer) {
  return api([&] { return pointer ? check(cu().IpcCloseMemHandle(pointer)) : hipErrorInvalidValue; });
}

hipError_t hipIpcGetEventHandle(hipIpcEventHandle_t* handle, hipEvent_t event) {
  return api([&] {
    if (!handle || !event) return hipErrorInvalidValue;
    driver::IpcEventHandle ours{};
    const hipError_t status = check(cu().IpcGetEventHandle(&ours, event));
    if (status == hipSuccess) std::memcpy(handle, &ours, sizeof ours);
    return status;
  });
}

hipError_t hipIpcOpenEventHandle(hipEvent_t* event, hipIpcEventHandle_t handle) {
  return api([&] { return open_event(event, handle); });
}

}  // extern "C"
