// SPDX-License-Identifier: Apache-2.0
// StagingSlots: pinned host memory that payload passes through between the bulk plane and the device.
//
// A bounded number of slots in three sizes. A slot in use by an asynchronous copy carries the event that says
// when it is free again. Belongs to the executor thread.
//
// What a device writes to is used in turn (Reuse::kLate). It takes twice as long to write to lines that are
// still in the caches of the processors that sent them last time: 1 MiB in 47 us, 26 us after 8 to 16 MiB of
// others (H200, PCIe Gen5, six threads that read). What processors fill is best used again soon.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hipcore/wire/gen/hip_table.h"
#include "transport/endpoint.h"
#include "worker/base/own_calls.h"

namespace tf::worker {

inline constexpr std::size_t kLargeSlotBytes = 1 << 20;
inline constexpr std::size_t kLargeSlots = 16;  // of which there may be twice as many, see Reuse
inline constexpr std::size_t kMediumSlotBytes = 256 << 10;
inline constexpr std::size_t kMediumSlots = 64;
inline constexpr std::size_t kSmallSlotBytes = 16 << 10;
inline constexpr std::size_t kSmallSlots = 256;
// Parts of a slot that an event of their own may follow.
inline constexpr std::size_t kSlotParts = 3;

// Who reads and writes the slots beside the bulk plane.
enum class DeviceMemory : std::uint8_t { kOnHost, kBehindBus };  // this host's processors; a device, by DMA

// Which of the free slots: the one that was used last, or the one that was used first. kLate wants 12 large
// ones free behind a bus, and makes more of them once if there are fewer: two MiB for each of six lanes are
// enough for a device to write at its full rate.
enum class Reuse : std::uint8_t { kSoon, kLate };

class StagingSlots {
 public:
  class Slot {
   public:
    std::span<std::byte> memory() const { return memory_; }
    // One transfer on the bulk plane at a time.
    std::optional<BulkCompletion> transfer;
    // Of a transfer that was begun before the memory was filled.
    std::optional<Filling> filling;

   private:
    friend class StagingSlots;
    std::span<std::byte> memory_;
    std::array<hipEvent_t, kSlotParts> events_{};  // made on event_device_ when first needed
    int event_device_ = -1;
    hipStream_t stream_ = nullptr;  // where it was recorded; perhaps destroyed since
  };

  // All arguments outlive it. `bulk` is told about the memory.
  StagingSlots(const protocol::HipTable& hip, OwnCalls& own_calls, BulkPlane& bulk, DeviceMemory device)
      : hip_(hip), own_calls_(own_calls), bulk_(bulk), device_(device) {}
  StagingSlots(const StagingSlots&) = delete;
  StagingSlots& operator=(const StagingSlots&) = delete;
  ~StagingSlots();

  // A free slot of the smallest size that holds `bytes`, at most kLargeSlotBytes; a small one soon. Null: all
  // of them are in use just now, or (with `error` set) there is no memory.
  Slot* acquire(std::size_t bytes, Reuse reuse, hipError_t& error);
  void release(Slot* slot);

  // Records the event of that part of the slot at the current end of `stream`. REQUIRES: `device` is current
  // and is the stream's.
  hipError_t record(Slot* slot, hipStream_t stream, int device, std::size_t part = 0);
  // hipSuccess: the stream has passed the mark; hipErrorNotReady; or the failure of the work before it.
  hipError_t query(const Slot* slot, std::size_t part = 0) const {
    return hip_.hipEventQuery(slot->events_[part]);
  }
  // The slot becomes free once its first event is done.
  void release_when_done(Slot* slot);

 private:
  struct Block {
    std::span<std::byte> memory;
    bool pinned = false;
  };
  struct Size {
    std::size_t slot_bytes;
    std::size_t slots;  // of a block
    std::size_t blocks_max;
    std::vector<Block> blocks;
    std::vector<std::unique_ptr<Slot>> all;
    std::deque<Slot*> free;
    std::deque<Slot*> draining;  // free once their event is done
  };

  void* pin(std::size_t bytes);
  hipError_t allocate(Size& size);
  void grow(Size& size);
  void add(Size& size, const Block& block);
  bool is_short(const Size& size) const;
  void destroy_events(Slot& slot);
  void collect(Size& size);
  Size& size_for(std::size_t bytes) {
    return bytes <= kSmallSlotBytes ? small_ : bytes <= kMediumSlotBytes ? medium_ : large_;
  }

  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  BulkPlane& bulk_;
  const DeviceMemory device_;
  Size small_{kSmallSlotBytes, kSmallSlots, 1, {}, {}, {}, {}};
  Size medium_{kMediumSlotBytes, kMediumSlots, 1, {}, {}, {}, {}};
  Size large_{kLargeSlotBytes, kLargeSlots, 2, {}, {}, {}, {}};
};

}  // namespace tf::worker
