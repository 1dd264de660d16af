// SPDX-License-Identifier: Apache-2.0
// hipMalloc, hipFree and the questions about device memory.
#include "worker/runtime/cpu/memory.h"

#include <unistd.h>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/pool.h"
#include "worker/runtime/cpu/properties.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {

hipError_t allocate(Device& device, MemoryKind kind, unsigned flags, std::size_t bytes, void** pointer) {
  *pointer = nullptr;
  if (bytes == 0) return hipSuccess;
  if (bytes > device.total_bytes()) return hipErrorOutOfMemory;
  const bool booked = kind != MemoryKind::kHost;
  const std::size_t mapped_bytes = round_up(bytes, kPage_bytes);
  if (booked && !device.take_memory(mapped_bytes)) {
    device.default_pool().trim(0);
    if (!device.take_memory(mapped_bytes)) return hipErrorOutOfMemory;
  }
  Allocation allocation;
  void* const base = map_pages(mapped_bytes);
  allocation.base = reinterpret_cast<std::uintptr_t>(base);
  allocation.bytes = bytes;
  allocation.mapped_bytes = mapped_bytes;
  allocation.kind = kind;
  allocation.device = device.ordinal();
  allocation.flags = flags;
  if (base && Runtime::get().memory.add(allocation)) {
    *pointer = base;
    return hipSuccess;
  }
  if (base) unmap_pages(base, mapped_bytes);
  if (booked) device.give_memory(mapped_bytes);
  return hipErrorOutOfMemory;
}

void release_pages(const Allocation& allocation) {
  if (allocation.pool) {
    allocation.pool->give_back(allocation, Marker{});
    return;
  }
  unmap_pages(reinterpret_cast<void*>(allocation.base), allocation.mapped_bytes);
  if (allocation.descriptor >= 0) ::close(allocation.descriptor);
  if (allocation.kind != MemoryKind::kHost)
    Runtime::get().device(allocation.device).give_memory(allocation.mapped_bytes);
}

hipError_t release(void* pointer) {
  if (!pointer) return hipSuccess;
  Runtime& runtime = Runtime::get();
  const auto known = runtime.memory.find(pointer);
  if (!known || known->base != reinterpret_cast<std::uintptr_t>(pointer)) return hipErrorInvalidValue;
  // Registered memory, variables and mappings are not ours to free; each has its own function.
  if (known->mapped_bytes == 0) return hipErrorInvalidValue;
  // Host memory may be in use by any device, device memory by its own device and by peers that copy. Failed
  // devices no longer use it, and calls that wait for the program report the failure.
  static_cast<void>(runtime.synchronize());
  const auto removed = runtime.memory.remove(pointer);
  if (!removed) return hipErrorInvalidValue;  // another thread freed it meanwhile
  runtime.advice.forget(removed->base, removed->bytes);
  release_pages(*removed);
  return hipSuccess;
}

namespace {

hipError_t allocate_here(void** pointer, std::size_t bytes, MemoryKind kind, unsigned flags) {
  if (!pointer) return hipErrorInvalidValue;
  if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
  return allocate(current_device(), kind, flags, bytes, pointer);
}

// Rows of width bytes at a pitch that suits textures.
hipError_t allocate_pitched(void** pointer, std::size_t* pitch, std::size_t width, std::size_t rows) {
  if (!pointer || !pitch) return hipErrorInvalidValue;
  if (width == 0 || rows == 0) {
    *pointer = nullptr;
    return hipSuccess;
  }
  if (width > (std::size_t{1} << 46)) return hipErrorOutOfMemory;
  const std::size_t row_bytes = round_up(width, kPitchAlignment_bytes);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(row_bytes, rows, &bytes)) return hipErrorOutOfMemory;
  const hipError_t status = allocate_here(pointer, bytes, MemoryKind::kDevice, 0);
  if (status == hipSuccess) *pitch = row_bytes;
  return status;
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

hipError_t address_range(hipDeviceptr_t* base, std::size_t* bytes, const void* pointer) {
  const auto known = Runtime::get().memory.find(pointer);
  if (!known || known->kind == MemoryKind::kRegistered) return hipErrorNotFound;
  if (base) *base = reinterpret_cast<void*>(known->base);
  if (bytes) *bytes = known->bytes;
  return hipSuccess;
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipMalloc(void** pointer, size_t bytes) {
  return api([&] { return allocate_here(pointer, bytes, MemoryKind::kDevice, 0); });
}

hipError_t hipExtMallocWithFlags(void** pointer, size_t bytes, unsigned flags) {
  return api([&] {
    if (flags > hipMallocSignalMemory) return hipErrorInvalidValue;
    if (flags == hipMallocSignalMemory && bytes != 8) return hipErrorInvalidValue;
    return allocate_here(pointer, bytes, MemoryKind::kDevice, flags);
  });
}

hipError_t hipMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return api([&] {
    if (flags != hipMemAttachGlobal && flags != hipMemAttachHost) return hipErrorInvalidValue;
    if (bytes == 0) return hipErrorInvalidValue;
    return allocate_here(pointer, bytes, MemoryKind::kManaged, flags);
  });
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
    if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
    Device& device = current_device();
    if (total) *total = device.total_bytes();
    if (free) *free = device.total_bytes() - device.used_bytes();
    return hipSuccess;
  });
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t pointer) {
  return api([&] { return address_range(base, bytes, pointer); });
}

hipError_t hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  return api([&] {
    const auto known = Runtime::get().memory.find(pointer);
    if (!bytes || !known || known->base != reinterpret_cast<std::uintptr_t>(pointer))
      return hipErrorInvalidValue;
    *bytes = known->bytes;
    return hipSuccess;
  });
}

}  // extern "C"
