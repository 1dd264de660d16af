// SPDX-License-Identifier: Apache-2.0
// One connection for pieces of stripes (stripes.h), both directions, with a thread of its own.
//
// The thread sends the next piece that nobody has claimed, and reads what comes straight into the memory that
// was reserved for it. If that memory is not reserved yet it stops reading. It sleeps while there is nothing
// to do.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>
#include <thread>
#include <vector>

#include "tcp/engine.h"
#include "tcp/stripes.h"
#include "transport/base/spin.h"
#include "transport/base/status.h"
#include "transport/net/waker.h"

namespace tf::tcp {

class PieceLane {
 public:
  // What a lane tells, on its thread.
  class Listener {
   public:
    virtual void transfer_ended() = 0;
    // The lane moves nothing any more, and holds no memory. Once, and last.
    virtual void lane_ended(const Status& why) = 0;

   protected:
    ~Listener() = default;
  };
  struct Parts {
    OutgoingStripes& outgoing;
    IncomingStripes& incoming;
    BulkQueue& queue;
    Listener& listener;
  };

  PieceLane(LaneIo io, const Parts& parts) : io_(std::move(io)), parts_(parts) {}
  PieceLane(const PieceLane&) = delete;
  PieceLane& operator=(const PieceLane&) = delete;
  ~PieceLane() { stop(); }

  // kResourceExhausted: the system gives no thread.
  Status start();
  // There may be something to do. Any thread.
  void wake() { waker_.notify(); }
  // Its thread is about to end. Any thread.
  void end();
  // The same, and waits until it has ended.
  void stop();

  // Nothing moves any more. Any thread.
  bool is_over() const { return over_.load(std::memory_order_acquire); }  // pairs with finish()
  // Bytes have come whose memory is not reserved yet. Any thread. Either who reserves some sees the lane
  // stalled, or the lane sees the news before it sleeps.
  bool is_stalled() const { return stalled_.load(std::memory_order_seq_cst); }
  // The same, and nothing has changed since, so that it will stay so.
  bool stays_stalled() const {
    return is_stalled() && seen_news_.load(std::memory_order_relaxed) == parts_.incoming.news();
  }

 private:
  void run();
  void finish(const Status& why);
  Result<std::size_t> move();
  Result<std::size_t> move_in();
  Result<std::size_t> receive_header();
  Result<std::size_t> receive_body();
  bool begin_body();
  Result<std::size_t> move_out();
  Result<std::size_t> send_part(std::span<const std::byte> part, bool is_body);
  void release_sent();
  void await();
  bool has_work();
  pollfd input() const;
  pollfd output() const;

  LaneIo io_;  // the thread's
  const Parts parts_;
  net::Waker waker_;
  SpinBudget spin_;
  std::thread thread_;
  std::atomic<bool> ending_{false};  // seq_cst; before the wake-up
  std::atomic<bool> over_{false};
  std::atomic<bool> stalled_{false};         // seq_cst; after seen_news_
  std::atomic<std::uint64_t> seen_news_{0};  // IncomingStripes::news() before it was found stalled
  bool again_ = false;                       // an operation ended without bytes: it is to be begun once more

  // The thread's. In:
  PieceHeader in_;
  std::size_t in_header_ = 0;  // bytes of it received so far
  bool taken_ = false;
  std::size_t landed_ = 0;          // bytes of the piece
  std::vector<std::byte> scratch_;  // where discarded bytes go
  // Out:
  struct Segment {
    std::uint64_t send = 0;  // 0: a header
    std::size_t bytes = 0;
  };
  std::optional<OutgoingStripes::Piece> out_;
  std::size_t out_header_ = 0;      // bytes of it sent so far
  std::size_t out_body_ = 0;        // bytes of the piece sent so far
  std::deque<Segment> unreleased_;  // sent, memory perhaps still read by the kernel; oldest first
  bool blocked_ = false;            // the socket is full and there is more to send
};

}  // namespace tf::tcp
