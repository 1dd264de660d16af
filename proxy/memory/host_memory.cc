// SPDX-License-Identifier: Apache-2.0
// Allocates, registers and finds host memory.
#include "proxy/memory/host_memory.h"

#include <sys/mman.h>

#include "proxy/memory/shared_file.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

std::uint64_t mapped_bytes(std::uint64_t bytes) {
  return (bytes + kHostPageBytes - 1) & ~(kHostPageBytes - 1);
}

// Maps private pages of this process.
hipError_t map_private(std::uint64_t bytes, std::uint64_t& address) {
  void* got =
      ::mmap(nullptr, mapped_bytes(bytes), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (got == MAP_FAILED) return hipErrorOutOfMemory;
  address = reinterpret_cast<std::uint64_t>(got);
  return hipSuccess;
}

}  // namespace

HostMemory::~HostMemory() {
  for (const auto& [base, range] : ranges_) {
    const bool own_pages = range.owned() && range.home == HostRange::Home::kPrivate;
    if (own_pages) ::munmap(reinterpret_cast<void*>(base), mapped_bytes(range.bytes));
  }
}

hipError_t HostMemory::allocate(HostRange::Kind kind, int device, std::uint64_t bytes, unsigned flags,
                                void*& pointer) {
  if (mapped_bytes(bytes) < bytes) return hipErrorOutOfMemory;
  using Home = HostRange::Home;
  using Kind = HostRange::Kind;
  HostRange range{0, bytes, flags, device, kind};
  const bool shared = window_.access() == protocol::HostAccess::kShared;
  hipError_t error = hipErrorNotSupported;
  if (kind == Kind::kManaged || shared || (kind == Kind::kFineGrained && mirrors_)) {
    error = window_.allocate(bytes, range.base);
    range.home = Home::kBlock;
    range.reachable = true;
  } else if (kind == Kind::kPinned && mirrors_) {
    error = window_.reserve(bytes, range.base);
    range.home = Home::kReserved;
    range.dormant = true;
  }
  // Memory that devices cannot use is better than none, but not if the tenant may have no more.
  if (error != hipSuccess && error != hipErrorOutOfMemory && kind == Kind::kPinned) {
    range.home = Home::kPrivate;
    range.reachable = range.dormant = false;
    error = map_private(bytes, range.base);
  }
  if (error != hipSuccess) return error;
  const MutexLock lock(mutex_);
  ranges_[range.base] = range;
  if (range.dormant) dormant_count_.fetch_add(1, std::memory_order_relaxed);
  if (range.reachable) reached_count_.fetch_add(1, std::memory_order_relaxed);
  pointer = reinterpret_cast<void*>(range.base);
  return hipSuccess;
}

hipError_t HostMemory::release(void* pointer) {
  HostRange range;
  {
    const MutexLock lock(mutex_);
    auto found = ranges_.find(reinterpret_cast<std::uint64_t>(pointer));
    if (found == ranges_.end() || !found->second.owned()) return hipErrorInvalidValue;
    range = found->second;
    ranges_.erase(found);
    if (range.dormant) dormant_count_.fetch_sub(1, std::memory_order_relaxed);
    if (range.reachable) reached_count_.fetch_sub(1, std::memory_order_relaxed);
  }
  switch (range.home) {
    case HostRange::Home::kPrivate: ::munmap(pointer, mapped_bytes(range.bytes)); break;
    case HostRange::Home::kReserved: window_.unreserve(range.base, !range.dormant); break;
    case HostRange::Home::kBlock:
      // The next block there begins with fresh pages, of which none was touched.
      if (window_.access() == protocol::HostAccess::kMirrored)
        static_cast<void>(::madvise(pointer, mapped_bytes(range.bytes), MADV_DONTNEED));
      window_.release(range.base);
      break;
  }
  return hipSuccess;
}

hipError_t HostMemory::add(int device, void* pointer, std::uint64_t bytes, unsigned flags) {
  auto base = reinterpret_cast<std::uint64_t>(pointer);
  if (base + bytes < base) return hipErrorInvalidValue;
  const HostRange range{base, bytes, flags, device, HostRange::Kind::kRegistered};
  {
    const MutexLock lock(mutex_);
    auto next = ranges_.lower_bound(base);
    bool overlaps = next != ranges_.end() && next->first < base + bytes;
    if (overlaps || find_locked(base)) return hipErrorHostMemoryAlreadyRegistered;
    ranges_[base] = range;
  }
  const bool is_shared = window_.access() == protocol::HostAccess::kShared && share(range);
  if (!is_shared && mirrors_) reserve_alias(range);
  return hipSuccess;
}

// Maps the pages into the window, if they can be shared: whole pages around the range.
bool HostMemory::share(const HostRange& range) {
  const std::uint64_t first = range.base & ~(kHostPageBytes - 1);
  const std::uint64_t bytes = mapped_bytes(range.base + range.bytes - first);
  if (bytes == 0) return false;
  const auto shared = find_shared_file(first, bytes);
  std::uint64_t pages = 0;
  if (!shared || window_.map_file(shared->file.get(), shared->offset, bytes, pages) != hipSuccess)
    return false;
  if (!add_alias(range, pages, false)) window_.unmap_file(pages);
  return true;
}

// Nothing is ever at these addresses here: only devices follow them.
void HostMemory::reserve_alias(const HostRange& range) {
  const std::uint64_t first = range.base & ~(kHostPageBytes - 1);
  std::uint64_t pages = 0;
  if (window_.reserve(range.base + range.bytes - first, pages) != hipSuccess) return;
  if (!add_alias(range, pages, true)) window_.unreserve(pages, false);
}

// `pages`: where devices reach, or will reach, the page with the range's begin. False: another thread has
// removed the range.
bool HostMemory::add_alias(const HostRange& range, std::uint64_t pages, bool dormant) {
  HostRange alias = range;
  alias.base = pages + range.base % kHostPageBytes;
  alias.kind = HostRange::Kind::kAlias;
  alias.reachable = true;
  alias.other = range.base;
  alias.dormant = dormant;
  alias.home = dormant ? HostRange::Home::kReserved : HostRange::Home::kPrivate;
  const MutexLock lock(mutex_);
  auto found = ranges_.find(range.base);
  const bool still = found != ranges_.end() && found->second.kind == HostRange::Kind::kRegistered &&
                     found->second.bytes == range.bytes && found->second.other == 0;
  if (!still) return false;
  found->second.other = alias.base;
  found->second.dormant = dormant;
  ranges_[alias.base] = alias;
  has_aliases_.store(true, std::memory_order_relaxed);
  if (dormant) dormant_count_.fetch_add(1, std::memory_order_relaxed);
  if (!dormant) reached_count_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

hipError_t HostMemory::remove(void* pointer) {
  HostRange alias;
  {
    const MutexLock lock(mutex_);
    auto found = ranges_.find(reinterpret_cast<std::uint64_t>(pointer));
    if (found == ranges_.end() || found->second.kind != HostRange::Kind::kRegistered)
      return hipErrorHostMemoryNotRegistered;
    if (const auto other = ranges_.find(found->second.other); other != ranges_.end()) {
      alias = other->second;
      ranges_.erase(other);
    }
    ranges_.erase(reinterpret_cast<std::uint64_t>(pointer));
    if (alias.dormant) dormant_count_.fetch_sub(1, std::memory_order_relaxed);
    if (alias.base != 0 && !alias.dormant) reached_count_.fetch_sub(1, std::memory_order_relaxed);
  }
  if (alias.base == 0) return hipSuccess;
  const std::uint64_t pages = alias.base & ~(kHostPageBytes - 1);
  if (alias.home == HostRange::Home::kReserved)
    window_.unreserve(pages, !alias.dormant);
  else
    window_.unmap_file(pages);
  return hipSuccess;
}

std::optional<HostRange> HostMemory::find_dormant(std::uint64_t address) const {
  if (!window_.inside(address)) return std::nullopt;
  const MutexLock lock(mutex_);
  auto found = find_locked(address);
  return found && found->dormant ? found : std::nullopt;
}

void HostMemory::wake(std::uint64_t base) {
  const MutexLock lock(mutex_);
  const auto found = ranges_.find(base);
  if (found == ranges_.end() || !found->second.dormant) return;
  found->second.dormant = false;
  found->second.reachable = true;
  reached_count_.fetch_add(1, std::memory_order_relaxed);
  if (const auto registered = ranges_.find(found->second.other); registered != ranges_.end())
    registered->second.dormant = false;
  dormant_count_.fetch_sub(1, std::memory_order_relaxed);
}

std::uint64_t HostMemory::alias_of(std::uint64_t address, std::uint64_t bytes, bool dormant_too) const {
  if (!has_aliases_.load(std::memory_order_relaxed)) return address;
  const MutexLock lock(mutex_);
  const auto found = find_locked(address);
  const bool shared = found && found->kind == HostRange::Kind::kRegistered && found->other != 0 &&
                      (dormant_too || !found->dormant) && bytes <= found->bytes - (address - found->base);
  return shared ? found->other + (address - found->base) : address;
}

std::uint64_t HostMemory::seen_by_devices(std::uint64_t address, std::uint64_t bytes) const {
  return alias_of(address, bytes, false);
}

std::uint64_t HostMemory::will_be_seen_by_devices(std::uint64_t address, std::uint64_t bytes) const {
  return alias_of(address, bytes, true);
}

std::uint64_t HostMemory::seen_here(std::uint64_t address) const {
  if (!has_aliases_.load(std::memory_order_relaxed) || !window_.inside(address)) return address;
  const MutexLock lock(mutex_);
  const auto found = find_locked(address);
  const bool elsewhere =
      found && found->kind == HostRange::Kind::kAlias && found->home == HostRange::Home::kReserved;
  return elsewhere ? found->other + (address - found->base) : address;
}

std::optional<HostRange> HostMemory::find_locked(std::uint64_t address) const {
  auto next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return std::nullopt;
  const HostRange& range = std::prev(next)->second;
  if (address - range.base >= range.bytes) return std::nullopt;
  return range;
}

std::optional<HostRange> HostMemory::find(const void* pointer) const {
  const MutexLock lock(mutex_);
  return find_locked(reinterpret_cast<std::uint64_t>(pointer));
}

std::vector<HostRange> HostMemory::managed(int device) const {
  const MutexLock lock(mutex_);
  std::vector<HostRange> found;
  for (const auto& [base, range] : ranges_)
    if (range.kind == HostRange::Kind::kManaged && range.device == device && !range.is_variable)
      found.push_back(range);
  return found;
}

void HostMemory::keep_for_variable(const void* pointer) {
  const MutexLock lock(mutex_);
  const auto found = ranges_.find(reinterpret_cast<std::uint64_t>(pointer));
  if (found != ranges_.end()) found->second.is_variable = true;
}

bool HostMemory::contains(const void* pointer, std::uint64_t bytes) const {
  const MutexLock lock(mutex_);
  auto address = reinterpret_cast<std::uint64_t>(pointer);
  auto found = find_locked(address);
  return found && bytes <= found->bytes - (address - found->base);
}

HostMemory::Reach HostMemory::reach_of(std::uint64_t address, std::uint64_t bytes) const {
  if (!window_.inside(address)) return Reach::kNone;
  const MutexLock lock(mutex_);
  auto found = find_locked(address);
  if (!found) return Reach::kBeyond;
  if (bytes > found->bytes - (address - found->base)) return Reach::kBeyond;
  return found->reachable ? Reach::kWhole : Reach::kNone;
}

bool HostMemory::could_reach(std::uint64_t address, std::uint64_t bytes) const {
  if (!window_.inside(address)) return false;
  const MutexLock lock(mutex_);
  const auto found = find_locked(address);
  return found && (found->reachable || found->dormant) && bytes <= found->bytes - (address - found->base);
}

}  // namespace tf::proxy
