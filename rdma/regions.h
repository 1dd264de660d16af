// SPDX-License-Identifier: Apache-2.0
// Regions: registration of payload memory. Memory that its user announced (remember()) is registered once.
// Small pieces of other memory go through slots that are registered from the start; large ones are registered
// for the transfer. Up to about a slot's size copying is cheaper than registering. Memory that may not be
// pinned (ulimit -l) is registered on demand if the device can page it in itself; else it goes through slots.
//
// Memory of other devices (remember_device()) only ever moves under its own registration: a copy to a slot,
// or a registration for a transfer, stops where such memory begins. Its spans do not overlap others.
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
#include <optional>
#include <span>

#include "rdma/plane.h"
#include "transport/base/deadline.h"
#include "transport/base/mutex.h"

namespace tf::rdma {

inline constexpr std::size_t kSlotBytes = std::size_t{256} << 10;
inline constexpr unsigned kSlots = 4;                             // for each direction
inline constexpr std::size_t kSmallBytes = std::size_t{8} << 10;  // incoming bytes use these as well
inline constexpr unsigned kSmallSlots = 32;                       // for what comes in
// All slots together: registered from the start.
inline constexpr std::size_t kSlotsBytes = 2 * kSlots * kSlotBytes + kSmallSlots * kSmallBytes;
inline constexpr std::size_t kPieceBytes = std::size_t{1} << 20;      // of memory registered per transfer
inline constexpr std::size_t kDirectBytesMax = std::size_t{8} << 20;  // of memory registered beforehand
inline constexpr std::size_t kRememberedMax = 4096;                   // spans
// Memory that the peer has read stays registered for a moment. A device that believed an answer lost asks
// again, and that request may arrive after the answer did and the transfer was reported as done. If the
// memory is gone by then, the request is not merely wasted: it ends the queue pair. (Writes are not executed
// twice.) If more bytes than this linger, the oldest go, except for the last one. Memory that is paged on
// demand goes at once: its key would be valid for whatever the program maps there next.
inline constexpr std::chrono::milliseconds kLingerTime{500};
inline constexpr std::size_t kLingerBytes = std::size_t{16} << 20;

enum class Direction : std::uint8_t { kOut, kIn };  // bytes leave the memory, or enter it

// A pool of buffers that are registered from the start.
struct Slots {
  std::span<std::byte> memory;
  std::size_t bytes = 0;  // of each
  Registration region;
  std::uint32_t free = 0;  // bits
};

class Regions;

// Registered memory for (the first part of) a span. Returns what it took when it is destroyed, which must be
// before its Regions.
class Lease {
 public:
  Lease() = default;
  Lease(Lease&& other) noexcept { *this = std::move(other); }
  Lease& operator=(Lease&& other) noexcept;
  ~Lease() { release(); }
  // Deregisters what was registered for it. The lease is useless afterwards.
  void release();

  std::byte* memory = nullptr;  // the span's, or a slot's
  std::size_t bytes = 0;
  std::uint32_t local_key = 0;
  std::uint32_t remote_key = 0;
  bool is_slot() const { return slots_ != nullptr; }

 private:
  friend class Regions;
  Registration own_;
  Regions* linger_ = nullptr;  // where the registration lingers afterwards
  Slots* slots_ = nullptr;     // one of these
  unsigned slot_ = 0;
};

class Regions {
 public:
  struct Plan {
    ibv_pd* pd = nullptr;
    bool remote = false;                          // the peer reads and writes
    bool on_demand = false;                       // the device has on-demand paging for both
    std::size_t request_bytes = kDirectBytesMax;  // limit of one request of the device
    std::chrono::milliseconds linger_time = kLingerTime;
  };
  static Result<std::unique_ptr<Regions>> make(const Verbs& verbs, const Plan& plan);

  // A lease for as much of `span` as one transfer takes. Nothing: all slots are taken, and registering
  // failed. Outgoing bytes are copied to a slot here; the caller copies incoming ones from it.
  std::optional<Lease> lease(std::span<std::byte> span, Direction direction);
  // A small slot for incoming bytes, whatever the span is.
  std::optional<Lease> lease_small(std::span<std::byte> span);

  void remember(std::span<std::byte> span);
  // See BulkPlane. kResourceExhausted: kRememberedMax.
  Status remember_device(std::span<std::byte> span, const DeviceMemory& device);
  void forget(std::span<std::byte> span);
  bool reaches(std::span<const std::byte> span) const;
  // Some of its bytes must not be touched by any processor.
  bool has_device(std::span<const std::byte> span) const;

  // Some memory lingers. Threads that move or wait call end_overdue() from time to time; nobody does while
  // the program makes no calls. Any thread.
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
  // The part of the span before device memory begins.
  std::span<std::byte> host_part(std::span<std::byte> span) const TF_EXCLUDES(mutex_);
  bool find_remembered(std::span<std::byte> span, Lease& lease) TF_EXCLUDES(mutex_);
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
  bool overlaps(std::span<std::byte> span, bool devices_only) const TF_REQUIRES(mutex_);
  RememberedMap::const_iterator at_or_before(std::uintptr_t address) const TF_REQUIRES(mutex_);

  // We no longer need it.
  void retire(Registration region, std::size_t bytes) TF_REQUIRES(mutex_);
  // Drops the oldest until `most_bytes` are left, and everything overdue. True: something was dropped.
  bool end_lingering(std::size_t most_bytes) TF_REQUIRES(mutex_);

  mutable Mutex mutex_;
  RememberedMap remembered_ TF_GUARDED_BY(mutex_);
  struct Lingering {
    Registration region;
    std::size_t bytes = 0;
    Deadline until = Deadline::never();
  };
  std::deque<Lingering> lingering_ TF_GUARDED_BY(mutex_);  // oldest first
  std::size_t lingering_bytes_ TF_GUARDED_BY(mutex_) = 0;
  std::atomic<bool> has_lingering_{false};
};

}  // namespace tf::rdma
