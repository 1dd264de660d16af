// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: the work is VirtualMemory's and the driver's.
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/virtual_memory.h"

namespace tf::cuda {

// HIP's structs of locations and access rights are CUDA's.
static_assert(sizeof(hipMemLocation) == sizeof(driver::Location));
static_assert(sizeof(hipMemAccessDesc) == sizeof(driver::AccessDescription));

hipError_t Backend::reserve_addresses(void** pointer, std::size_t bytes, std::size_t alignment, void* wish) {
  return virtual_memory().reserve(pointer, bytes, alignment, wish);
}

hipError_t Backend::free_addresses(void* pointer, std::size_t bytes) {
  return virtual_memory().free(pointer, bytes);
}

hipError_t Backend::granularity(const hipMemAllocationProp& properties,
                                hipMemAllocationGranularity_flags option, std::size_t& bytes) {
  const driver::AllocationProperties wish = wish_for(properties);
  return check(cu().MemGetAllocationGranularity(&bytes, &wish, option));
}

hipError_t Backend::create_memory(hipMemGenericAllocationHandle_t* handle, std::size_t bytes,
                                  const hipMemAllocationProp& properties) {
  return virtual_memory().create(handle, bytes, properties);
}

hipError_t Backend::memory_properties(hipMemGenericAllocationHandle_t handle,
                                      hipMemAllocationProp& properties) {
  return virtual_memory().properties(&properties, handle);
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

// Nothing of what is mapped may still run, as with AMD's runtime; the driver leaves that to its caller.
hipError_t Backend::unmap_memory(void* pointer, std::size_t bytes) {
  const hipError_t pending = Runtime::get().synchronize_all();
  const hipError_t status = virtual_memory().unmap(pointer, bytes);
  return status != hipSuccess ? status : pending;
}

hipError_t Backend::set_access(void* pointer, std::size_t bytes, std::span<const hipMemAccessDesc> wishes) {
  if (!virtual_memory().is_mapped(pointer, bytes)) return hipErrorInvalidValue;
  const std::vector<driver::AccessDescription> access = convert(wishes);
  return check(cu().MemSetAccess(pointer, bytes, access.data(), access.size()));
}

hipError_t Backend::access(int device, void* pointer, unsigned long long& flags) {
  const driver::Location place{hipMemLocationTypeDevice, device};
  return check(cu().MemGetAccess(&flags, &place, pointer));
}

hipError_t Backend::export_memory(hipMemGenericAllocationHandle_t handle, int& descriptor) {
  return virtual_memory().export_to(&descriptor, handle);
}

hipError_t Backend::import_memory(hipMemGenericAllocationHandle_t* handle, int descriptor) {
  return virtual_memory().import(handle, descriptor);
}

}  // namespace tf::cuda
