// SPDX-License-Identifier: Apache-2.0
// MemoryQuota: how much device memory a session holds. Leases and hipMemCreate both count. Belongs to the
// executor thread.
#pragma once

#include <cstdint>
#include <map>

#include "hipcore/wire/device_snapshot.h"

namespace tf::worker {

class MemoryQuota {
 public:
  explicit MemoryQuota(const protocol::WorkerSnapshot& snapshot) : snapshot_(snapshot) {}

  // False if that would exceed the quota. REQUIRES: `device` is one of the snapshot's
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
