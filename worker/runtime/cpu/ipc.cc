// SPDX-License-Identifier: Apache-2.0
// Device memory shared between processes (hipIpc*MemHandle).
//
// Ordinary allocations are private pages, which are faster to touch than a memory file's. When one is first
// exported it becomes a memory file at the same address. The handle says where the exporter holds the file.
// The kernel lets processes of the same user open it there, and they check that it is the file the handle
// names.
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstring>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/ipc_ticket.h"
#include "worker/runtime/cpu/memory_file.h"

namespace tf::cpu {
namespace {

// Pages that were never written stay holes.
void copy_pages(std::byte* target, const std::byte* source, std::size_t bytes) {
  static constexpr std::array<std::byte, kPage_bytes> kZeroes{};
  for (std::size_t at = 0; at < bytes; at += kPage_bytes) {
    if (std::memcmp(source + at, kZeroes.data(), kPage_bytes) != 0)
      std::memcpy(target + at, source + at, kPage_bytes);
  }
}

// The descriptor of the file that now backs the allocation, whose pages are shared from now on. REQUIRES: the
// devices are idle
int share_pages(const Allocation& allocation) {
  if (allocation.descriptor >= 0) return allocation.descriptor;
  const int descriptor = make_memory_file(allocation.mapped_bytes);
  if (descriptor < 0) return -1;
  void* const base = reinterpret_cast<void*>(allocation.base);
  const std::size_t bytes = allocation.mapped_bytes;
  void* const copy = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (copy == MAP_FAILED) {
    ::close(descriptor);
    return -1;
  }
  copy_pages(static_cast<std::byte*>(copy), static_cast<std::byte*>(base), bytes);
  // The copy takes the place of the pages it was made of.
  if (::mremap(copy, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, base) == MAP_FAILED) {
    ::munmap(copy, bytes);
    ::close(descriptor);
    return -1;
  }
  Runtime::get().memory.set_descriptor(base, descriptor);
  return descriptor;
}

}  // namespace

hipError_t Backend::share_memory(void* pointer, hipIpcMemHandle_t& handle) {
  Runtime& runtime = Runtime::get();
  const MutexLock lock(runtime.sharing);
  const auto known = runtime.memory.find(pointer);
  if (!known || known->kind != MemoryKind::kDevice || known->pool) return hipErrorInvalidDevicePointer;
  if (const hipError_t pending = Runtime::get().synchronize(); pending != hipSuccess) return pending;
  const int descriptor = share_pages(*known);
  IpcTicket ticket =
      make_ticket(kIpcMemoryMagic, descriptor, known->bytes, runtime.device(known->device).number());
  if (ticket.file == 0) return hipErrorOutOfMemory;
  ticket.offset = reinterpret_cast<std::uintptr_t>(pointer) - known->base;
  std::memset(&handle, 0, sizeof handle);
  std::memcpy(handle.reserved, &ticket, sizeof ticket);
  return hipSuccess;
}

hipError_t Backend::open_memory(const hipIpcMemHandle_t& handle, void*& pointer) {
  IpcTicket ticket;
  std::memcpy(&ticket, handle.reserved, sizeof ticket);
  if (ticket.magic != kIpcMemoryMagic || ticket.bytes == 0 || ticket.offset >= ticket.bytes)
    return hipErrorInvalidValue;
  if (ticket.process == ::getpid()) return hipErrorInvalidContext;
  const Device* const device = Runtime::get().device_of_number(ticket.device);
  if (!device) return hipErrorInvalidDevicePointer;
  const int descriptor = open_ticket(ticket);
  if (descriptor < 0) return hipErrorInvalidDevicePointer;
  const std::size_t mapped_bytes = round_up(ticket.bytes, kPage_bytes);
  void* const base = ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  ::close(descriptor);
  if (base == MAP_FAILED) return hipErrorMapFailed;
  Allocation allocation;
  allocation.base = reinterpret_cast<std::uintptr_t>(base);
  allocation.bytes = ticket.bytes;
  allocation.kind = MemoryKind::kShared;
  allocation.device = device->ordinal();
  if (!Runtime::get().memory.add(allocation)) {
    ::munmap(base, mapped_bytes);
    return hipErrorOutOfMemory;
  }
  pointer = static_cast<std::byte*>(base) + ticket.offset;
  return hipSuccess;
}

hipError_t Backend::close_memory(void* pointer) {
  Runtime& runtime = Runtime::get();
  const auto known = runtime.memory.find(pointer);
  if (!known || known->kind != MemoryKind::kShared) return hipErrorInvalidValue;
  static_cast<void>(Runtime::get().synchronize());  // what has failed uses it no more
  const auto removed = runtime.memory.remove(reinterpret_cast<void*>(known->base));
  if (!removed) return hipErrorInvalidValue;  // another thread closed it meanwhile
  ::munmap(reinterpret_cast<void*>(removed->base), round_up(removed->bytes, kPage_bytes));
  return hipSuccess;
}

}  // namespace tf::cpu
