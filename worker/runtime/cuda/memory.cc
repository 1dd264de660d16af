// SPDX-License-Identifier: Apache-2.0
// hipMalloc, hipFree, managed memory and the questions about device memory.
#include "worker/runtime/cuda/api.h"

namespace tf::cuda {
namespace {

constexpr unsigned kPitchElement_bytes = 16;  // rows are aligned for the largest element

hipError_t allocate(void** pointer, std::size_t bytes) {
  if (!pointer) return hipErrorInvalidValue;
  *pointer = nullptr;
  return bytes == 0 ? hipSuccess : check(cu().MemAlloc(pointer, bytes));
}

// All of the device's memory is the same; what was asked for can be asked back (hipMemRangeGetAttribute).
hipError_t allocate_with_flags(void** pointer, std::size_t bytes, unsigned flags) {
  if (flags > hipMallocSignalMemory) return hipErrorInvalidValue;
  if (flags == hipMallocSignalMemory && bytes != 8) return hipErrorInvalidValue;
  const hipError_t status = allocate(pointer, bytes);
  if (status != hipSuccess || !*pointer || flags == hipDeviceMallocDefault) return status;
  const auto base = reinterpret_cast<std::uintptr_t>(*pointer);
  // If there is no room to remember it, the allocation stands all the same.
  static_cast<void>(
      Runtime::get().advice.set_coherency({base, bytes, base, bytes}, hipcore::coherency_of_device(flags)));
  return hipSuccess;
}

// As AMD's runtime, any kind of memory that has an allocating function.
hipError_t release(void* pointer) {
  if (!pointer) return hipSuccess;
  Runtime::get().forget_advice(pointer);
  const driver::Result result = cu().MemFree(pointer);
  if (result != driver::Result::INVALID_VALUE) return check(result);
  if (cu().MemFreeHost(pointer) != driver::Result::SUCCESS) return hip_error(result);
  Runtime::get().host_memory.remove(pointer);
  return hipSuccess;
}

hipError_t allocate_pitched(void** pointer, std::size_t* pitch, std::size_t width, std::size_t rows) {
  if (!pointer || !pitch) return hipErrorInvalidValue;
  *pointer = nullptr;
  if (width == 0 || rows == 0) return hipSuccess;
  if (width > (std::size_t{1} << 46)) return hipErrorOutOfMemory;
  return check(cu().MemAllocPitch(pointer, pitch, width, rows, kPitchElement_bytes));
}

hipError_t allocate_3d(hipPitchedPtr* pitched, hipExtent extent) {
  if (!pitched) return hipErrorInvalidValue;
  std::size_t rows = 0;
  if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return hipErrorOutOfMemory;
  void* base = nullptr;
  std::size_t pitch = 0;
  const hipError_t status = allocate_pitched(&base, &pitch, extent.width, rows);
  if (status == hipSuccess) *pitched = make_hipPitchedPtr(base, pitch, extent.width, extent.height);
  return status;
}

hipError_t allocate_managed(void** pointer, std::size_t bytes, unsigned flags) {
  if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) return hipErrorInvalidValue;
  if (!pointer || bytes == 0) return hipErrorInvalidValue;
  return check(cu().MemAllocManaged(pointer, bytes, flags));
}

hipError_t address_range(void** base, std::size_t* bytes, void* pointer) {
  void* found_base = nullptr;
  std::size_t found_bytes = 0;
  const driver::Result result = cu().MemGetAddressRange(&found_base, &found_bytes, pointer);
  if (result != driver::Result::SUCCESS)
    return result == driver::Result::INVALID_VALUE ? hipErrorNotFound : hip_error(result);
  if (base) *base = found_base;
  if (bytes) *bytes = found_bytes;
  return hipSuccess;
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipMalloc(void** pointer, size_t bytes) {
  return api([&] { return allocate(pointer, bytes); });
}

hipError_t hipExtMallocWithFlags(void** pointer, size_t bytes, unsigned flags) {
  return api([&] { return allocate_with_flags(pointer, bytes, flags); });
}

hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return api([&] { return allocate_managed(pointer, bytes, flags); });
}

hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return api([&] { return allocate_pitched(pointer, pitch, width, height); });
}

hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  return api([&] {
    if (element != 4 && element != 8 && element != 16) return hipErrorInvalidValue;
    return allocate_pitched(pointer, pitch, width, height);
  });
}

hipError_t hipMalloc3D(hipPitchedPtr* pitched, hipExtent extent) {
  return api([&] { return allocate_3d(pitched, extent); });
}

hipError_t hipFree(void* pointer) {
  return api([&] { return release(pointer); });
}

hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  return api([&] {
    if (!free && !total) return hipErrorInvalidValue;
    std::size_t free_bytes = 0;
    std::size_t total_bytes = 0;
    const hipError_t status = check(cu().MemGetInfo(&free_bytes, &total_bytes));
    if (free) *free = free_bytes;
    if (total) *total = total_bytes;
    return status;
  });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t pointer) {
  return api([&] { return address_range(base, bytes, pointer); });
}

hipError_t hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  return api([&] {
    void* base = nullptr;
    if (!bytes || address_range(&base, bytes, pointer) != hipSuccess || base != pointer)
      return hipErrorInvalidValue;
    return hipSuccess;
  });
}

}  // extern "C"
