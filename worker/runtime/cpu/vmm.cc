// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: the work is VirtualMemory's.
#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#include <memory>

#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/memory_file.h"
#include "worker/runtime/cpu/virtual_memory.h"

namespace tf::cpu {
namespace {

VirtualMemory& virtual_memory() { return Runtime::get().virtual_memory(); }

}  // namespace

hipError_t Backend::reserve_addresses(void** pointer, std::size_t bytes, std::size_t alignment, void* wish) {
  return virtual_memory().reserve(pointer, bytes, alignment, wish);
}

hipError_t Backend::free_addresses(void* pointer, std::size_t bytes) {
  return virtual_memory().unreserve(pointer, bytes);
}

hipError_t Backend::granularity(const hipMemAllocationProp&, hipMemAllocationGranularity_flags,
                                std::size_t& bytes) {
  bytes = kHugePage_bytes;
  return hipSuccess;
}

hipError_t Backend::create_memory(hipMemGenericAllocationHandle_t* handle, std::size_t bytes,
                                  const hipMemAllocationProp& properties) {
  return virtual_memory().create(handle, bytes, properties);
}

hipError_t Backend::memory_properties(hipMemGenericAllocationHandle_t handle,
                                      hipMemAllocationProp& properties) {
  const auto physical = virtual_memory().find(handle);
  if (!physical) return hipErrorInvalidValue;
  properties = physical->properties();
  return hipSuccess;
}

hipError_t Backend::retain_memory(hipMemGenericAllocationHandle_t* handle, void* address) {
  return virtual_memory().retain(handle, address);
}

hipError_t Backend::release_memory(hipMemGenericAllocationHandle_t handle) {
  return virtual_memory().release(handle);
}

hipError_t Backend::map_memory(void* pointer, std::size_t bytes, std::size_t offset,
                               hipMemGenericAllocationHandle_t handle) {
  return virtual_memory().map(pointer, bytes, offset, handle);
}

hipError_t Backend::unmap_memory(void* pointer, std::size_t bytes) {
  static_cast<void>(Runtime::get().synchronize());  // what has failed uses it no more
  return virtual_memory().unmap(pointer, bytes);
}

hipError_t Backend::set_access(void* pointer, std::size_t bytes, std::span<const hipMemAccessDesc> wishes) {
  for (const hipMemAccessDesc& wish : wishes)
    if (wish.flags != hipMemAccessFlagsProtNone && wish.flags != hipMemAccessFlagsProtRead &&
        wish.flags != hipMemAccessFlagsProtReadWrite)
      return hipErrorInvalidValue;
  return virtual_memory().set_access(pointer, bytes, wishes);
}

hipError_t Backend::access(int device, void* pointer, unsigned long long& flags) {
  return virtual_memory().get_access(&flags, device, pointer);
}

hipError_t Backend::export_memory(hipMemGenericAllocationHandle_t handle, int& descriptor) {
  const auto physical = virtual_memory().find(handle);
  if (!physical) return hipErrorInvalidValue;
  descriptor = ::fcntl(physical->descriptor(), F_DUPFD_CLOEXEC, 0);
  return descriptor < 0 ? hipErrorOutOfMemory : hipSuccess;
}

// Imported memory is booked where it was made.
hipError_t Backend::import_memory(hipMemGenericAllocationHandle_t* handle, int descriptor) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
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
  properties.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
  return virtual_memory().adopt(handle, std::make_shared<Physical>(thread_state().device, copy, bytes,
                                                                   properties, Physical::Booked::kNo));
}

}  // namespace tf::cpu
