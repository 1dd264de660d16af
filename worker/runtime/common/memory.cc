// SPDX-License-Identifier: Apache-2.0
// hipMalloc, hipFree, managed memory and the questions about device memory.
#include "hipcore/abi/rules.h"
#include "hipcore/memory/device_flags.h"
#include "worker/runtime/common/api.h"
#include "worker/runtime/common/external.h"
#include "worker/runtime/common/graph_library.h"

namespace tf::runtime {
namespace {

constexpr std::size_t kWidthMax_bytes = std::size_t{1} << 46;

hipError_t allocate(void** pointer, std::size_t bytes, unsigned flags) {
  if (!pointer) return hipErrorInvalidValue;
  if (const hipError_t status = Backend::require_device()) return status;
  *pointer = nullptr;
  return bytes == 0 ? hipSuccess : Backend::allocate(*pointer, bytes, flags);
}

hipError_t allocate_managed(void** pointer, std::size_t bytes, unsigned flags) {
  if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) return hipErrorInvalidValue;
  if (!pointer || bytes == 0) return hipErrorInvalidValue;
  if (const hipError_t status = Backend::require_device()) return status;
  return Backend::allocate_managed(*pointer, bytes, flags);
}

// Rows of width bytes at a pitch that suits textures.
hipError_t allocate_pitched(void** pointer, std::size_t* pitch, std::size_t width, std::size_t rows) {
  if (!pointer || !pitch) return hipErrorInvalidValue;
  *pointer = nullptr;
  if (width == 0 || rows == 0) return hipSuccess;
  if (width > kWidthMax_bytes) return hipErrorOutOfMemory;
  if (const hipError_t status = Backend::require_device()) return status;
  return Backend::allocate_pitched(*pointer, *pitch, width, rows);
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

hipError_t memory_info(std::size_t* free, std::size_t* total) {
  if (!free && !total) return hipErrorInvalidValue;
  if (const hipError_t status = Backend::require_device()) return status;
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  if (const hipError_t status = Backend::memory_info(free_bytes, total_bytes)) return status;
  if (free) *free = free_bytes;
  if (total) *total = total_bytes;
  return hipSuccess;
}

hipError_t address_range(hipDeviceptr_t* base, std::size_t* bytes, void* pointer) {
  void* found_base = nullptr;
  std::size_t found_bytes = 0;
  if (const hipError_t status = Backend::address_range(pointer, found_base, found_bytes)) return status;
  if (base) *base = found_base;
  if (bytes) *bytes = found_bytes;
  return hipSuccess;
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipMalloc(void** pointer, size_t bytes) {
  return unsafe_api([&] { return allocate(pointer, bytes, hipDeviceMallocDefault); });
}

hipError_t hipExtMallocWithFlags(void** pointer, size_t bytes, unsigned flags) {
  return api([&] {
    const auto ours = tf::hipcore::device_flags_of(flags, bytes, tf::abi::kRules.major);
    return ours ? allocate(pointer, bytes, *ours) : hipErrorInvalidValue;
  });
}

hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return unsafe_api([&] { return allocate_managed(pointer, bytes, flags); });
}

hipError_t hipMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return unsafe_api([&] { return allocate_pitched(pointer, pitch, width, height); });
}

hipError_t hipMemAllocPitch(hipDeviceptr_t* pointer, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  return unsafe_api([&] {
    if (element != 4 && element != 8 && element != 16) return hipErrorInvalidValue;
    return allocate_pitched(pointer, pitch, width, height);
  });
}

hipError_t hipMalloc3D(hipPitchedPtr* pitched, hipExtent extent) {
  return unsafe_api([&] { return allocate_3d(pitched, extent); });
}

hipError_t hipFree(void* pointer) {
  return unsafe_api([&]() -> hipError_t {
    if (!pointer || external_memories().free(pointer)) return hipSuccess;
    const auto verdict = free_graph_memory(pointer);
    return verdict ? *verdict : Backend::free(pointer);
  });
}

hipError_t hipMemGetInfo(size_t* free, size_t* total) {
  return api([&] { return memory_info(free, total); });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t pointer) {
  return api([&] { return address_range(base, bytes, pointer); });
}

hipError_t hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  return api([&] { return bytes ? Backend::allocated_bytes(pointer, *bytes) : hipErrorInvalidValue; });
}

}  // extern "C"
