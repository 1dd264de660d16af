// SPDX-License-Identifier: Apache-2.0
// Reserved addresses and the memory mapped into them.
#include "worker/runtime/cpu/virtual_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <iterator>
#include <utility>
#include <vector>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/memory_file.h"
#include "worker/runtime/cpu/memory_map.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

constexpr std::size_t kMaxAlignment_bytes = std::size_t{1} << 40;

void* pointer_to(std::uintptr_t address) { return reinterpret_cast<void*>(address); }
bool whole_pages(std::size_t value) { return value % kHugePage_bytes == 0; }

constexpr int kReserveFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

// Address space without memory, at a multiple of `alignment`; null when there is none.
void* reserve_anywhere(std::size_t bytes, std::size_t alignment) {
  if (bytes > SIZE_MAX - alignment) return nullptr;
  void* const base = ::mmap(nullptr, bytes + alignment, PROT_NONE, kReserveFlags, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  const std::uintptr_t start = address_of(base);
  const std::uintptr_t aligned = round_up(start, alignment);
  if (aligned > start) ::munmap(base, aligned - start);
  const std::uintptr_t end = start + bytes + alignment;
  if (end > aligned + bytes) ::munmap(pointer_to(aligned + bytes), end - (aligned + bytes));
  return pointer_to(aligned);
}

void* reserve_at(void* wish, std::size_t bytes) {
  void* const base = ::mmap(wish, bytes, PROT_NONE, kReserveFlags | MAP_FIXED_NOREPLACE, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  if (base == wish) return base;
  ::munmap(base, bytes);  // a kernel that does not know the flag
  return nullptr;
}

}  // namespace

Physical::~Physical() {
  ::close(descriptor_);
  if (booked_ == Booked::kYes) Runtime::get().device(device_).give_memory(bytes_);
}

hipError_t VirtualMemory::reserve(void** pointer, std::size_t bytes, std::size_t alignment, void* wish) {
  if (alignment == 0) alignment = kHugePage_bytes;
  if (bytes == 0 || !whole_pages(bytes)) return hipErrorInvalidValue;
  if ((alignment & (alignment - 1)) || alignment > kMaxAlignment_bytes) return hipErrorInvalidValue;
  if (alignment < kHugePage_bytes) alignment = kHugePage_bytes;
  const MutexLock lock(mutex_);
  if (reservations_.size() >= kMaxRanges) return hipErrorOutOfMemory;
  void* base = wish && address_of(wish) % alignment == 0 ? reserve_at(wish, bytes) : nullptr;
  // The address is only a wish: if it is taken, another one will do, as with AMD's runtime.
  if (!base) base = reserve_anywhere(bytes, alignment);
  if (!base) return hipErrorOutOfMemory;
  reservations_.emplace(address_of(base), bytes);
  *pointer = base;
  return hipSuccess;
}

hipError_t VirtualMemory::free(void* pointer, std::size_t bytes) {
  const MutexLock lock(mutex_);
  const auto found = reservations_.find(address_of(pointer));
  if (found == reservations_.end() || found->second != bytes) return hipErrorInvalidValue;
  if (overlaps_mapping(found->first, bytes)) return hipErrorInvalidValue;
  ::munmap(pointer, bytes);
  reservations_.erase(found);
  return hipSuccess;
}

hipError_t VirtualMemory::granularity(const hipMemAllocationProp&, hipMemAllocationGranularity_flags,
                                      std::size_t& bytes) {
  bytes = kHugePage_bytes;
  return hipSuccess;
}

hipError_t VirtualMemory::create(hipMemGenericAllocationHandle_t* handle, std::size_t bytes,
                                 const hipMemAllocationProp& wish) {
  Runtime& runtime = Runtime::get();
  if (bytes == 0 || !whole_pages(bytes)) return hipErrorInvalidValue;
  Device& device = runtime.device(wish.location.id);
  if (!device.take_memory(bytes)) return hipErrorOutOfMemory;
  const int descriptor = make_memory_file(bytes);
  if (descriptor < 0) {
    device.give_memory(bytes);
    return hipErrorOutOfMemory;
  }
  return adopt(handle,
               std::make_shared<Physical>(wish.location.id, descriptor, bytes, wish, Physical::Booked::kYes));
}

hipError_t VirtualMemory::adopt(hipMemGenericAllocationHandle_t* handle, std::shared_ptr<Physical> physical) {
  const MutexLock lock(mutex_);
  if (handles_.size() >= kMaxRanges) return hipErrorOutOfMemory;
  Physical* const key = physical.get();
  handles_.emplace(key, Handle{std::move(physical), 1});
  *handle = reinterpret_cast<hipMemGenericAllocationHandle_t>(key);
  return hipSuccess;
}

hipError_t VirtualMemory::import(hipMemGenericAllocationHandle_t* handle, int descriptor) {
  const int copy = ::fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  if (copy < 0) return hipErrorInvalidValue;
  const std::size_t bytes = memory_file_bytes(copy);
  if (bytes == 0 || !whole_pages(bytes)) {
    ::close(copy);
    return hipErrorInvalidValue;
  }
  hipMemAllocationProp properties;
  std::memset(&properties, 0, sizeof properties);
  properties.type = hipMemAllocationTypePinned;
  properties.location = {hipMemLocationTypeDevice, thread_state().device};
  properties.requestedHandleType = hipMemHandleTypePosixFileDescriptor;
  may_be_shared_.store(true, std::memory_order_relaxed);
  return adopt(handle, std::make_shared<Physical>(thread_state().device, copy, bytes, properties,
                                                  Physical::Booked::kNo));
}

hipError_t VirtualMemory::export_to(hipMemGenericAllocationHandle_t handle, int& descriptor) {
  const auto physical = find(handle);
  if (!physical) return hipErrorInvalidValue;
  may_be_shared_.store(true, std::memory_order_relaxed);
  Runtime::get().late_work.wait();  // before others get the memory
  descriptor = ::fcntl(physical->descriptor(), F_DUPFD_CLOEXEC, 0);
  return descriptor < 0 ? hipErrorOutOfMemory : hipSuccess;
}

hipError_t VirtualMemory::properties(hipMemGenericAllocationHandle_t handle,
                                     hipMemAllocationProp& properties) {
  const auto physical = find(handle);
  if (!physical) return hipErrorInvalidValue;
  properties = physical->properties();
  return hipSuccess;
}

hipError_t VirtualMemory::release(hipMemGenericAllocationHandle_t handle) {
  std::shared_ptr<Physical> last;  // freed outside the lock
  const MutexLock lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return hipErrorInvalidValue;
  if (--found->second.references > 0) return hipSuccess;
  last = std::move(found->second.physical);
  handles_.erase(found);
  return hipSuccess;
}

std::shared_ptr<Physical> VirtualMemory::find(hipMemGenericAllocationHandle_t handle) {
  const MutexLock lock(mutex_);
  const auto found = handles_.find(handle);
  return found == handles_.end() ? nullptr : found->second.physical;
}

hipError_t VirtualMemory::retain(hipMemGenericAllocationHandle_t* handle, void* address) {
  const MutexLock lock(mutex_);
  auto mapping = mappings_.upper_bound(address_of(address));
  if (mapping == mappings_.begin()) return hipErrorInvalidValue;
  --mapping;
  if (address_of(address) - mapping->first >= mapping->second.bytes) return hipErrorInvalidValue;
  const std::shared_ptr<Physical>& physical = mapping->second.physical;
  const auto [entry, fresh] = handles_.try_emplace(physical.get(), Handle{physical, 0});
  ++entry->second.references;
  *handle = reinterpret_cast<hipMemGenericAllocationHandle_t>(physical.get());
  return hipSuccess;
}

bool VirtualMemory::reserved(std::uintptr_t base, std::size_t bytes) const {
  auto range = reservations_.upper_bound(base);
  if (range == reservations_.begin()) return false;
  --range;
  const std::uintptr_t offset = base - range->first;
  return offset < range->second && bytes <= range->second - offset;
}

bool VirtualMemory::overlaps_mapping(std::uintptr_t base, std::size_t bytes) const {
  const auto next = mappings_.lower_bound(base);
  if (next != mappings_.end() && next->first - base < bytes) return true;
  if (next == mappings_.begin()) return false;
  const auto previous = std::prev(next);
  return base - previous->first < previous->second.bytes;
}

bool VirtualMemory::mapped(std::uintptr_t base, std::size_t bytes) const {
  std::size_t covered = 0;
  for (auto range = mappings_.find(base); covered < bytes; ++range) {
    if (range == mappings_.end() || range->first != base + covered) return false;
    covered += range->second.bytes;
  }
  return covered == bytes && bytes > 0;
}

hipError_t VirtualMemory::map(void* pointer, std::size_t bytes, std::size_t offset,
                              hipMemGenericAllocationHandle_t handle) {
  const MutexLock lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end() || bytes == 0 || !whole_pages(bytes) || !whole_pages(offset))
    return hipErrorInvalidValue;
  const std::uintptr_t base = address_of(pointer);
  const std::shared_ptr<Physical>& physical = found->second.physical;
  if (offset > physical->bytes() || bytes > physical->bytes() - offset) return hipErrorInvalidValue;
  if (!whole_pages(base) || !reserved(base, bytes) || overlaps_mapping(base, bytes))
    return hipErrorInvalidValue;
  if (mappings_.size() >= kMaxRanges) return hipErrorOutOfMemory;
  Allocation allocation;
  allocation.base = base;
  allocation.bytes = bytes;
  allocation.kind = MemoryKind::kMapped;
  allocation.device = physical->device();
  if (!Runtime::get().begin_memory(allocation)) return hipErrorInvalidValue;
  void* const at = ::mmap(pointer, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, physical->descriptor(),
                          static_cast<off_t>(offset));
  if (at == MAP_FAILED) {
    // The kernel may have removed the reservation before it failed.
    static_cast<void>(::mmap(pointer, bytes, PROT_NONE, kReserveFlags | MAP_FIXED, -1, 0));
    Runtime::get().memory.remove(pointer);
    return hipErrorMapFailed;
  }
  mappings_.emplace(base, Mapping{bytes, physical, {}});
  return hipSuccess;
}

hipError_t VirtualMemory::unmap(void* pointer, std::size_t bytes) {
  static_cast<void>(Runtime::get().synchronize());  // failed work no longer uses it
  std::vector<std::shared_ptr<Physical>> last;      // freed outside the lock
  const MutexLock lock(mutex_);
  const std::uintptr_t base = address_of(pointer);
  if (!mapped(base, bytes)) return hipErrorInvalidValue;
  // The reservation stays: no other mapping may slip in.
  if (::mmap(pointer, bytes, PROT_NONE, kReserveFlags | MAP_FIXED, -1, 0) == MAP_FAILED)
    return hipErrorUnmapFailed;
  auto range = mappings_.find(base);
  while (range != mappings_.end() && range->first - base < bytes) {
    Runtime::get().end_memory(pointer_to(range->first));
    last.push_back(std::move(range->second.physical));
    range = mappings_.erase(range);
  }
  return hipSuccess;
}

hipError_t VirtualMemory::set_access(void* pointer, std::size_t bytes,
                                     std::span<const hipMemAccessDesc> wishes) {
  for (const hipMemAccessDesc& wish : wishes)
    if (wish.flags != hipMemAccessFlagsProtNone && wish.flags != hipMemAccessFlagsProtRead &&
        wish.flags != hipMemAccessFlagsProtReadWrite)
      return hipErrorInvalidValue;
  Runtime::get().late_work.wait();  // its call was made before the memory changes
  const MutexLock lock(mutex_);
  const std::uintptr_t base = address_of(pointer);
  if (!mapped(base, bytes)) return hipErrorInvalidValue;
  for (auto range = mappings_.find(base); range != mappings_.end() && range->first - base < bytes; ++range) {
    Mapping& mapping = range->second;
    for (const hipMemAccessDesc& wish : wishes)
      mapping.access[static_cast<std::size_t>(wish.location.id)] = wish.flags;
    int protection = PROT_NONE;
    for (const hipMemAccessFlags flags : mapping.access) {
      if (flags != hipMemAccessFlagsProtNone) protection |= PROT_READ;
      if (flags == hipMemAccessFlagsProtReadWrite) protection |= PROT_WRITE;
    }
    if (::mprotect(pointer_to(range->first), mapping.bytes, protection) != 0) return hipErrorOutOfMemory;
  }
  return hipSuccess;
}

hipError_t VirtualMemory::access(int device, void* pointer, unsigned long long& flags) {
  const MutexLock lock(mutex_);
  auto range = mappings_.upper_bound(address_of(pointer));
  if (range == mappings_.begin()) return hipErrorInvalidValue;
  --range;
  if (address_of(pointer) - range->first >= range->second.bytes) return hipErrorInvalidValue;
  flags = range->second.access[static_cast<std::size_t>(device)];
  return hipSuccess;
}

}  // namespace tf::cpu
