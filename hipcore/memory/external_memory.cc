// SPDX-License-Identifier: Apache-2.0
// Checks and maps external memory, and keeps what was imported.
#include "hipcore/memory/external_memory.h"

#include <sys/mman.h>
#include <unistd.h>

namespace tf::hipcore {
namespace {

constexpr unsigned kDedicated = 1;  // hipExternalMemoryDedicated

}  // namespace

hipError_t check_import(const void* out, const hipExternalMemoryHandleDesc* description) {
  if (out == nullptr || description == nullptr) return hipErrorInvalidValue;
  if ((description->flags & ~kDedicated) != 0 || description->size == 0) return hipErrorInvalidValue;
  const int type = description->type;
  if (type < hipExternalMemoryHandleTypeOpaqueFd || type > hipExternalMemoryHandleTypeD3D11ResourceKmt)
    return hipErrorInvalidValue;
  if (type != hipExternalMemoryHandleTypeOpaqueFd) return hipErrorNotSupported;
  return description->handle.fd < 0 ? hipErrorInvalidValue : hipSuccess;
}

hipError_t check_import(const void* out, const hipExternalSemaphoreHandleDesc* description) {
  if (out == nullptr || description == nullptr) return hipErrorInvalidValue;
  const int type = description->type;
  if (type < hipExternalSemaphoreHandleTypeOpaqueFd || type > hipExternalSemaphoreHandleTypeD3D12Fence)
    return hipErrorInvalidValue;
  return hipErrorNotSupported;
}

void* map_external(int descriptor, std::size_t bytes) {
  const off_t end = ::lseek(descriptor, 0, SEEK_END);
  if (end < 0 || static_cast<std::uintmax_t>(end) < bytes) return nullptr;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

void unmap_external(void* memory, std::size_t bytes) { ::munmap(memory, bytes); }

hipExternalMemory_t ExternalMemories::add(const Memory& memory) {
  const MutexLock lock(mutex_);
  if (entries_.size() >= kExternalMemoriesMax) return nullptr;
  any_.store(true, std::memory_order_relaxed);
  entries_.emplace(++last_, Entry{memory, {}});
  return reinterpret_cast<hipExternalMemory_t>(last_);
}

hipError_t ExternalMemories::buffer(hipExternalMemory_t handle,
                                    const hipExternalMemoryBufferDesc& description, void*& pointer) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(reinterpret_cast<std::uintptr_t>(handle));
  if (found == entries_.end() || description.flags != 0 || description.size == 0) return hipErrorInvalidValue;
  const Memory& memory = found->second.memory;
  if (description.offset > memory.bytes || description.size > memory.bytes - description.offset)
    return hipErrorInvalidValue;
  pointer = memory.device + description.offset;
  ++found->second.buffers[pointer];
  return hipSuccess;
}

std::optional<ExternalMemories::Memory> ExternalMemories::remove(hipExternalMemory_t handle) {
  const MutexLock lock(mutex_);
  const auto found = entries_.find(reinterpret_cast<std::uintptr_t>(handle));
  if (found == entries_.end()) return std::nullopt;
  const Memory memory = found->second.memory;
  entries_.erase(found);
  return memory;
}

bool ExternalMemories::free(const void* pointer) {
  if (!any_.load(std::memory_order_relaxed)) return false;
  const MutexLock lock(mutex_);
  for (auto& [handle, entry] : entries_) {
    const auto found = entry.buffers.find(pointer);
    if (found == entry.buffers.end()) continue;
    if (--found->second == 0) entry.buffers.erase(found);
    return true;
  }
  return false;
}

}  // namespace tf::hipcore
