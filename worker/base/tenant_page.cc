// SPDX-License-Identifier: Apache-2.0
// Makes and maps a tenant's page, and counts in it.
#include "worker/base/tenant_page.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <new>
#include <utility>

namespace tf::worker {
namespace {

constexpr int kTries = 8;  // of sessions that ask at the same moment
constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

std::uint64_t sum(std::uint64_t one, std::uint64_t other) {
  return one > kMost - other ? kMost : one + other;
}

}  // namespace

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share them");

void TenantPage::Unmap::operator()(Slot* slots) const { ::munmap(slots, bytes); }

Result<TenantPage> TenantPage::map(int file, std::size_t slots) {
  const std::size_t bytes = slots * sizeof(Slot);
  const int kind = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, kind, file, 0);
  if (mapped == MAP_FAILED) return Status::from_errno("mmap", errno);
  TenantPage page;
  page.slots_ = std::unique_ptr<Slot[], Unmap>(static_cast<Slot*>(mapped), Unmap{bytes});
  page.count_ = slots;
  return page;
}

// Sealed: a file that a session shortened would kill its readers.
Result<TenantPage> TenantPage::make(std::size_t slots, net::OwnedFd& file) {
  file = net::OwnedFd(::memfd_create("hip-remote-tenant", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return Status::from_errno("memfd_create", errno);
  const bool ready = ::ftruncate(file.get(), static_cast<off_t>(slots * sizeof(Slot))) == 0 &&
                     ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0;
  if (ready) return map(file.get(), slots);
  const Status failed = Status::from_errno("a tenant's page of shared memory", errno);
  file.reset();
  return failed;
}

Result<TenantPage> TenantPage::open(const net::OwnedFd& file, std::size_t slot) {
  struct stat facts {};
  if (::fstat(file.get(), &facts) != 0) return Status::from_errno("a tenant's page", errno);
  const std::size_t slots = static_cast<std::size_t>(std::max<off_t>(facts.st_size, 0)) / sizeof(Slot);
  if (slot >= slots || slots > kSlotsMax) return Status(Code::kProtocol, "a tenant's page without this slot");
  Result<TenantPage> page = map(file.get(), slots);
  if (page) page->own_ = slot;
  return page;
}

TenantPage TenantPage::alone() {
  Result<TenantPage> page = map(-1, 1);
  if (!page) throw std::bad_alloc();
  return std::move(*page);
}

// First adds, then looks: of two that ask at once at least one sees the other.
bool TenantPage::take(Counter counter, std::uint64_t amount, std::uint64_t limit) {
  std::atomic<std::uint64_t>& own = slots_[own_].counters[static_cast<std::size_t>(counter)];
  if (limit == 0) {
    own.fetch_add(amount);
    return true;
  }
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (sum(used(counter), amount) > limit) return false;
    own.fetch_add(amount);
    if (used(counter) <= limit) return true;
    own.fetch_sub(amount);
    ::sched_yield();
  }
  return false;
}

void TenantPage::give(Counter counter, std::uint64_t amount) {
  slots_[own_].counters[static_cast<std::size_t>(counter)].fetch_sub(amount);
}

std::uint64_t TenantPage::sum_of(Counter counter, std::size_t except) const {
  std::uint64_t all = 0;
  for (std::size_t slot = 0; slot < count_; ++slot)
    if (slot != except) all = sum(all, slots_[slot].counters[static_cast<std::size_t>(counter)].load());
  return all;
}

std::uint64_t TenantPage::used_here(Counter counter) const {
  return slots_[own_].counters[static_cast<std::size_t>(counter)].load();
}

TenantPage::Use TenantPage::clear(std::size_t slot) {
  Use use{};
  for (std::size_t index = 0; index < use.size(); ++index)
    use[index] = slots_[slot].counters[index].exchange(0);
  return use;
}

}  // namespace tf::worker
