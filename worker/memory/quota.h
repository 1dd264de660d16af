// SPDX-License-Identifier: Apache-2.0
// MemoryQuota: how much device memory a session holds, and whether its tenant may have more. Leases, arrays
// and hipMemCreate all count. Belongs to the executor thread.
#pragma once

#include <cstdint>
#include <map>

#include "hipcore/wire/device_snapshot.h"
#include "worker/base/share.h"

namespace tf::worker {

class MemoryQuota {
 public:
  // `share`: the tenant's; null: it does not count there. Both outlive it.
  explicit MemoryQuota(const protocol::WorkerSnapshot& snapshot, Share* share = nullptr)
      : snapshot_(snapshot), share_(share) {}

  // False if that would exceed the quota. REQUIRES: `device` is one of the snapshot's
  bool take(int device, std::uint64_t bytes) {
    std::uint64_t& used = used_[device];
    const std::uint64_t total = snapshot_.devices[static_cast<std::size_t>(device)].total_memory;
    if (used > total || bytes > total - used) return false;
    if (share_ != nullptr && !share_->take(Limit::kMemory, memory_of(device), bytes, total)) return false;
    used += bytes;
    return true;
  }
  void give(int device, std::uint64_t bytes) {
    used_[device] -= bytes;
    if (share_ != nullptr) share_->give(memory_of(device), bytes);
  }

 private:
  const protocol::WorkerSnapshot& snapshot_;
  Share* const share_;
  std::map<int, std::uint64_t> used_;
};

// A part of a quota that was taken; given back when its last holder goes.
class QuotaShare {
 public:
  QuotaShare(MemoryQuota& quota, int device, std::uint64_t bytes)
      : quota_(quota), device_(device), bytes_(bytes) {}
  QuotaShare(const QuotaShare&) = delete;
  QuotaShare& operator=(const QuotaShare&) = delete;
  ~QuotaShare() { quota_.give(device_, bytes_); }

 private:
  MemoryQuota& quota_;  // outlives it
  int device_;
  std::uint64_t bytes_;
};

// The session's own memory, and what it has mapped from other sessions. Each is limited to a device's memory,
// so that nobody can keep freed memory of others alive without limit.
struct Quotas {
  MemoryQuota& own;
  MemoryQuota& foreign;
};

}  // namespace tf::worker
