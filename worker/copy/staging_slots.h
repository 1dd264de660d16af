// SPDX-License-Identifier: Apache-2.0
// StagingSlots: pinned host memory that payload passes through between the bulk plane and the device.
//
// A bounded number of slots in two sizes. A slot in use by an asynchronous copy carries the event that says
// when it is free again. Belongs to the executor thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
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
inline constexpr std::size_t kLargeSlots = 16;
inline constexpr std::size_t kSmallSlotBytes = 16 << 10;
inline constexpr std::size_t kSmallSlots = 256;

class StagingSlots {
 public:
  class Slot {
   public:
    std::span<std::byte> memory() const { return memory_; }
    // One transfer on the bulk plane at a time.
    std::optional<BulkCompletion> transfer;

   private:
    friend class StagingSlots;
    std::span<std::byte> memory_;
    hipEvent_t event_ = nullptr;  // made on event_device_ when first needed
    int event_device_ = -1;
    hipStream_t stream_ = nullptr;  // where it was recorded; perhaps destroyed since
  };

  // All arguments outlive it. `bulk` is told about the memory.
  StagingSlots(const protocol::HipTable& hip, OwnCalls& own_calls, BulkPlane& bulk)
      : hip_(hip), own_calls_(own_calls), bulk_(bulk) {}
  StagingSlots(const StagingSlots&) = delete;
  StagingSlots& operator=(const StagingSlots&) = delete;
  ~StagingSlots();

  // A free slot: a small one if that holds `bytes` (at most kLargeSlotBytes), else a large one. Null: all are
  // in use just now, or (with `error` set) there is no memory.
  Slot* acquire(std::size_t bytes, hipError_t& error);
  void release(Slot* slot);

  // Records the slot's event at the current end of `stream`. REQUIRES: `device` is current and is the
  // stream's.
  hipError_t record(Slot* slot, hipStream_t stream, int device);
  // hipSuccess: the stream has passed the mark; hipErrorNotReady; or the failure of the work before it.
  hipError_t query(const Slot* slot) const { return hip_.hipEventQuery(slot->event_); }
  // The slot becomes free once its event is done.
  void release_when_done(Slot* slot);

 private:
  struct Size {
    std::size_t slot_bytes;
    std::size_t slots;
    std::byte* block = nullptr;
    bool pinned = false;
    std::vector<std::unique_ptr<Slot>> all;
    std::vector<Slot*> free;
    std::deque<Slot*> draining;  // free once their event is done
  };

  hipError_t allocate(Size& size);
  void collect(Size& size);
  Size& size_of(const Slot* slot) { return slot->memory_.size() == kSmallSlotBytes ? small_ : large_; }

  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  BulkPlane& bulk_;
  Size small_{kSmallSlotBytes, kSmallSlots, nullptr, false, {}, {}, {}};
  Size large_{kLargeSlotBytes, kLargeSlots, nullptr, false, {}, {}, {}};
};

}  // namespace tf::worker
