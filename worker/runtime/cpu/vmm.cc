// SPDX-License-Identifier: Apache-2.0
// The exported functions of virtual memory management: arguments are checked here, the work is
// VirtualMemory's.
#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/memory_file.h"
#include "worker/runtime/cpu/runtime.h"
#include "worker/runtime/cpu/virtual_memory.h"

namespace tf::cpu {
namespace {

VirtualMemory& virtual_memory() { return Runtime::get().virtual_memory(); }

hipError_t granularity_of(std::size_t* granularity, const hipMemAllocationProp* prop,
                          hipMemAllocationGranularity_flags option) {
  if (!granularity || !prop || prop->type != hipMemAllocationTypePinned) return hipErrorInvalidValue;
  if (prop->location.type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
  if (!Runtime::get().valid_device(prop->location.id)) return hipErrorInvalidValue;
  if (option != hipMemAllocationGranularityMinimum && option != hipMemAllocationGranularityRecommended)
    return hipErrorInvalidValue;
  *granularity = kHugePage_bytes;
  return hipSuccess;
}

hipError_t set_access(void* pointer, std::size_t bytes, const hipMemAccessDesc* descriptors,
                      std::size_t count) {
  if (!pointer || !descriptors || count == 0 || count > kMaxDevices) return hipErrorInvalidValue;
  for (std::size_t i = 0; i < count; ++i) {
    const hipMemAccessDesc& wish = descriptors[i];
    if (wish.location.type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
    if (!Runtime::get().valid_device(wish.location.id)) return hipErrorInvalidValue;
    if (wish.flags != hipMemAccessFlagsProtNone && wish.flags != hipMemAccessFlagsProtRead &&
        wish.flags != hipMemAccessFlagsProtReadWrite)
      return hipErrorInvalidValue;
  }
  return virtual_memory().set_access(pointer, bytes, {descriptors, count});
}

hipError_t export_handle(void* target, hipMemGenericAllocationHandle_t handle,
                         hipMemAllocationHandleType type) {
  if (!target || type != hipMemHandleTypePosixFileDescriptor) return hipErrorInvalidValue;
  const auto physical = virtual_memory().find(handle);
  if (!physical) return hipErrorInvalidValue;
  const int copy = ::fcntl(physical->descriptor(), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return hipErrorOutOfMemory;
  std::memcpy(target, &copy, sizeof copy);
  return hipSuccess;
}

// `os_handle` is the descriptor itself in a pointer's clothes, as CUDA defines it, or points to it, as AMD's
// runtimes up to 7.0 read it. Nothing is mapped at addresses as low as descriptors are.
int descriptor_in(void* os_handle) {
  constexpr std::uintptr_t kDescriptorMax = 1 << 16;
  const auto value = reinterpret_cast<std::uintptr_t>(os_handle);
  if (value < kDescriptorMax) return static_cast<int>(value);
  int descriptor = -1;
  std::memcpy(&descriptor, os_handle, sizeof descriptor);
  return descriptor;
}

// Imported memory is booked where it was made.
hipError_t import_handle(hipMemGenericAllocationHandle_t* handle, void* os_handle,
                         hipMemAllocationHandleType type) {
  if (!handle || type != hipMemHandleTypePosixFileDescriptor) return hipErrorInvalidValue;
  const int copy = ::fcntl(descriptor_in(os_handle), F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return hipErrorInvalidValue;
  const std::size_t bytes = memory_file_bytes(copy);
  if (bytes == 0 || bytes % kHugePage_bytes != 0) {
    ::close(copy);
    return hipErrorInvalidValue;
  }
  hipMemAllocationProp properties;
  std::memset(&properties, 0, sizeof properties);
  properties.type = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, thread_state().device};
  properties.requestedHandleType = type;
  return virtual_memory().adopt(handle, std::make_shared<Physical>(thread_state().device, copy, bytes,
                                                                   properties, Physical::Booked::kNo));
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipMemAddressReserve(void** pointer, size_t bytes, size_t alignment, void* wish,
                                unsigned long long flags) {
  return api([&] {
    return flags == 0 ? virtual_memory().reserve(pointer, bytes, alignment, wish) : hipErrorInvalidValue;
  });
}

hipError_t hipMemAddressFree(void* pointer, size_t bytes) {
  return api([&] { return virtual_memory().unreserve(pointer, bytes); });
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* handle, size_t bytes,
                        const hipMemAllocationProp* prop, unsigned long long flags) {
  return api([&] {
    if (!handle || !prop || flags != 0) return hipErrorInvalidValue;
    return virtual_memory().create(handle, bytes, *prop);
  });
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  return api([&] { return virtual_memory().release(handle); });
}

hipError_t hipMemMap(void* pointer, size_t bytes, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags) {
  return api([&] {
    return pointer && flags == 0 ? virtual_memory().map(pointer, bytes, offset, handle)
                                 : hipErrorInvalidValue;
  });
}

hipError_t hipMemUnmap(void* pointer, size_t bytes) {
  return api([&] {
    static_cast<void>(Runtime::get().synchronize());  // what has failed uses it no more
    return virtual_memory().unmap(pointer, bytes);
  });
}

hipError_t hipMemSetAccess(void* pointer, size_t bytes, const hipMemAccessDesc* descriptors, size_t count) {
  return api([&] { return set_access(pointer, bytes, descriptors, count); });
}

hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* location, void* pointer) {
  return api([&] {
    if (!flags || !location || location->type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
    if (!Runtime::get().valid_device(location->id)) return hipErrorInvalidValue;
    return virtual_memory().get_access(flags, location->id, pointer);
  });
}

hipError_t hipMemGetAllocationGranularity(size_t* granularity, const hipMemAllocationProp* prop,
                                          hipMemAllocationGranularity_flags option) {
  return api([&] { return granularity_of(granularity, prop, option); });
}

hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* prop,
                                                   hipMemGenericAllocationHandle_t handle) {
  return api([&] {
    const auto physical = virtual_memory().find(handle);
    if (!prop || !physical) return hipErrorInvalidValue;
    *prop = physical->properties();
    return hipSuccess;
  });
}

hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* handle, void* address) {
  return api(
      [&] { return handle && address ? virtual_memory().retain(handle, address) : hipErrorInvalidValue; });
}

hipError_t hipMemExportToShareableHandle(void* target, hipMemGenericAllocationHandle_t handle,
                                         hipMemAllocationHandleType type, unsigned long long flags) {
  return api([&] { return flags == 0 ? export_handle(target, handle, type) : hipErrorInvalidValue; });
}

hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t* handle, void* os_handle,
                                           hipMemAllocationHandleType type) {
  return api([&] { return import_handle(handle, os_handle, type); });
}

}  // extern "C"
