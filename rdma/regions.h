// SPDX-License-Identifier: Apache-2.0
// Regions: how payload memory comes to be registered. What its user told of (remember()) is registered once;
// small pieces of other memory go through slots that are registered from the start; large ones are registered
// for the transfer. Registering costs more than copying up to about a slot's size. Memory that may not be
// pinned (ulimit -l) is registered on demand where the device can fetch pages when it comes to them; else it
// goes through slots.
//
// Memory of other devices (remember_device()) is only ever moved by its own registration: what is copied here
// or registered for a transfer ends where such memory begins. Its spans overlap no other.
//
// remember(), remember_device(), forget(), reaches() and end_overdue(): any thread. The rest: one thread at a
// time.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <span>

#include "rdma/plane.h"
#include "transport/base/deadline.h"

namespace tf::rdma {

inline constexpr std::size_t kSlotBytes = std::size_t{256} << 10;
inline constexpr unsigned kSlots = 4;                             // for each direction
inline constexpr std::size_t kSmallBytes = std::size_t{8} << 10;  // what comes in has slots of this size, too
inline constexpr unsigned kSmallSlots = 32;                       // for what comes in
// All slots together: registered from the start.
inline constexpr std::size_t kSlotsBytes = 2 * kSlots * kSlotBytes + kSmallSlots * kSmallBytes;
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 20;      // of memory registered for a transfer
inline constexpr std::size_t kDirectBytesMax = std::size_t{8} << 20;  // of memory that is registered anyway
inline constexpr std::size_t kRememberedMax = 4096;                   // spans
// What the peer has read stays registered for a moment: a device that believed an answer lost has asked
// again, and the repetition may come when the answer has come after all and all is told as done. Memory that
// is gone by then is no mere waste to the queue pair but its end. (Writes are not executed twice.) The oldest
// go when there are more bytes, but for the last one. Memory that is paged on demand goes at once: its key is
// good for whatever the program maps there next.
inline constexpr std::chrono::milliseconds kLingerTime{500};
inline constexpr std::size_t kLingerBytes = std::size_t{16} << 20;

enum class Direction : std::uint8_t { kOut, kIn };  // bytes leave the memory, or come into it

// A pool of places that are registered from the start.
struct Slots {
  std::span<std::byte> memory;
  std::size_t bytes = 0;  // of each
  Registration region;
  std::uint32_t free = 0;  // bits
};

class Regions;

// Registered memory for (the first part of) a span. Gives back what it took when it goes, before its Regions.
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept { *this = std::move(other); }
  Lease& operator=(Lease&& other) noexcept;
  ~Lease() { release(); }
  // Deregisters what was registered for it. Of no use afterwards.
  void release();

  std::byte* memory = nullptr;  // the span's, or a slot's
  std::size_t bytes = 0;
  std::uint32_t local_key = 0;
  std::uint32_t remote_key = 0;
  bool is_slot() const { return slots_ != nullptr; }

 private:
  friend class Regions;
  Registration own_;
  Regions* linger_ = nullptr;  // where it goes when it goes
  Slots* slots_ = nullptr;     // one of these
  unsigned slot_ = 0;
};

class Regions {
 public:
  struct Plan {
    ibv_pd* pd = nullptr;
    bool remote = false;                          // it is the peer that reads and writes
    bool on_demand = false;                       // the device has on-demand paging for both
    std::size_t request_bytes = kDirectBytesMax;  // that one request of the device may move
    std::chrono::milliseconds linger_time = kLingerTime;
  };
  static Result<std::unique_ptr<Regions>> make(const Verbs& verbs, const Plan& plan);

  // For as much of `span` as goes at a time; nothing: all slots are out, and registering failed. What leaves
  // is copied to a slot here, what came in is copied from it by the caller.
  std::optional<Lease> lease(std::span<std::byte> span, Direction direction);
  // A small slot for what comes in, whatever the span.
  std::optional<Lease> lease_small(std::span<std::byte> span);

  void remember(std::span<std::byte> span);
  // See BulkPlane. kResourceExhausted: kRememberedMax.
  Status remember_device(std::span<std::byte> span, const DeviceMemory& device);
  void forget(std::span<std::byte> span);
  bool reaches(std::span<const std::byte> span) const;
  // There are bytes in it that no processor may touch.
  bool has_device(std::span<const std::byte> span) const;

  // Something lingers. Whoever moves or waits ends from time to time what has lingered long enough; nobody
  // does while the program calls nothing. Any thread.
  bool has_lingering() const { return has_lingering_.load(std::memory_order_relaxed); }
  void end_overdue();

 private:
  friend class Lease;

  Regions(const Verbs& verbs, const Plan& plan) : verbs_(verbs), plan_(plan) {}
  struct Entered {
    Registration region;
    bool is_paged = false;  // on demand
  };
  Result<Entered> enter(std::span<std::byte> memory, int access) const;
  Result<Entered> enter_for_now(std::span<std::byte> memory, int access);
  int access(Direction direction) const;
  int remembered_access() const;
  Status make_slots(Slots& slots, std::size_t place, unsigned count, std::size_t bytes, int access);
  // What there is of the span before memory of a device begins.
  std::span<std::byte> host_part(std::span<std::byte> span) const;
  bool find_remembered(std::span<std::byte> span, Lease& lease);
  static bool take_slot(Slots& slots, std::span<std::byte> span, Lease& lease);

  const Verbs& verbs_;
  const Plan plan_;
  Pages pages_;
  Slots out_, in_, small_in_;
  struct Remembered {
    std::size_t bytes = 0;
    Registration region;
    bool is_device = false;
    bool is_paged = false;
  };
  using RememberedMap = std::map<std::uintptr_t, Remembered>;  // by begin
  // REQUIRES for both: the lock
  bool overlaps(std::span<std::byte> span, bool devices_only) const;
  RememberedMap::const_iterator at_or_before(std::uintptr_t address) const;

  // No longer asked for by us. REQUIRES: the lock
  void retire(Registration region, std::size_t bytes);
  // The oldest go until `most_bytes` are left, and whatever is overdue. True: something went.
  bool end_lingering(std::size_t most_bytes);

  mutable std::mutex mutex_;
  RememberedMap remembered_;
  struct Lingering {
    Registration region;
    std::size_t bytes = 0;
    Deadline until = Deadline::never();
  };
  std::deque<Lingering> lingering_;  // oldest first
  std::size_t lingering_bytes_ = 0;
  std::atomic<bool> has_lingering_{false};
};

}  // namespace tf::rdma
