// SPDX-License-Identifier: Apache-2.0
// SlotCopies: moves payload between the bulk plane and device memory, through staging slots, in stream order.
//
// To the device: each chunk is received into a slot, then an asynchronous copy on the stream takes it on.
// From the device: an asynchronous copy into a slot, which is sent once the stream has reached it
// (deliveries.h). Whatever fails, payload that the client sends is consumed, and a tag that the client
// expects is either sent completely or aborted. So neither side ever stalls. Belongs to the executor thread,
// except help().
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <list>
#include <span>

#include "hipcore/graph/box.h"
#include "hipcore/wire/gen/hip_table.h"
#include "transport/endpoint.h"
#include "worker/base/life.h"
#include "worker/base/mover.h"
#include "worker/base/own_calls.h"
#include "worker/copy/deliveries.h"
#include "worker/copy/staging_slots.h"
#include "worker/memory/arrays.h"

namespace tf::worker {

using graph::Box;
using graph::BoxSide;

struct StreamRef {
  hipStream_t stream = nullptr;
  int device = 0;
};

// The error that the client gets for payload that did not arrive: the other end's reason, if given.
hipError_t transfer_error(const Status& status);

class SlotCopies {
 public:
  // All outlive it.
  SlotCopies(const protocol::HipTable& hip, OwnCalls& own_calls, BulkPlane& bulk, Life& life, Mover& mover,
             const Arrays& arrays, DeviceMemory device);
  SlotCopies(const SlotCopies&) = delete;
  SlotCopies& operator=(const SlotCopies&) = delete;

  // Has the runtime copy the box. REQUIRES: the runtime reaches both ends, and the stream's device is
  // current.
  hipError_t copy_in_stream(const Box& box, hipMemcpyKind kind, StreamRef stream);
  // The client's end of the box has its rows packed at 0: the order of the payload. REQUIRES for both: the
  // other end lies in the session's memory, and the stream's device is current.
  hipError_t to_device(const Box& box, StreamRef stream, std::uint64_t tag);
  hipError_t from_device(const Box& box, StreamRef stream, std::uint64_t tag);
  // `payload` is copied before this returns.
  hipError_t inline_to_device(std::uint64_t target, std::span<const std::byte> payload, StreamRef stream);

  // A piece of at most kLargeSlotBytes whose payload comes when the stream gets there: `stop` puts into the
  // stream what waits until somebody has filled its argument.
  using Stop = std::function<hipError_t(std::span<std::byte>)>;
  hipError_t in_turn(const Box& piece, StreamRef stream, const Stop& stop);

  // Discards `bytes` that the client sends under `tag`.
  void discard(std::uint64_t tag, std::uint64_t bytes);
  // Tells the client that nothing (more) will come under `tag`.
  void abort(std::uint64_t tag, hipError_t error);
  // Receives exactly target.size() bytes. Returns hipSuccess, the client's abort, or the session's end.
  hipError_t receive(std::uint64_t tag, std::span<std::byte> target);

  // Sends what the device has delivered, and frees what was sent.
  void progress();
  // Payload is in flight to the client. Any thread.
  bool pending() const { return deliveries_.pending(); }
  // Sends what the device has delivered, if the executor has not looked since the last call. Any thread, one
  // at a time.
  void help();
  // Some of it is about to come from the device: the executor looks again at once, without sleeping.
  bool expects_soon() const;
  // How long the executor may sleep otherwise before it should check again.
  std::chrono::nanoseconds patience() const { return patience_; }

 private:
  using Clock = std::chrono::steady_clock;
  // A piece of a box that is received into a slot.
  struct Incoming {
    StagingSlots::Slot* slot = nullptr;
    Box piece;
  };

  // Waits until the stream's work is done. Returns its failure; hipErrorNotReady: the session ends instead.
  hipError_t finish(StreamRef stream);
  StagingSlots::Slot* acquire(std::size_t bytes, Reuse reuse, hipError_t& error);
  std::size_t pieces_behind(const Box& box, std::uint64_t bytes) const;
  void await_behind(const std::deque<Incoming>& receiving, std::size_t behind);
  std::size_t outgoing_max() const;
  void note_move();
  hipError_t land(const Incoming& incoming, StreamRef stream, hipError_t so_far);
  hipError_t deliver(const Box& piece, StreamRef stream, std::uint64_t tag);
  hipError_t deliver_ahead(const Box& line, StreamRef stream, std::uint64_t tag);
  bool announce(const Deliveries::Piece& piece);
  hipError_t order(Box piece, StagingSlots::Slot* slot, std::size_t part, StreamRef stream);

  const protocol::HipTable& hip_;
  OwnCalls& own_calls_;
  BulkPlane& bulk_;
  Life& life_;
  Mover& mover_;
  const Arrays& arrays_;
  const DeviceMemory device_;
  StagingSlots staging_;
  Deliveries deliveries_;
  std::atomic<std::uint64_t> looks_{0};  // of the executor at the deliveries
  std::uint64_t looks_seen_ = 0;         // help()'s
  std::list<BulkCompletion> discards_;
  std::chrono::nanoseconds patience_;
  Clock::time_point moved_;  // when the device was given the newest piece, or was last seen to have ended one
};

}  // namespace tf::worker
