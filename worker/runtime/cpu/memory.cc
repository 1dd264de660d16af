// SPDX-License-Identifier: Apache-2.0
// Allocation and release of whole ranges, and the questions about them.
#include "worker/runtime/cpu/memory.h"

#include <unistd.h>

#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/ipc.h"
#include "worker/runtime/cpu/pool.h"
#include "worker/runtime/cpu/properties.h"

namespace tf::cpu {
namespace {

// Managed memory may be more than a device has: on AMD's devices its pages come and go.
bool is_booked(MemoryKind kind) { return kind != MemoryKind::kHost && kind != MemoryKind::kManaged; }

constexpr std::size_t kManagedMax_bytes = std::size_t{1} << 46;  // half of what a process can address

}  // namespace

hipError_t allocate(Device& device, MemoryKind kind, unsigned flags, std::size_t bytes, void** pointer) {
  *pointer = nullptr;
  if (bytes == 0) return hipSuccess;
  if (bytes > (kind == MemoryKind::kManaged ? kManagedMax_bytes : device.total_bytes()))
    return hipErrorOutOfMemory;
  const bool booked = is_booked(kind);
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
  if (base && Runtime::get().begin_memory(allocation)) {
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
  if (is_booked(allocation.kind))
    Runtime::get().device(allocation.device).give_memory(allocation.mapped_bytes);
}

hipError_t release(void* pointer) {
  if (!pointer) return hipSuccess;
  Runtime& runtime = Runtime::get();
  const auto known = runtime.memory.find(pointer);
  if (known && known->kind == MemoryKind::kImported) return close_imported(pointer);
  if (!known || known->base != reinterpret_cast<std::uintptr_t>(pointer)) return hipErrorInvalidValue;
  // Registered memory, variables and mappings are not ours to free; each has its own function.
  if (known->mapped_bytes == 0) return hipErrorInvalidValue;
  // Host memory may be in use by any device, device memory by its own device and by peers that copy. Failed
  // devices no longer use it, and calls that wait for the program report the failure.
  static_cast<void>(runtime.synchronize());
  const auto removed = runtime.end_memory(pointer);
  if (!removed) return hipErrorInvalidValue;  // another thread freed it meanwhile
  release_pages(*removed);
  return hipSuccess;
}

hipError_t Backend::allocate(void*& pointer, std::size_t bytes, unsigned flags) {
  return cpu::allocate(current_device(), MemoryKind::kDevice, flags, bytes, &pointer);
}

hipError_t Backend::allocate_managed(void*& pointer, std::size_t bytes, unsigned flags) {
  return cpu::allocate(current_device(), MemoryKind::kManaged, flags, bytes, &pointer);
}

hipError_t Backend::allocate_variable(void*& pointer, std::size_t bytes) {
  Allocation allocation;
  pointer = map_pages(round_up(bytes, kPage_bytes));
  if (!pointer) return hipErrorOutOfMemory;
  allocation.base = address_of(pointer);
  allocation.bytes = bytes;
  allocation.kind = MemoryKind::kManaged;
  allocation.is_variable = true;
  allocation.device = thread_state().device;
  allocation.flags = hipMemAttachGlobal;
  if (Runtime::get().begin_memory(allocation)) return hipSuccess;
  unmap_pages(pointer, round_up(bytes, kPage_bytes));
  return hipErrorOutOfMemory;
}

// Kernels may still use it: failed devices do not, and calls that wait for the program report the failure.
void Backend::release_variable(void* pointer, std::size_t bytes) {
  static_cast<void>(Runtime::get().synchronize());
  if (Runtime::get().end_memory(pointer)) unmap_pages(pointer, round_up(bytes, kPage_bytes));
}

hipError_t Backend::allocate_pitched(void*& pointer, std::size_t& pitch, std::size_t width,
                                     std::size_t rows) {
  const std::size_t row_bytes = round_up(width, kPitchAlignment_bytes);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(row_bytes, rows, &bytes)) return hipErrorOutOfMemory;
  const hipError_t status = allocate(pointer, bytes, hipDeviceMallocDefault);
  if (status == hipSuccess) pitch = row_bytes;
  return status;
}

hipError_t Backend::allocate_host(void*& pointer, std::size_t bytes, unsigned flags) {
  return cpu::allocate(current_device(), MemoryKind::kHost, flags, bytes, &pointer);
}

hipError_t Backend::free(void* pointer) { return release(pointer); }

hipError_t Backend::free_host(void* pointer) { return release(pointer); }

hipError_t Backend::memory_info(std::size_t& free_bytes, std::size_t& total_bytes) {
  const Device& device = current_device();
  total_bytes = device.total_bytes();
  free_bytes = device.total_bytes() - device.used_bytes();
  return hipSuccess;
}

hipError_t Backend::address_range(void* pointer, void*& base, std::size_t& bytes) {
  const auto known = Runtime::get().memory.find(pointer);
  if (!known || known->kind == MemoryKind::kRegistered) return hipErrorNotFound;
  base = reinterpret_cast<void*>(known->base);
  bytes = known->bytes;
  return hipSuccess;
}

hipError_t Backend::allocated_bytes(void* pointer, std::size_t& bytes) {
  const auto known = Runtime::get().memory.find(pointer);
  if (!known) return hipErrorInvalidValue;
  bytes = known->bytes;
  return hipSuccess;
}

}  // namespace tf::cpu
