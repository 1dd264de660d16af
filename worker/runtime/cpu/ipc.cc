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
#include <optional>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/ipc.h"
#include "worker/runtime/cpu/ipc_ticket.h"
#include "worker/runtime/cpu/memory_file.h"
#include "worker/runtime/cpu/pool.h"

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

// Where another process finds the page that `pointer` is in. REQUIRES: Runtime::sharing is locked
hipError_t share(const Allocation& allocation, const void* pointer, IpcTicket& ticket) {
  Runtime& runtime = Runtime::get();
  if (const hipError_t pending = runtime.synchronize(); pending != hipSuccess) return pending;
  const int descriptor = share_pages(allocation);
  ticket =
      make_ticket(kIpcMemoryMagic, descriptor, allocation.bytes, runtime.device(allocation.device).number());
  if (ticket.file == 0) return hipErrorOutOfMemory;
  ticket.offset = reinterpret_cast<std::uintptr_t>(pointer) - allocation.base;
  return hipSuccess;
}

hipError_t open(const IpcTicket& ticket, MemoryKind kind, void*& pointer) {
  if (ticket.magic != kIpcMemoryMagic || ticket.bytes == 0 || ticket.offset >= ticket.bytes)
    return hipErrorInvalidValue;
  // Of a pool's memory a process may have a second view itself.
  if (ticket.process == ::getpid() && kind != MemoryKind::kImported) return hipErrorInvalidContext;
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
  allocation.kind = kind;
  allocation.device = device->ordinal();
  allocation.offset = ticket.offset;
  if (!Runtime::get().begin_memory(allocation)) {
    ::munmap(base, mapped_bytes);
    return hipErrorOutOfMemory;
  }
  pointer = static_cast<std::byte*>(base) + ticket.offset;
  return hipSuccess;
}

void unmap_opened(const Allocation& opened) {
  ::munmap(reinterpret_cast<void*>(opened.base), round_up(opened.bytes, kPage_bytes));
}

hipError_t close_opened(const Allocation& opened) {
  Runtime& runtime = Runtime::get();
  static_cast<void>(runtime.synchronize());  // what has failed uses it no more
  const auto removed = runtime.end_memory(reinterpret_cast<void*>(opened.base));
  if (!removed) return hipErrorInvalidValue;  // another thread closed it meanwhile
  unmap_opened(*removed);
  return hipSuccess;
}

// Nothing: `pointer` is not what hipMemPoolImportPointer gave.
std::optional<Allocation> find_imported(const void* pointer) {
  auto known = Runtime::get().memory.find(pointer);
  const bool is_it =
      known && known->kind == MemoryKind::kImported && known->base + known->offset == address_of(pointer);
  return is_it ? known : std::nullopt;
}

// What the descriptor of a shared pool leads to.
struct PoolTicket {
  std::array<char, 8> magic{};
  std::int64_t device = 0;  // its number
};
constexpr std::array<char, 8> kPoolMagic = {'H', 'I', 'P', 'C', 'P', 'U', 'P', '1'};

}  // namespace

hipError_t Backend::share_memory(void* pointer, hipIpcMemHandle_t& handle) {
  Runtime& runtime = Runtime::get();
  const MutexLock lock(runtime.sharing);
  const auto known = runtime.memory.find(pointer);
  if (!known || known->kind != MemoryKind::kDevice || known->pool) return hipErrorInvalidDevicePointer;
  IpcTicket ticket;
  if (const hipError_t status = share(*known, pointer, ticket)) return status;
  std::memset(&handle, 0, sizeof handle);
  std::memcpy(handle.reserved, &ticket, sizeof ticket);
  return hipSuccess;
}

hipError_t Backend::open_memory(const hipIpcMemHandle_t& handle, void*& pointer) {
  IpcTicket ticket;
  std::memcpy(&ticket, handle.reserved, sizeof ticket);
  return open(ticket, MemoryKind::kShared, pointer);
}

hipError_t Backend::close_memory(void* pointer) {
  const auto known = Runtime::get().memory.find(pointer);
  return known && known->kind == MemoryKind::kShared ? close_opened(*known) : hipErrorInvalidValue;
}

hipError_t close_imported(void* pointer) {
  const auto known = find_imported(pointer);
  return known ? close_opened(*known) : hipErrorInvalidValue;
}

hipError_t close_imported(void* pointer, Stream& stream) {
  const auto known = find_imported(pointer);
  const auto removed = known ? Runtime::get().end_memory(reinterpret_cast<void*>(known->base)) : std::nullopt;
  if (!removed) return hipErrorInvalidValue;
  stream.submit(
      [removed = *removed] {
        unmap_opened(removed);
        return hipSuccess;
      },
      Where::kCaller);
  return hipSuccess;
}

hipError_t Backend::share_pool(const Pool& pool, int& descriptor) {
  if (pool->kind() != cpu::Pool::Kind::kShareable) return hipErrorInvalidValue;
  const PoolTicket ticket{kPoolMagic, pool->device().number()};
  descriptor = make_memory_file(sizeof ticket);
  if (descriptor < 0) return hipErrorOutOfMemory;
  if (::pwrite(descriptor, &ticket, sizeof ticket, 0) == static_cast<ssize_t>(sizeof ticket))
    return hipSuccess;
  ::close(descriptor);
  return hipErrorOutOfMemory;
}

hipError_t Backend::open_pool(int descriptor, hipMemPool_t& handle) {
  PoolTicket ticket;
  if (memory_file_bytes(descriptor) != sizeof ticket ||
      ::pread(descriptor, &ticket, sizeof ticket, 0) != static_cast<ssize_t>(sizeof ticket) ||
      ticket.magic != kPoolMagic || ticket.device < 0 || ticket.device >= kMaxDevices)
    return hipErrorInvalidValue;
  Device* const device = Runtime::get().device_of_number(static_cast<int>(ticket.device));
  if (!device) return hipErrorInvalidValue;
  handle = Runtime::get().pools.add(std::make_shared<cpu::Pool>(*device, cpu::Pool::Kind::kImported));
  return handle ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t Backend::share_pool_memory(void* pointer, hipMemPoolPtrExportData& data) {
  Runtime& runtime = Runtime::get();
  const MutexLock lock(runtime.sharing);
  const auto known = runtime.memory.find(pointer);
  if (!known || known->kind != MemoryKind::kDevice || !known->pool ||
      known->pool->kind() != cpu::Pool::Kind::kShareable)
    return hipErrorInvalidValue;
  IpcTicket ticket;
  if (const hipError_t status = share(*known, pointer, ticket)) return status;
  std::memset(&data, 0, sizeof data);
  std::memcpy(data.reserved, &ticket, sizeof ticket);
  return hipSuccess;
}

hipError_t Backend::open_pool_memory(const Pool& pool, const hipMemPoolPtrExportData& data, void*& pointer) {
  if (pool->kind() != cpu::Pool::Kind::kImported) return hipErrorInvalidValue;
  IpcTicket ticket;
  std::memcpy(&ticket, data.reserved, sizeof ticket);
  const hipError_t status = open(ticket, MemoryKind::kImported, pointer);
  return status == hipErrorInvalidDevicePointer ? hipErrorInvalidValue : status;
}

}  // namespace tf::cpu
