// SPDX-License-Identifier: Apache-2.0
// MemoryQuota: how much device memory a session holds, whatever it holds it for: leases and hipMemCreate are
// booked here alike. Belongs to the executor thread.
#pragma once

#include <cstdint>
#include <map>

#include "hipcore/wire/device_snapshot.h"

namespace tf::worker {

class MemoryQuota {
 public:
  explicit MemoryQuota(const protocol::WorkerSnapshot& snapshot) : snapshot_(snapshot) {}

  // False when that would be more than the session may have. REQUIRES: `device` is one of the snapshot's
  bool take(int device, std::uint64_t bytes) {
    std::uint64_t& used = used_[device];
    const std::uint64_t total = snapshot_.devices[static_cast<std::size_t>(device)].total_memory;
    if (used > total || bytes > total - used) return false;
    used += bytes;
    return true;
  }
  void give(int device, std::uint64_t bytes) { used_[device] -= bytes; }

 private:
  const protocol::WorkerSnapshot& snapshot_;
  std::map<int, std::uint64_t> used_;
};

// What is the session's own, and what it has mapped of other sessions: each at most a device's memory, so
// that nobody keeps alive without end what others have freed.
struct Quotas {
  MemoryQuota& own;
  MemoryQuota& foreign;
};

}  // namespace tf::worker
