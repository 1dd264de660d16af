// SPDX-License-Identifier: Apache-2.0
// Reserves and frees addresses outside of the devices' windows.
#include "proxy/memory/outside_windows.h"

#include <unistd.h>

#include <utility>

namespace tf::proxy {

bool OutsideWindows::reserve(std::uint64_t address, std::uint64_t bytes) {
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  const std::uint64_t first = address / page * page;
  const std::uint64_t end = address + bytes;
  if (address == 0 || bytes == 0 || end < address || end > UINT64_MAX - page) return false;
  Result<ReservedWindow> window = ReservedWindow::reserve(first, (end + page - 1) / page * page - first);
  if (!window) return false;
  const MutexLock lock(mutex_);
  return reserved_.emplace(address, std::move(*window)).second;
}

void OutsideWindows::drop(std::uint64_t address) {
  const MutexLock lock(mutex_);
  reserved_.erase(address);
}

}  // namespace tf::proxy
