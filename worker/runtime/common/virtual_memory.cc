// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: addresses, physical memory, and mapping one to the other.
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hipcore/abi/allocation.h"
#include "hipcore/abi/rules.h"
#include "hipcore/memory/os_handle.h"
#include "worker/runtime/common/access.h"
#include "worker/runtime/common/device.h"

namespace tf::runtime {
namespace {

auto& memory() { return Backend::virtual_memory(); }
static_assert(VirtualMemoryOfBackend<std::remove_reference_t<decltype(memory())>>);

bool valid_properties(const hipMemAllocationProp& p) {
  return p.type == hipMemAllocationTypePinned && p.location.type == hipMemLocationTypeDevice &&
         valid_device(p.location.id);
}

hipError_t granularity_of(std::size_t* granularity, const hipMemAllocationProp* theirs,
                          hipMemAllocationGranularity_flags option) {
  if (!granularity || !theirs) return hipErrorInvalidValue;
  const hipMemAllocationProp properties = tf::abi::allocation_from(tf::abi::kRules.major, *theirs);
  if (!valid_properties(properties)) return hipErrorInvalidValue;
  if (option != hipMemAllocationGranularityMinimum && option != hipMemAllocationGranularityRecommended)
    return hipErrorInvalidValue;
  return memory().granularity(properties, option, *granularity);
}

hipError_t set_access(void* pointer, std::size_t bytes, const hipMemAccessDesc* wishes, std::size_t count) {
  if (!pointer || check_access(wishes, count) != hipSuccess) return hipErrorInvalidValue;
  return memory().set_access(pointer, bytes, {wishes, count});
}

hipError_t export_handle(void* target, hipMemGenericAllocationHandle_t handle) {
  int descriptor = -1;
  const hipError_t status = memory().export_to(handle, descriptor);
  if (status == hipSuccess) std::memcpy(target, &descriptor, sizeof descriptor);
  return status;
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipMemAddressReserve(void** pointer, size_t bytes, size_t alignment, void* wish,
                                unsigned long long flags) {
  return api([&] {
    if (!pointer || flags != 0) return hipErrorInvalidValue;
    return memory().reserve(pointer, bytes, alignment, wish);
  });
}

hipError_t hipMemAddressFree(void* pointer, size_t bytes) {
  return api([&] { return memory().free(pointer, bytes); });
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* handle, size_t bytes,
                        const hipMemAllocationProp* theirs, unsigned long long flags) {
  return api([&] {
    if (!handle || flags != 0 || !theirs) return hipErrorInvalidValue;
    const hipMemAllocationProp properties = tf::abi::allocation_from(tf::abi::kRules.major, *theirs);
    return valid_properties(properties) ? memory().create(handle, bytes, properties) : hipErrorInvalidValue;
  });
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  return api([&] { return memory().release(handle); });
}

hipError_t hipMemMap(void* pointer, size_t bytes, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags) {
  return api([&] {
    if (!pointer || flags != 0) return hipErrorInvalidValue;
    return memory().map(pointer, bytes, offset, handle);
  });
}

hipError_t hipMemUnmap(void* pointer, size_t bytes) {
  return api([&] { return memory().unmap(pointer, bytes); });
}

hipError_t hipMemSetAccess(void* pointer, size_t bytes, const hipMemAccessDesc* wishes, size_t count) {
  return api([&] { return set_access(pointer, bytes, wishes, count); });
}

hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* location, void* pointer) {
  return api([&] {
    if (!flags || !is_device(location)) return hipErrorInvalidValue;
    return memory().access(location->id, pointer, *flags);
  });
}

hipError_t hipMemGetAllocationGranularity(size_t* granularity, const hipMemAllocationProp* properties,
                                          hipMemAllocationGranularity_flags option) {
  return api([&] { return granularity_of(granularity, properties, option); });
}

hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* properties,
                                                   hipMemGenericAllocationHandle_t handle) {
  return api([&] {
    hipMemAllocationProp ours{};
    if (!properties) return hipErrorInvalidValue;
    const hipError_t status = memory().properties(handle, ours);
    if (status == hipSuccess) *properties = tf::abi::allocation_for(tf::abi::kRules.major, ours);
    return status;
  });
}

hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* handle, void* address) {
  return api([&] { return handle && address ? memory().retain(handle, address) : hipErrorInvalidValue; });
}

hipError_t hipMemExportToShareableHandle(void* target, hipMemGenericAllocationHandle_t handle,
                                         hipMemAllocationHandleType type, unsigned long long flags) {
  return api([&] {
    if (!target || flags != 0 || type != hipMemHandleTypePosixFileDescriptor) return hipErrorInvalidValue;
    return export_handle(target, handle);
  });
}

hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t* handle, void* os_handle,
                                           hipMemAllocationHandleType type) {
  return api([&] {
    if (!handle || type != hipMemHandleTypePosixFileDescriptor) return hipErrorInvalidValue;
    return memory().import(handle, tf::hipcore::descriptor_in(os_handle));
  });
}

}  // extern "C"
