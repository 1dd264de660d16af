// SPDX-License-Identifier: Apache-2.0
// Memory and events shared between processes. The driver's handles are as large as HIP's and are passed
// unchanged, except for handles of pointers inside an allocation.
#include <cstring>
#include <unordered_map>

#include "transport/base/mutex.h"
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/copy.h"
#include "worker/runtime/cuda/events.h"
#include "worker/runtime/cuda/ipc_inside.h"

namespace tf::cuda {
namespace {

static_assert(sizeof(hipIpcMemHandle_t) == sizeof(driver::IpcMemoryHandle));
static_assert(sizeof(hipIpcEventHandle_t) == sizeof(driver::IpcEventHandle));

// Pointers inside opened memory, and where that memory begins.
struct Opened {
  struct Pointer {
    void* base = nullptr;
    std::size_t count = 0;
  };
  Mutex mutex;
  std::unordered_map<void*, Pointer> pointers TF_GUARDED_BY(mutex);
};

Opened& opened() {
  static Opened* const all = new Opened;  // for ever, as the Runtime
  return *all;
}

}  // namespace

hipError_t Backend::share_memory(void* pointer, hipIpcMemHandle_t& handle) {
  void* base = nullptr;
  std::size_t bytes = 0;
  if (cu().MemGetAddressRange(&base, &bytes, pointer) != driver::Result::SUCCESS) base = pointer;
  driver::IpcMemoryHandle ours{};
  const hipError_t status = check(cu().IpcGetMemHandle(&ours, base));
  if (status != hipSuccess) return status == hipErrorInvalidValue ? hipErrorInvalidDevicePointer : status;
  note_sharing();
  const std::ptrdiff_t offset = static_cast<std::byte*>(pointer) - static_cast<std::byte*>(base);
  if (base && offset > 0) return make_inside_handle(ours, static_cast<std::uint64_t>(offset), handle);
  std::memcpy(&handle, &ours, sizeof ours);
  return hipSuccess;
}

hipError_t Backend::open_memory(const hipIpcMemHandle_t& handle, void*& pointer) {
  driver::IpcMemoryHandle theirs;
  std::uint64_t offset = 0;
  std::memcpy(&theirs, &handle, sizeof theirs);
  if (is_inside_handle(handle))
    if (const hipError_t status = read_inside_handle(handle, theirs, offset)) return status;
  void* base = nullptr;
  const hipError_t status = check(cu().IpcOpenMemHandle(&base, theirs, driver::kIpcLazyPeerAccess));
  // The driver says no more than that about memory that is gone.
  if (status != hipSuccess) return status == hipErrorInvalidValue ? hipErrorInvalidDevicePointer : status;
  note_sharing();
  pointer = static_cast<std::byte*>(base) + offset;
  if (offset == 0) return hipSuccess;
  const MutexLock lock(opened().mutex);
  Opened::Pointer& entry = opened().pointers[pointer];
  entry.base = base;
  ++entry.count;
  return hipSuccess;
}

hipError_t Backend::close_memory(void* pointer) {
  {
    const MutexLock lock(opened().mutex);
    const auto inside = opened().pointers.find(pointer);
    if (inside != opened().pointers.end()) {
      pointer = inside->second.base;
      if (--inside->second.count == 0) opened().pointers.erase(inside);
    }
  }
  return check(cu().IpcCloseMemHandle(pointer));
}

hipError_t Backend::share_event(hipEvent_t event, hipIpcEventHandle_t& handle) {
  if (!is_event(event)) return hipErrorInvalidHandle;
  driver::IpcEventHandle ours{};
  const hipError_t status = check(cu().IpcGetEventHandle(&ours, event));
  if (status == hipSuccess) std::memcpy(&handle, &ours, sizeof ours);
  // It is an event, but was not created to be shared.
  return status == hipErrorInvalidHandle ? hipErrorInvalidConfiguration : status;
}

hipError_t Backend::open_event(const hipIpcEventHandle_t& handle, hipEvent_t& event) {
  driver::IpcEventHandle theirs;
  std::memcpy(&theirs, &handle, sizeof theirs);
  const hipError_t status = check(cu().IpcOpenEventHandle(&event, theirs));
  if (status == hipSuccess) add_event(event);
  return status == hipErrorMapFailed || status == hipErrorInvalidHandle ? hipErrorInvalidValue : status;
}

}  // namespace tf::cuda
