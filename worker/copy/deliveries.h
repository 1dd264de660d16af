// SPDX-License-Identifier: Apache-2.0
// Deliveries: payload from the device in staging slots, on its way to the client: each piece is sent once the
// stream has filled its slot. Or it was handed to the bulk plane before, which is told of each part of it
// that is there.
//
// The executor moves them along. If it is held up in a call of the runtime, somebody else may send what is
// ready (send_ready(), any thread). Everything else belongs to the executor.
#pragma once

#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>

#include "transport/base/mutex.h"
#include "transport/endpoint.h"
#include "worker/base/life.h"
#include "worker/copy/staging_slots.h"

namespace tf::worker {

class Deliveries {
 public:
  struct Piece {
    StagingSlots::Slot* slot = nullptr;  // its events mark the end of the copies into it
    std::size_t bytes = 0;
    std::uint64_t tag = 0;
    // Of each part but the last, which may be shorter. 0: the piece is sent as a whole when its first event
    // is done. Otherwise its first part is ordered, and it is being sent already, as far as the slot's
    // filling says.
    std::size_t part_bytes = 0;
  };
  struct Progress {
    bool moved = false;
    bool sent = false;  // pieces, so the bulk plane's mover may have something to do
    Progress& operator|=(const Progress& other) {
      moved |= other.moved;
      sent |= other.sent;
      return *this;
    }
  };

  // All outlive it.
  Deliveries(const StagingSlots& staging, BulkPlane& bulk, Life& life)
      : staging_(staging), bulk_(bulk), life_(life) {}
  Deliveries(const Deliveries&) = delete;
  Deliveries& operator=(const Deliveries&) = delete;

  void add(const Piece& piece);
  // One more part was ordered of the piece in that slot. Passes on what the device has delivered of the piece
  // so far.
  void extend(const StagingSlots::Slot* slot);
  // The tag's pieces are not sent any more; the client is told why.
  void fail(std::uint64_t tag, hipError_t error);
  // Sends what is ready, in order under each tag, and gives back the slots of what has been sent.
  Progress progress(const std::function<void(StagingSlots::Slot*)>& give_back);
  // The first half of that. Any thread.
  Progress send_ready();

  // Any thread.
  bool pending() const { return count_.load(std::memory_order_relaxed) != 0; }  // orders nothing else
  // How many pieces of a tag are under way.
  std::size_t under_way(std::uint64_t tag) const;

 private:
  enum class State : std::uint8_t {
    kFilling,  // until the slot's events are done
    kSending,  // until the slot's transfer is done
    kUnsent,   // the slot is free
  };
  struct Job : Piece {
    State state = State::kFilling;
    bool failed = false;      // not to be sent
    std::size_t ordered = 1;  // parts
    std::size_t there = 0;    // parts
    std::size_t bytes_there() const { return std::min(bytes, there * part_bytes); }
  };
  Progress send_in_order() TF_REQUIRES(mutex_);
  Progress advance(Job& job) TF_REQUIRES(mutex_);
  Progress advance_parts(Job& job) TF_REQUIRES(mutex_);
  void fail_jobs(std::uint64_t tag, hipError_t error) TF_REQUIRES(mutex_);
  static bool is_over(const Job& job);

  const StagingSlots& staging_;
  BulkPlane& bulk_;
  Life& life_;
  std::atomic<std::size_t> count_{0};
  mutable Mutex mutex_;
  std::list<Job> jobs_ TF_GUARDED_BY(mutex_);  // bounded by the slots
};

}  // namespace tf::worker
