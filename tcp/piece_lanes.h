// SPDX-License-Identifier: Apache-2.0
// The piece lanes of one endpoint, and what they share.
//
// Whoever may touch memory of transfers is a holder: each piece lane, and the bulk lane. When the endpoint
// has failed and the last holder has ended, what transfers are left complete with the failure.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tcp/piece_lane.h"
#include "tcp/stripes.h"
#include "transport/base/mutex.h"

namespace tf::tcp {

class PieceLanes final : private PieceLane::Listener {
 public:
  // What they tell, on their threads.
  class Listener {
   public:
    // A transfer has ended.
    virtual void piece_moved() = 0;
    // A lane moves nothing any more: why_over() says why.
    virtual void piece_lane_over() = 0;

   protected:
    ~Listener() = default;
  };

  // Both outlive it. `queue` is the bulk lane's.
  PieceLanes(BulkQueue& queue, Listener& listener) : queue_(queue), incoming_(queue), listener_(listener) {}
  ~PieceLanes();

  // Before start().
  void add(LaneIo io);
  Status start();
  // Any thread: tells all lanes to end.
  void end();
  // The same, and waits. Afterwards no lane holds any memory.
  void stop();

  unsigned count() const { return static_cast<unsigned>(lanes_.size()); }
  // One lane at least is over. Any thread.
  bool is_over() const { return over_.load(std::memory_order_acquire); }  // pairs with lane_ended()
  // The first one's reason. REQUIRES: is_over()
  Status why_over() const;
  // Nothing is on its way here, as far as can be known: each lane is over, or waits for a receive
  // to be posted. Any
  // thread.
  bool is_quiet() const;

  // --- The bulk lane's mover ---
  struct Announced {
    std::uint32_t bytes = 0;
    std::uint32_t piece_bytes = 0;
  };
  // Takes a stripe from the front of `source`, which is what is left of the queue's next send, `id`. The
  // caller announces it.
  Announced take_stripe(std::uint64_t id, std::span<const std::byte> source);
  IncomingStripes& incoming() { return incoming_; }
  // Memory was reserved, or a stripe announced.
  void wake_stalled();

  // A holder has ended. The bulk lane calls it once, after BulkQueue::fail_all().
  void let_go();

 private:
  void transfer_ended() override { listener_.piece_moved(); }
  void lane_ended(const Status& why) override;

  BulkQueue& queue_;
  OutgoingStripes outgoing_;
  IncomingStripes incoming_;
  Listener& listener_;
  std::vector<std::unique_ptr<PieceLane>> lanes_;
  std::atomic<std::size_t> holders_{1};  // the bulk lane
  std::size_t next_ = 0;                 // whom to wake first; the mover's
  std::atomic<bool> over_{false};        // release after why_
  mutable Mutex mutex_;
  Status why_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::tcp
