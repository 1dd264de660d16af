// SPDX-License-Identifier: Apache-2.0
// TenantPage: what the sessions of one tenant use, in memory that they share with the supervisor. Each
// session writes only its own slot; what the tenant uses is the sum of all slots. So when a session process
// has ended, however it ended, the supervisor clears its slot, and its share is free again.
//
// Session processes run what their client makes them run: one could write anything there. It harms nobody but
// the tenant itself, for each tenant has a page of its own, and the supervisor trusts no number in it. Where
// clients run native code (the CPU runtime), the walls around the process are what holds it (worker/sandbox).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "hipcore/wire/device_snapshot.h"
#include "transport/base/status.h"
#include "transport/net/fd.h"

namespace tf::worker {

inline constexpr std::size_t kSlotsMax = 8192;  // twice the sessions that a worker serves at most

// What is counted in a slot: a number for each device, and some more.
enum class Counter : std::size_t {
  kHost = protocol::kDevicesMax,  // bytes
  kStreams,
  kCompiles,
  kEnd,
};
// Bytes of the device's memory.
inline Counter memory_of(int device) { return static_cast<Counter>(device); }

class TenantPage {
 public:
  // A session's use, as the supervisor found it.
  using Use = std::array<std::uint64_t, static_cast<std::size_t>(Counter::kEnd)>;

  // For the supervisor. REQUIRES: 0 < slots <= kSlotsMax. `file`: what session processes open.
  static Result<TenantPage> make(std::size_t slots, net::OwnedFd& file);
  // For a session process: `slot` is its own.
  static Result<TenantPage> open(const net::OwnedFd& file, std::size_t slot);
  // A page of one slot in private memory, for a session without a supervisor.
  static TenantPage alone();

  // REQUIRES for these: opened. Any thread.

  // Adds to the own slot, if all slots together stay within `limit` (0: there is none). Two sessions that ask
  // at the same moment for more than there is left may both hear no.
  bool take(Counter counter, std::uint64_t amount, std::uint64_t limit);
  void give(Counter counter, std::uint64_t amount);
  // Of all slots; more than can be counted is the largest number.
  std::uint64_t used(Counter counter) const { return sum_of(counter, count_); }
  std::uint64_t used_here(Counter counter) const;
  std::uint64_t used_by_others(Counter counter) const { return sum_of(counter, own_); }

  // REQUIRES for these: made; slot is one of its own.
  std::uint64_t used_in(std::size_t slot, Counter counter) const {
    return slots_[slot].counters[static_cast<std::size_t>(counter)].load();
  }
  Use clear(std::size_t slot);

 private:
  struct alignas(64) Slot {
    std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(Counter::kEnd)> counters;
  };
  struct Unmap {
    std::size_t bytes;
    void operator()(Slot* slots) const;
  };
  static Result<TenantPage> map(int file, std::size_t slots);
  // Of all slots but `except`.
  std::uint64_t sum_of(Counter counter, std::size_t except) const;

  std::unique_ptr<Slot[], Unmap> slots_;
  std::size_t count_ = 0;
  std::size_t own_ = 0;
};

}  // namespace tf::worker
