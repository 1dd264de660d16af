// SPDX-License-Identifier: Apache-2.0
// Makes the page of turns, and gives its slots.
#include "worker/supervisor/turn_table.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace tf::worker {

using runtime::TurnPage;

void TurnTable::Unmap::operator()(TurnPage* page) const { ::munmap(page, sizeof *page); }

// Sealed: a file that a session shortened would kill the others.
Result<TurnTable> TurnTable::make(unsigned processors) {
  TurnTable table;
  table.file_ = net::OwnedFd(::memfd_create("hip-remote-turns", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!table.file_) return Status::from_errno("memfd_create", errno);
  const int file = table.file_.get();
  if (::ftruncate(file, sizeof(TurnPage)) != 0 ||
      ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return Status::from_errno("the page of turns", errno);
  void* const mapped = ::mmap(nullptr, sizeof(TurnPage), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED) return Status::from_errno("mmap", errno);
  table.page_.reset(static_cast<TurnPage*>(mapped));
  table.page_->seats.store(std::clamp(processors, 1u, runtime::kSeatsMax));
  table.taken_.resize(runtime::kTurnSlots);
  return table;
}

std::optional<std::uint32_t> TurnTable::take() {
  const auto free = std::find(taken_.begin(), taken_.end(), false);
  if (free == taken_.end()) return std::nullopt;
  *free = true;
  return static_cast<std::uint32_t>(free - taken_.begin());
}

// Seats that it still has are free when their lease ends, or when somebody with less use takes them.
void TurnTable::give_back(std::uint32_t slot) {
  taken_[slot] = false;
  page_->running.erase(slot);
  page_->waiting.erase(slot);
  page_->slots[slot].used_ns.store(0, std::memory_order_relaxed);
  page_->slots[slot].threads.store(0, std::memory_order_relaxed);
}

}  // namespace tf::worker
