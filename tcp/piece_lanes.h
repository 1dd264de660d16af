// SPDX-License-Identifier: Apache-2.0
// The piece lanes of one endpoint, and what they share.
//
// Whoever may touch memory of transfers is a holder: each piece lane, and the bulk lane. When the endpoint
// has failed and the last holder has ended, what transfers are left complete with the failure.
//
// With a receipt lane they are recoverable: the loss of one ends nothing while another one is left. Who loses
// it tells the peer, which lets go of its end; then each side sends what has no receipt over the others.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "tcp/piece_lane.h"
#include "tcp/receipt_lane.h"
#include "tcp/stripes.h"
#include "transport/base/mutex.h"

namespace tf::tcp {

class PieceLanes final : private PieceLane::Listener, private ReceiptLane::Listener {
 public:
  // What they tell, on their threads.
  class Listener {
   public:
    // A transfer has ended.
    virtual void piece_moved() = 0;
    // is_over(), and why_over() says why.
    virtual void piece_lanes_over() = 0;
    // Connection `number` is of no use any more, and nobody reads or writes it; `left` others go on.
    virtual void piece_lane_lost(unsigned number, const Status& why, unsigned left) = 0;

   protected:
    ~Listener() = default;
  };

  // Both outlive it. `queue` is the bulk lane's.
  PieceLanes(BulkQueue& queue, Listener& listener, bool recoverable)
      : queue_(queue), outgoing_(queue, recoverable), incoming_(queue, recoverable), listener_(listener) {}
  ~PieceLanes();

  // Before start(). The receipt lane: if and only if they are recoverable. `number`: of the connection.
  void add(LaneIo io, unsigned number);
  void add_receipts(LaneIo io);
  Status start();
  // Any thread: tells all lanes to end.
  void end();
  // The same, and waits. Afterwards no lane holds any memory.
  void stop();

  // Those that are not lost. Any thread.
  unsigned count() const { return alive_.load(std::memory_order_relaxed); }
  // Connection `number` delivers nothing any more, as far as anybody can tell. REQUIRES: recoverable. Any
  // thread.
  void drop(unsigned number, const Status& why);
  // One lane at least is over; if they are recoverable, the last one, or receipts. Any thread.
  bool is_over() const { return over_.load(std::memory_order_acquire); }  // pairs with set_over()
  // The first one's reason. REQUIRES: is_over()
  Status why_over() const;
  // Nothing is on its way here, as far as can be known: each lane is over, or waits for a receive to be
  // posted. Any thread.
  bool is_quiet() const;

  // --- The bulk lane's mover ---
  struct Announced {
    std::uint32_t bytes = 0;
    std::uint32_t piece_bytes = 0;
  };
  // Takes a stripe from the front of what is left of the queue's next send. The caller announces it, and then
  // calls wake_for_stripes(): the peer has no place for pieces before.
  Announced take_stripe(const BulkQueue::Outgoing& send);
  void wake_for_stripes();
  IncomingStripes& incoming() { return incoming_; }
  // Memory was reserved, or a stripe announced.
  void wake_stalled();

  // The filling of some send has changed. Any thread.
  void filled() { wake_some(outgoing_.recount()); }

  // A holder has ended. The bulk lane calls it once, after BulkQueue::fail_all().
  void let_go();

 private:
  void transfer_ended() override { listener_.piece_moved(); }
  void piece_landed(const PieceHeader& piece) override;
  void lane_ended(const PieceLane& lane, const Status& why) override;
  Status take_receipt(const Receipt& receipt) override;
  void receipts_ended(const Status& why) override;
  void lose(const PieceLane& lane, const Status& why);
  void set_over(const Status& why);
  void wake_some(std::size_t pieces);

  BulkQueue& queue_;
  OutgoingStripes outgoing_;
  IncomingStripes incoming_;
  Listener& listener_;
  std::vector<std::unique_ptr<PieceLane>> lanes_;
  std::unique_ptr<ReceiptLane> receipts_;  // null: not recoverable
  std::atomic<unsigned> alive_{0};
  std::atomic<std::size_t> holders_{1};  // the bulk lane
  std::atomic<std::size_t> next_{0};     // whom to wake first; orders nothing
  std::size_t untold_ = 0;               // pieces for which no lane was woken; the mover's
  std::atomic<bool> over_{false};        // release after why_
  mutable Mutex mutex_;
  Status why_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::tcp
