// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: addresses, physical memory, and mapping one to the other.
#include <cstring>
#include <vector>

#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/virtual_memory.h"

namespace tf::cuda {
namespace {

constexpr std::size_t kAccessMax = 256;

// HIP's structs of locations and access rights are CUDA's.
static_assert(sizeof(hipMemLocation) == sizeof(driver::Location));
static_assert(sizeof(hipMemAccessDesc) == sizeof(driver::AccessDescription));

bool valid_properties(const hipMemAllocationProp* p) {
  return p && p->type == hipMemAllocationTypePinned && p->location.type == hipMemLocationTypeDevice &&
         Runtime::get().valid_device(p->location.id);
}

hipError_t granularity_of(std::size_t* granularity, const hipMemAllocationProp* p,
                          hipMemAllocationGranularity_flags option) {
  if (!granularity || !valid_properties(p)) return hipErrorInvalidValue;
  if (option != hipMemAllocationGranularityMinimum && option != hipMemAllocationGranularityRecommended)
    return hipErrorInvalidValue;
  const driver::AllocationProperties properties = wish_for(*p);
  return check(cu().MemGetAllocationGranularity(granularity, &properties, option));
}

hipError_t set_access(void* pointer, std::size_t bytes, const hipMemAccessDesc* wishes, std::size_t count) {
  if (!pointer || !wishes || count == 0 || count > kAccessMax) return hipErrorInvalidValue;
  std::vector<driver::AccessDescription> access;
  for (std::size_t i = 0; i < count; ++i) {
    if (wishes[i].location.type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
    if (!Runtime::get().valid_device(wishes[i].location.id)) return hipErrorInvalidValue;
    access.push_back({{wishes[i].location.type, wishes[i].location.id}, wishes[i].flags});
  }
  if (!virtual_memory().is_mapped(pointer, bytes)) return hipErrorInvalidValue;
  return check(cu().MemSetAccess(pointer, bytes, access.data(), count));
}

hipError_t get_access(unsigned long long* flags, const hipMemLocation* location, void* pointer) {
  if (!flags || !location || location->type != hipMemLocationTypeDevice) return hipErrorInvalidValue;
  if (!Runtime::get().valid_device(location->id)) return hipErrorInvalidValue;
  const driver::Location place{location->type, location->id};
  return check(cu().MemGetAccess(flags, &place, pointer));
}

// `os_handle` is the descriptor itself in a pointer's clothes, as CUDA defines it, or points to it, as AMD's
// runtimes up to 7.0 read it. Nothing is mapped at addresses as low as descriptors are.
int descriptor_in(void* os_handle) {
  constexpr std::uintptr_t kDescriptorMax = 1 << 16;
  const auto number = reinterpret_cast<std::uintptr_t>(os_handle);
  if (number < kDescriptorMax) return static_cast<int>(number);
  int descriptor = -1;
  std::memcpy(&descriptor, os_handle, sizeof descriptor);
  return descriptor;
}

// Nothing of what is mapped may still run, as with AMD's runtime; the driver leaves that to its caller.
hipError_t unmap(void* pointer, std::size_t bytes) {
  const hipError_t pending = Runtime::get().synchronize_all();
  const hipError_t status = virtual_memory().unmap(pointer, bytes);
  return status != hipSuccess ? status : pending;
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipMemAddressReserve(void** pointer, size_t bytes, size_t alignment, void* wish,
                                unsigned long long flags) {
  return api([&] {
    if (!pointer || flags != 0) return hipErrorInvalidValue;
    return virtual_memory().reserve(pointer, bytes, alignment, wish);
  });
}

hipError_t hipMemAddressFree(void* pointer, size_t bytes) {
  return api([&] { return virtual_memory().free(pointer, bytes); });
}

hipError_t hipMemCreate(hipMemGenericAllocationHandle_t* handle, size_t bytes,
                        const hipMemAllocationProp* properties, unsigned long long flags) {
  return api([&] {
    if (!handle || flags != 0 || !valid_properties(properties)) return hipErrorInvalidValue;
    return virtual_memory().create(handle, bytes, *properties);
  });
}

hipError_t hipMemRelease(hipMemGenericAllocationHandle_t handle) {
  return api([&] { return virtual_memory().release(handle); });
}

hipError_t hipMemMap(void* pointer, size_t bytes, size_t offset, hipMemGenericAllocationHandle_t handle,
                     unsigned long long flags) {
  return api([&] {
    if (!pointer || flags != 0) return hipErrorInvalidValue;
    return virtual_memory().map(pointer, bytes, offset, handle);
  });
}

hipError_t hipMemUnmap(void* pointer, size_t bytes) {
  return api([&] { return unmap(pointer, bytes); });
}

hipError_t hipMemSetAccess(void* pointer, size_t bytes, const hipMemAccessDesc* wishes, size_t count) {
  return api([&] { return set_access(pointer, bytes, wishes, count); });
}

hipError_t hipMemGetAccess(unsigned long long* flags, const hipMemLocation* location, void* pointer) {
  return api([&] { return get_access(flags, location, pointer); });
}

hipError_t hipMemGetAllocationGranularity(size_t* granularity, const hipMemAllocationProp* properties,
                                          hipMemAllocationGranularity_flags option) {
  return api([&] { return granularity_of(granularity, properties, option); });
}

hipError_t hipMemGetAllocationPropertiesFromHandle(hipMemAllocationProp* properties,
                                                   hipMemGenericAllocationHandle_t handle) {
  return api(
      [&] { return properties ? virtual_memory().properties(properties, handle) : hipErrorInvalidValue; });
}

hipError_t hipMemRetainAllocationHandle(hipMemGenericAllocationHandle_t* handle, void* address) {
  return api(
      [&] { return handle && address ? virtual_memory().retain(handle, address) : hipErrorInvalidValue; });
}

hipError_t hipMemExportToShareableHandle(void* target, hipMemGenericAllocationHandle_t handle,
                                         hipMemAllocationHandleType type, unsigned long long flags) {
  return api([&] {
    if (!target || flags != 0 || type != hipMemHandleTypePosixFileDescriptor) return hipErrorInvalidValue;
    return virtual_memory().export_to(static_cast<int*>(target), handle);
  });
}

hipError_t hipMemImportFromShareableHandle(hipMemGenericAllocationHandle_t* handle, void* os_handle,
                                           hipMemAllocationHandleType type) {
  return api([&] {
    if (!handle || type != hipMemHandleTypePosixFileDescriptor) return hipErrorInvalidValue;
    return virtual_memory().import(handle, descriptor_in(os_handle));
  });
}

}  // extern "C"
