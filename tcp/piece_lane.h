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
#include <utility>
#include <vector>

#include "tcp/engine.h"
#include "tcp/lane_thread.h"
#include "tcp/stripes.h"

namespace tf::tcp {

class PieceLane final : public LaneThread {
 public:
  // What a lane tells, on its thread.
  class Listener {
   public:
    virtual void transfer_ended() = 0;
    // All of a piece is where it belongs.
    virtual void piece_landed(const PieceHeader& piece) = 0;
    // The lane moves nothing any more, and holds no memory. Once, and last.
    virtual void lane_ended(const PieceLane& lane, const Status& why) = 0;

   protected:
    ~Listener() = default;
  };
  struct Parts {
    OutgoingStripes& outgoing;
    IncomingStripes& incoming;
    Listener& listener;
  };

  // `number`: of its connection (options.h).
  PieceLane(LaneIo io, unsigned number, const Parts& parts)
      : io_(std::move(io)), number_(number), parts_(parts) {}
  ~PieceLane() { stop(); }

  unsigned number() const { return number_; }
  // Bytes have come whose memory is not reserved yet. Any thread. Either who reserves some sees the lane
  // stalled, or the lane sees the news before it sleeps.
  bool is_stalled() const { return stalled_.load(std::memory_order_seq_cst); }
  // The same, and nothing has changed since, so that it will stay so.
  bool stays_stalled() const {
    return is_stalled() && seen_news_.load(std::memory_order_relaxed) == parts_.incoming.news();
  }

 private:
  Result<std::size_t> move_in() override;
  Result<std::size_t> move_out() override;
  bool has_work() override;
  pollfd input() const override;
  pollfd output() const override;
  void let_go(const Status& why) override;
  void tell_end(const Status& why) override { parts_.listener.lane_ended(*this, why); }

  Result<std::size_t> receive_header();
  Result<std::size_t> receive_body();
  template <typename Begin>
  Result<bool> go_on(Begin begin);
  Result<bool> take_piece();
  Result<std::size_t> receive_void();
  Result<bool> begin_body();
  void receive_into_scratch(std::size_t bytes);
  void receive_into_bounce(std::span<std::byte> target);
  void take_body(std::size_t bytes);
  void piece_sent();
  Result<std::size_t> send_part(std::span<const std::byte> part, bool is_body);
  void release_sent();

  LaneIo io_;  // the thread's
  const unsigned number_;
  const Parts parts_;
  std::atomic<bool> stalled_{false};         // seq_cst; after seen_news_
  std::atomic<std::uint64_t> seen_news_{0};  // IncomingStripes::news() before it was found stalled

  // The thread's. In:
  PieceHeader in_;
  std::size_t in_header_ = 0;  // bytes of it received so far
  IncomingStripes::Taken taken_;
  std::size_t landed_ = 0;          // bytes of the piece
  std::vector<std::byte> scratch_;  // where discarded bytes go
  // What is for a device is received here, and streamed from here to its place past this core's caches: the
  // kernel's copies stay in them. Made when first needed.
  std::vector<std::byte> bounce_;
  std::byte* beyond_bounce_ = nullptr;  // its place; null: it is received there
  // Out:
  struct Segment {
    std::uint64_t send = 0;  // 0: a header
    PieceId piece;
    std::size_t bytes = 0;
  };
  std::optional<OutgoingPiece> out_;
  std::size_t out_header_ = 0;      // bytes of it sent so far
  std::size_t out_body_ = 0;        // bytes of the piece sent so far
  std::deque<Segment> unreleased_;  // sent, memory perhaps still read by the kernel; oldest first
  bool blocked_ = false;            // the socket is full and there is more to send
};

}  // namespace tf::tcp
