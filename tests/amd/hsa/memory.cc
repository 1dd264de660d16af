// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

namespace tf::amd::hsa {
namespace {

constexpr std::size_t kLargePageBytes = 2 * 1024 * 1024;
// Where agents' memory is asked to lie: far from what programs and the system map by themselves, so that
// another process can usually map it at the same address.
constexpr std::uint64_t kFirstAddress = 0x2000'0000'0000;
constexpr std::uint64_t kAddressesOfAgent = 0x0080'0000'0000;

std::size_t whole_pages(std::size_t bytes) { return (bytes + kPageBytes - 1) / kPageBytes * kPageBytes; }

// Maps pages that a child of fork() does not get: they belong to this process's agents, as the kernel
// driver's do.
void* map_here(void* address, std::size_t bytes, int protection, int flags, int descriptor, off_t offset) {
  void* mapped = mmap(address, bytes, protection, flags | MAP_NORESERVE, descriptor, offset);
  if (mapped != MAP_FAILED) madvise(mapped, bytes, MADV_DONTFORK);
  return mapped;
}

bool holds(const Allocation& allocation, std::uint64_t address) {
  return address >= allocation.base && address < allocation.end();
}

}  // namespace

std::unique_ptr<Arena> Arena::create(const char* name, std::size_t bytes, std::uint64_t near_address) {
  std::unique_ptr<Arena> arena(new Arena);
  arena->capacity_ = whole_pages(bytes);
  arena->reserved_ = 2 * arena->capacity_;
  arena->descriptor_ = memfd_create(name, MFD_CLOEXEC);
  if (arena->descriptor_ < 0) return nullptr;
  if (ftruncate(arena->descriptor_, static_cast<off_t>(arena->reserved_)) != 0) return nullptr;
  void* base =
      map_here(pointer_to(near_address), arena->reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) return nullptr;
  arena->base_ = number_of(base);
  arena->free_.emplace(0, arena->reserved_);
  return arena;
}

Arena::~Arena() {
  if (base_ != 0) munmap(pointer_to(base_), reserved_);
  if (descriptor_ >= 0) close(descriptor_);
}

void* Arena::take(std::size_t bytes, std::size_t alignment) {
  if (bytes > available()) return nullptr;
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [offset, length] = *range;
    const std::uint64_t begin = (base_ + offset + alignment - 1) / alignment * alignment - base_;
    if (begin + bytes > offset + length) continue;
    void* address = map_here(pointer_to(base_ + begin), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                             descriptor_, static_cast<off_t>(begin));
    if (address == MAP_FAILED) return nullptr;
    free_.erase(range);
    if (begin > offset) free_.emplace(offset, begin - offset);
    const std::uint64_t end = begin + bytes;
    if (end < offset + length) free_.emplace(end, offset + length - end);
    used_ += bytes;
    return address;
  }
  return nullptr;
}

void Arena::give_back(void* address, std::size_t bytes, bool reusable) {
  map_here(address, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  used_ -= bytes;
  if (!reusable) return;
  std::uint64_t begin = number_of(address) - base_;
  std::uint64_t end = begin + bytes;
  // Without these pages the next owner sees zeros, as from the kernel driver.
  fallocate(descriptor_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(begin),
            static_cast<off_t>(bytes));
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == end) {
    end += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      begin = before->first;
      free_.erase(before);
    }
  }
  free_.emplace(begin, end - begin);
}

bool Arena::claim(std::size_t bytes) {
  if (bytes > available()) return false;
  used_ += bytes;
  return true;
}

bool Memory::add_owner(const char* name, std::size_t bytes) {
  const std::unique_lock lock(mutex_);
  auto arena = Arena::create(name, bytes, kFirstAddress + arenas_.size() * kAddressesOfAgent);
  if (!arena) return false;
  arenas_.push_back(std::move(arena));
  return true;
}

void Memory::abandon() {
  for (const auto& arena : arenas_) close(arena->descriptor());
}

void* Memory::allocate(unsigned owner, std::size_t bytes, std::uint32_t global_flags, AgentMask agents) {
  const std::unique_lock lock(mutex_);
  const std::size_t rounded = whole_pages(bytes);
  if (owner >= arenas_.size() || bytes == 0 || rounded < bytes) return nullptr;
  void* address = arenas_[owner]->take(rounded, rounded >= kLargePageBytes ? kLargePageBytes : kPageBytes);
  if (address == nullptr) return nullptr;
  Allocation allocation;
  allocation.base = number_of(address);
  allocation.bytes = rounded;
  allocation.requested = bytes;
  allocation.owner = owner;
  allocation.global_flags = global_flags;
  allocation.agents = agents;
  allocations_.emplace(allocation.base, allocation);
  return address;
}

bool Memory::release(const void* address) {
  const std::unique_lock lock(mutex_);
  const auto found = allocations_.find(number_of(address));
  if (found == allocations_.end() || found->second.origin != Origin::kPool) return false;
  const Allocation& allocation = found->second;
  arenas_[allocation.owner]->give_back(pointer_to(allocation.base), allocation.bytes, !allocation.exported);
  allocations_.erase(found);
  generation_.fetch_add(1);
  return true;
}

bool Memory::allow(const void* address, AgentMask agents) {
  const std::unique_lock lock(mutex_);
  auto* allocation = const_cast<Allocation*>(locate(number_of(address)));
  const bool fixed = allocation != nullptr &&
                     (allocation->origin == Origin::kLocked || allocation->origin == Origin::kMapped);
  if (allocation == nullptr || fixed) return false;
  allocation->agents = agents | agent_bit(allocation->owner);
  generation_.fetch_add(1);
  return true;
}

void Memory::lock(const void* address, std::size_t bytes, AgentMask agents) {
  const std::unique_lock lock(mutex_);
  const std::uint64_t begin = number_of(address) / kPageBytes * kPageBytes;
  const std::size_t rounded = whole_pages(number_of(address) - begin + bytes);
  const auto [first, last] = locked_.equal_range(begin);
  const auto same =
      std::find_if(first, last, [&](const auto& entry) { return entry.second.bytes == rounded; });
  if (same != last) {
    same->second.agents |= agents;
    same->second.locks++;
    return;
  }
  Allocation allocation;
  allocation.base = begin;
  allocation.bytes = rounded;
  allocation.requested = bytes;
  allocation.origin = Origin::kLocked;
  allocation.agents = agents | agent_bit(0);
  allocation.locks = 1;
  locked_.emplace(begin, allocation);
}

bool Memory::unlock(const void* address) {
  const std::unique_lock lock(mutex_);
  const auto found = locked_.find(number_of(address) / kPageBytes * kPageBytes);
  if (found == locked_.end()) return false;
  if (--found->second.locks == 0) locked_.erase(found);
  generation_.fetch_add(1);
  return true;
}

std::optional<Place> Memory::export_place(const void* address, std::size_t bytes) {
  const std::unique_lock lock(mutex_);
  const auto found = allocations_.find(number_of(address));
  if (found == allocations_.end() || found->second.origin != Origin::kPool) return std::nullopt;
  Allocation& allocation = found->second;
  if (bytes != allocation.requested && bytes != allocation.bytes) return std::nullopt;
  allocation.exported = true;
  const Arena& arena = *arenas_[allocation.owner];
  return Place{arena.descriptor(), arena.offset_of(allocation.base), allocation.bytes};
}

void* Memory::attach(const Place& place, unsigned owner, AgentMask agents) {
  void* address = map_here(nullptr, place.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, place.descriptor,
                           static_cast<off_t>(place.offset));
  if (address == MAP_FAILED) return nullptr;
  Allocation allocation;
  allocation.base = number_of(address);
  allocation.bytes = place.bytes;
  allocation.requested = place.bytes;
  allocation.origin = Origin::kAttached;
  allocation.owner = owner;
  allocation.agents = agents;
  const std::unique_lock lock(mutex_);
  allocations_.emplace(allocation.base, allocation);
  return address;
}

bool Memory::detach(const void* address) {
  const std::unique_lock lock(mutex_);
  const auto found = allocations_.find(number_of(address));
  if (found == allocations_.end() || found->second.origin != Origin::kAttached) return false;
  munmap(pointer_to(found->second.base), found->second.bytes);
  allocations_.erase(found);
  generation_.fetch_add(1);
  return true;
}

bool Memory::claim(unsigned owner, std::size_t bytes) {
  const std::unique_lock lock(mutex_);
  return owner < arenas_.size() && arenas_[owner]->claim(bytes);
}

void Memory::disclaim(unsigned owner, std::size_t bytes) {
  const std::unique_lock lock(mutex_);
  arenas_[owner]->disclaim(bytes);
}

void Memory::add_mapped(const void* address, std::size_t bytes, unsigned owner, std::uint32_t global_flags) {
  Allocation allocation;
  allocation.base = number_of(address);
  allocation.bytes = bytes;
  allocation.requested = bytes;
  allocation.origin = Origin::kMapped;
  allocation.owner = owner;
  allocation.global_flags = global_flags;
  const std::unique_lock lock(mutex_);
  allocations_.emplace(allocation.base, allocation);
}

void Memory::remove_mapped(const void* address) {
  const std::unique_lock lock(mutex_);
  allocations_.erase(number_of(address));
  generation_.fetch_add(1);
}

void Memory::set_mapped_access(const void* address, AgentMask agents, AgentMask writers) {
  const std::unique_lock lock(mutex_);
  const auto found = allocations_.find(number_of(address));
  if (found == allocations_.end()) return;
  found->second.agents = agents;
  found->second.readers = agents & ~writers;
  generation_.fetch_add(1);
}

// REQUIRES: mutex_ held
const Allocation* Memory::locate(std::uint64_t address) const {
  auto next = allocations_.upper_bound(address);
  if (next != allocations_.begin() && holds(std::prev(next)->second, address))
    return &std::prev(next)->second;
  const Allocation* furthest =
      nullptr;  // locked ranges overlap: AMD's runtime keeps some locked for later copies
  for (const auto& [base, allocation] : locked_) {
    if (base > address) break;
    if (holds(allocation, address) && (furthest == nullptr || allocation.end() > furthest->end()))
      furthest = &allocation;
  }
  return furthest;
}

std::optional<Allocation> Memory::find(const void* address) const {
  const std::shared_lock lock(mutex_);
  const Allocation* allocation = locate(number_of(address));
  if (allocation == nullptr) return std::nullopt;
  return *allocation;
}

bool Memory::set_user_data(const void* address, void* user_data) {
  const std::unique_lock lock(mutex_);
  auto* allocation = const_cast<Allocation*>(locate(number_of(address)));
  if (allocation == nullptr) return false;
  allocation->user_data = user_data;
  return true;
}

bool Memory::reaches(unsigned agent, const void* address, std::size_t bytes) const {
  if (agent == 0) return true;
  const std::shared_lock lock(mutex_);
  const std::uint64_t end = number_of(address) + bytes;
  for (std::uint64_t at = number_of(address);;) {
    const Allocation* allocation = locate(at);
    if (allocation == nullptr || (allocation->agents & agent_bit(agent)) == 0) return false;
    if (end <= allocation->end()) return true;
    if (allocation->origin != Origin::kLocked && allocation->origin != Origin::kMapped) return false;
    at = allocation->end();
  }
}

std::size_t Memory::available(unsigned owner) const {
  const std::shared_lock lock(mutex_);
  return owner < arenas_.size() ? arenas_[owner]->available() : 0;
}

std::optional<isa::AddressSpace::Range> AgentMemory::find(std::uint64_t address) const {
  const std::optional<Allocation> allocation = memory_.find(pointer_to(address));
  if (!allocation || (allocation->agents & agent_bit(agent_)) == 0) return std::nullopt;
  return Range{allocation->base, allocation->end(), (allocation->readers & agent_bit(agent_)) == 0};
}

}  // namespace tf::amd::hsa
