// SPDX-License-Identifier: Apache-2.0
#include "tests/amd/hsa/virtual_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

namespace tf::amd::hsa {
namespace {

constexpr std::uint64_t kTrailerMagic = 0x6d656d76'5a1d0001;

constexpr auto kNoAccess = hsa_access_permission_t{};  // HSA_ACCESS_PERMISSION_NONE of later headers

// In the page behind the memory.
struct Trailer {
  std::uint64_t magic = kTrailerMagic;
  std::uint64_t bytes = 0;
  PhysicalPool pool;
};

// A child of fork() gets none of it, as of other memory of agents (memory.h).
void* kept_from_children(void* mapped, std::size_t bytes) {
  if (mapped != MAP_FAILED) madvise(mapped, bytes, MADV_DONTFORK);
  return mapped;
}

void* map_nothing(void* address, std::size_t bytes, int how) {
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  return kept_from_children(mmap(address, bytes, PROT_NONE, kFlags | how, -1, 0), bytes);
}

}  // namespace

// Closes its file with the last handle or mapping.
class VirtualMemory::Physical {
 public:
  // None: no room, or the system refuses the file.
  static std::shared_ptr<Physical> create(Memory& memory, const PhysicalPool& pool, std::size_t bytes) {
    if (!memory.claim(pool.owner, bytes)) return nullptr;
    std::shared_ptr<Physical> made(new Physical(&memory, pool, bytes, memfd_create("hsa-vmem", MFD_CLOEXEC)));
    const Trailer trailer{.bytes = bytes, .pool = pool};
    const auto end = static_cast<off_t>(bytes);
    if (made->file_ < 0 || ftruncate(made->file_, end + static_cast<off_t>(kPageBytes)) != 0 ||
        pwrite(made->file_, &trailer, sizeof trailer, end) != sizeof trailer)
      return nullptr;
    return made;
  }

  // Memory of whoever exported it, also of this process: its budget is charged there. None: no such file.
  static std::shared_ptr<Physical> open(int file, unsigned owners) {
    struct stat status {};
    Trailer trailer;
    const int own = fcntl(file, F_DUPFD_CLOEXEC, 0);
    std::shared_ptr<Physical> made(new Physical(nullptr, {}, 0, own));
    if (own < 0 || fstat(own, &status) != 0 || status.st_size <= static_cast<off_t>(kPageBytes))
      return nullptr;
    const off_t end = status.st_size - static_cast<off_t>(kPageBytes);
    if (pread(own, &trailer, sizeof trailer, end) != sizeof trailer || trailer.magic != kTrailerMagic ||
        trailer.bytes != static_cast<std::uint64_t>(end) || trailer.pool.owner >= owners)
      return nullptr;
    made->pool_ = trailer.pool;
    made->bytes_ = trailer.bytes;
    return made;
  }

  ~Physical() {
    if (file_ >= 0) close(file_);
    if (budget_ != nullptr) budget_->disclaim(pool_.owner, bytes_);
  }
  Physical(const Physical&) = delete;
  Physical& operator=(const Physical&) = delete;

  int file() const { return file_; }
  std::size_t bytes() const { return bytes_; }
  const PhysicalPool& pool() const { return pool_; }

 private:
  Physical(Memory* budget, const PhysicalPool& pool, std::size_t bytes, int file)
      : budget_(budget), pool_(pool), bytes_(bytes), file_(file) {}

  Memory* budget_;  // null: somebody else's
  PhysicalPool pool_;
  std::size_t bytes_;
  int file_;
};

void VirtualMemory::abandon() {
  std::set<int> files;
  for (const auto& [handle, one] : handles_) files.insert(one.physical->file());
  for (const auto& [address, mapping] : mappings_) files.insert(mapping.physical->file());
  for (const int file : files) close(file);
}

// --- Addresses ------------------------------------------------------------------------------------------

void* VirtualMemory::reserve(std::size_t bytes, std::uint64_t wanted, std::size_t alignment) {
  if (wanted % alignment != 0) wanted = 0;
  const std::size_t whole = bytes + alignment - kPageBytes;
  void* const begin = map_nothing(pointer_to(wanted), whole, 0);
  if (begin == MAP_FAILED) return nullptr;
  const std::uint64_t at = (number_of(begin) + alignment - 1) / alignment * alignment;
  const std::uint64_t end = number_of(begin) + whole;
  if (at != number_of(begin)) munmap(begin, at - number_of(begin));
  if (at + bytes != end) munmap(pointer_to(at + bytes), end - at - bytes);
  const std::lock_guard lock(mutex_);
  reserved_.emplace(at, bytes);
  return pointer_to(at);
}

hsa_status_t VirtualMemory::unreserve(const void* address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = reserved_.find(number_of(address));
  if (found == reserved_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (found->second != bytes) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  if (is_mapped(found->first, bytes)) return HSA_STATUS_ERROR_RESOURCE_FREE;
  munmap(pointer_to(found->first), bytes);
  reserved_.erase(found);
  return HSA_STATUS_SUCCESS;
}

std::optional<VirtualMemory::Reserved> VirtualMemory::find(const void* address) const {
  const std::lock_guard lock(mutex_);
  auto next = reserved_.upper_bound(number_of(address));
  if (next == reserved_.begin()) return std::nullopt;
  const auto [base, bytes] = *std::prev(next);
  if (number_of(address) >= base + bytes) return std::nullopt;
  return Reserved{pointer_to(base), bytes};
}

// Whether all of it lies in one reserved range. REQUIRES: mutex_ held, as for the next two.
bool VirtualMemory::is_reserved(std::uint64_t base, std::size_t bytes) const {
  auto next = reserved_.upper_bound(base);
  if (next == reserved_.begin()) return false;
  const auto& [begin, length] = *std::prev(next);
  return bytes <= length && base - begin <= length - bytes;
}

// Whether any of it is.
bool VirtualMemory::is_mapped(std::uint64_t base, std::size_t bytes) const {
  const auto next = mappings_.lower_bound(base + bytes);
  return next != mappings_.begin() && std::prev(next)->first + std::prev(next)->second.bytes > base;
}

const VirtualMemory::Mapping* VirtualMemory::mapping_of(std::uint64_t address) const {
  const auto next = mappings_.upper_bound(address);
  if (next == mappings_.begin() || address >= std::prev(next)->first + std::prev(next)->second.bytes)
    return nullptr;
  return &std::prev(next)->second;
}

// --- Physical memory ------------------------------------------------------------------------------------

// REQUIRES: mutex_ held
std::uint64_t VirtualMemory::add(std::shared_ptr<Physical> physical) {
  const std::uint64_t handle = next_handle_;
  next_handle_ += physical->bytes();
  handles_.emplace(handle, Handle{.physical = std::move(physical)});
  return handle;
}

hsa_status_t VirtualMemory::create(const PhysicalPool& pool, std::size_t bytes, std::uint64_t& handle) {
  std::shared_ptr<Physical> physical = Physical::create(memory_, pool, bytes);
  if (physical == nullptr) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const std::lock_guard lock(mutex_);
  handle = add(std::move(physical));
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::release(std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (--found->second.references == 0) handles_.erase(found);
  return HSA_STATUS_SUCCESS;
}

std::optional<PhysicalPool> VirtualMemory::pool_of(std::uint64_t handle) const {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return std::nullopt;
  return found->second.physical->pool();
}

hsa_status_t VirtualMemory::export_handle(std::uint64_t handle, int& file) const {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  file = fcntl(found->second.physical->file(), F_DUPFD_CLOEXEC, 0);
  return file >= 0 ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR_OUT_OF_RESOURCES;
}

hsa_status_t VirtualMemory::import_handle(int file, unsigned owners, std::uint64_t& handle) {
  std::shared_ptr<Physical> physical = Physical::open(file, owners);
  if (physical == nullptr) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const std::lock_guard lock(mutex_);
  handle = add(std::move(physical));
  return HSA_STATUS_SUCCESS;
}

// --- Mappings -------------------------------------------------------------------------------------------

// Nobody may touch it before set_access().
hsa_status_t VirtualMemory::map(void* address, std::size_t bytes, std::uint64_t handle) {
  const std::lock_guard lock(mutex_);
  const auto found = handles_.find(handle);
  if (found == handles_.end()) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  const std::shared_ptr<Physical>& physical = found->second.physical;
  const std::uint64_t base = number_of(address);
  if (bytes != physical->bytes() || !is_reserved(base, bytes) || is_mapped(base, bytes))
    return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  constexpr int kFlags = MAP_SHARED | MAP_FIXED | MAP_NORESERVE;
  void* const mapped = mmap(address, bytes, PROT_NONE, kFlags, physical->file(), 0);
  if (kept_from_children(mapped, bytes) == MAP_FAILED) return HSA_STATUS_ERROR_OUT_OF_RESOURCES;
  const PhysicalPool& pool = physical->pool();
  memory_.add_mapped(address, bytes, pool.owner, pool.global_flags);
  mappings_.emplace(base, Mapping{.bytes = bytes, .handle = handle, .physical = physical, .access = {}});
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::unmap(void* address, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto found = mappings_.find(number_of(address));
  if (found == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  if (found->second.bytes != bytes) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  memory_.remove_mapped(address);
  if (map_nothing(address, bytes, MAP_FIXED) == MAP_FAILED) return HSA_STATUS_ERROR;
  mappings_.erase(found);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::retain(const void* address, std::uint64_t& handle) {
  const std::lock_guard lock(mutex_);
  const auto mapping = mappings_.find(number_of(address));
  if (mapping == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  handle = mapping->second.handle;
  // A handle that was released comes back with its number.
  const auto [at, is_new] = handles_.try_emplace(handle, Handle{.physical = mapping->second.physical});
  if (!is_new) ++at->second.references;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::set_access(void* address, std::size_t bytes, std::span<const Access> wanted) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t begin = number_of(address);
  if (!is_reserved(begin, bytes)) return HSA_STATUS_ERROR_INVALID_ARGUMENT;
  for (std::uint64_t at = begin; at < begin + bytes;) {
    const auto found = mappings_.find(at);
    if (found == mappings_.end()) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
    at += found->second.bytes;
  }
  for (auto mapping = mappings_.find(begin); mapping != mappings_.end() && mapping->first < begin + bytes;
       ++mapping)
    if (const hsa_status_t status = change_access(mapping->first, mapping->second, wanted);
        status != HSA_STATUS_SUCCESS)
      return status;
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::allow(const void* address, std::span<const Access> wanted) {
  const std::lock_guard lock(mutex_);
  if (mapping_of(number_of(address)) == nullptr) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  auto mapping = std::prev(mappings_.upper_bound(number_of(address)));
  for (std::uint64_t next = mapping->first; mapping != mappings_.end() && mapping->first == next; ++mapping) {
    const hsa_status_t status = change_access(mapping->first, mapping->second, wanted);
    if (status != HSA_STATUS_SUCCESS) return status;
    next += mapping->second.bytes;
  }
  return HSA_STATUS_SUCCESS;
}

// REQUIRES: mutex_ held
hsa_status_t VirtualMemory::change_access(std::uint64_t base, Mapping& mapping,
                                          std::span<const Access> wanted) {
  for (const Access& one : wanted) mapping.access[one.agent] = one.permission;
  AgentMask readers = 0, writers = 0;
  for (const auto& [agent, permission] : mapping.access) {
    if ((permission & HSA_ACCESS_PERMISSION_RO) != 0) readers |= agent_bit(agent);
    if ((permission & HSA_ACCESS_PERMISSION_WO) != 0) writers |= agent_bit(agent);
  }
  // An agent is a thread of this process, so its access is the process's.
  const int protection = readers != 0 || writers != 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
  if (mprotect(pointer_to(base), mapping.bytes, protection) != 0) return HSA_STATUS_ERROR;
  memory_.set_mapped_access(pointer_to(base), readers | writers, writers);
  return HSA_STATUS_SUCCESS;
}

hsa_status_t VirtualMemory::get_access(const void* address, unsigned agent,
                                       hsa_access_permission_t& permission) const {
  const std::lock_guard lock(mutex_);
  const Mapping* const mapping = mapping_of(number_of(address));
  if (mapping == nullptr) return HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const auto found = mapping->access.find(agent);
  permission = found == mapping->access.end() ? kNoAccess : found->second;
  return HSA_STATUS_SUCCESS;
}

}  // namespace tf::amd::hsa
