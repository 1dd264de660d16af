// SPDX-License-Identifier: Apache-2.0
// Payloads over one stream socket, from the sender's memory into the receiver's.
//
// On the wire, both directions: chunks, each a 32-byte header and its bytes.
//   offset  size  field
//   0       8     tag
//   8       4     bytes     1..kChunkBytesMax; 0 with kChunkAbort; of the whole stripe with kChunkStripe
//   12      4     flags     kChunkAbort, kChunkStripe or 0
//   16      4     reason    of an abort; the piece size of a stripe; else 0
//   20      4     magic     'HIPB'
//   24      8     seal      of the fields before it (seal.h)
//
// A chunk whose tag has no receive stops reading from this lane until one is posted. move() serves both
// directions and never blocks, so two sides that send to each other cannot deadlock.
//
// Where the endpoint has piece lanes, large sends go over those in stripes (stripes.h), and this lane carries
// their announcements: a stripe's chunk has no bytes of its own. It stops reading until receives for all of
// the stripe are posted, so that the bytes of a tag keep their order.
//
// Any thread; one mutex guards the mover's work. Lock order: mutex_, the stripes', then the BulkQueue's.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tcp/engine.h"
#include "tcp/piece_lanes.h"
#include "transport/base/mutex.h"
#include "transport/bulk_queue.h"
#include "transport/endpoint.h"

namespace tf::tcp {

inline constexpr std::size_t kChunkBytesMax = 1 << 20;
inline constexpr std::uint32_t kChunkMagic = 0x48495042;
inline constexpr std::uint32_t kChunkAbort = 1;
inline constexpr std::uint32_t kChunkStripe = 2;

struct ChunkHeader {
  std::uint64_t tag = 0;
  std::uint32_t bytes = 0;
  std::uint32_t flags = 0;
  std::uint32_t reason = 0;
  std::uint32_t magic = kChunkMagic;
  std::uint64_t seal = 0;
};
static_assert(sizeof(ChunkHeader) == 32 && std::has_unique_object_representations_v<ChunkHeader>);
static_assert(sizeof(ChunkHeader) < kHeldBytesMin);  // the next one is written where the last one was

// The value of its last field.
std::uint64_t seal_of(const ChunkHeader& header);
// A failure is kProtocol and names the field and its value.
Status validate(const ChunkHeader& header);

class BulkLane {
 public:
  explicit BulkLane(LaneIo io) : io_(std::move(io)) {}

  BulkQueue& queue() { return queue_; }
  // Large sends go over these from now on, which outlive every move(). REQUIRES: nothing has moved yet.
  void stripe_over(PieceLanes& pieces) { pieces_ = &pieces; }
  // Something was posted or aborted: move() may find new work.
  void note_post() { posts_.fetch_add(1, std::memory_order_seq_cst); }

  // Returns the bytes moved; at least 1 if a transfer may have ended. At the end of the stream, after
  // everything that came before it: kPeerLost, and transfers wait for fail() or stop(). Any other failure has
  // ended all transfers. Later calls return the same failure.
  Result<std::size_t> move();
  // Something was posted since move() last looked.
  bool has_news() const {
    return posts_.load(std::memory_order_seq_cst) != seen_.load(std::memory_order_seq_cst);
  }
  // For poll(2); the fd is -1 if there is nothing to wait for.
  pollfd input() const;
  pollfd output() const;
  bool is_over() const { return over_.load(std::memory_order_acquire); }  // pairs with close_locked()
  // Why. REQUIRES: is_over(), after which it no longer changes; unchecked for that reason.
  const Status& why() const TF_UNCHECKED { return failure_; }
  // Incoming bytes wait for a receive; only a post lets them move on.
  bool is_stalled() const { return stalled_.load(std::memory_order_acquire); }  // pairs with move_in()

  // Ends every transfer with `status`. If a mover is at work, it does so itself when it next looks, so it
  // must be told of the failure too. Any thread.
  void fail(const Status& status);
  // The same, and waits for the mover and the kernel. Afterwards nobody holds any memory.
  void stop(const Status& status);

 private:
  Result<std::size_t> move_in() TF_REQUIRES(mutex_);
  Result<std::size_t> receive_header() TF_REQUIRES(mutex_);
  Result<std::size_t> receive_body() TF_REQUIRES(mutex_);
  Result<std::size_t> take_abort() TF_REQUIRES(mutex_);
  Result<std::size_t> take_stripe() TF_REQUIRES(mutex_);
  Result<std::size_t> move_out() TF_REQUIRES(mutex_);
  bool next_chunk() TF_REQUIRES(mutex_);
  Result<std::size_t> send_header() TF_REQUIRES(mutex_);
  Result<std::size_t> send_body() TF_REQUIRES(mutex_);
  Result<std::size_t> step_out(std::span<const std::byte> rest, bool is_body) TF_REQUIRES(mutex_);
  void release_sent() TF_REQUIRES(mutex_);
  Status stop_moving(const Status& status) TF_REQUIRES(mutex_);
  void close_locked(const Status& status) TF_REQUIRES(mutex_);
  void end_locked(const Status& status) TF_REQUIRES(mutex_);

  BulkQueue queue_;
  PieceLanes* pieces_ = nullptr;         // null: all sends go over this lane
  std::atomic<std::uint64_t> posts_{0};  // seq_cst with seen_: move() or has_news() sees every post
  std::atomic<std::uint64_t> seen_{0};

  LaneIo io_;  // moves under mutex_; says what to wait for to any thread
  Mutex mutex_;
  Status failure_ TF_GUARDED_BY(mutex_);      // set once, before over_
  std::atomic<bool> over_{false};             // nothing moves any more
  bool ended_ TF_GUARDED_BY(mutex_) = false;  // and no transfer is left
  // in
  ChunkHeader in_ TF_GUARDED_BY(mutex_);
  std::size_t in_header_ TF_GUARDED_BY(mutex_) = 0;       // bytes of it received so far
  std::size_t in_body_ TF_GUARDED_BY(mutex_) = 0;         // bytes of the chunk still to come
  bool in_opened_ TF_GUARDED_BY(mutex_) = false;          // it announces a stripe, which is open
  bool in_pinned_ TF_GUARDED_BY(mutex_) = false;          // the engine holds a receive of in_.tag
  std::vector<std::byte> scratch_ TF_GUARDED_BY(mutex_);  // where discarded bytes go
  std::atomic<bool> stalled_{false};
  // out
  ChunkHeader out_ TF_GUARDED_BY(mutex_);
  std::size_t out_header_ TF_GUARDED_BY(mutex_) = sizeof(ChunkHeader);  // bytes of it sent so far
  std::size_t out_body_ TF_GUARDED_BY(mutex_) = 0;                      // bytes of the chunk still to send
  bool out_pinned_ TF_GUARDED_BY(mutex_) = false;
  struct Segment {
    std::size_t bytes = 0;
    std::uint64_t send = 0;  // 0: a header
  };
  std::uint64_t out_send_ TF_GUARDED_BY(mutex_) = 0;  // BulkQueue::Outgoing::id
  bool released_ TF_GUARDED_BY(mutex_) = false;       // some memory became free during this move()
  // Sent, memory perhaps still read by the kernel; oldest first.
  std::deque<Segment> unreleased_ TF_GUARDED_BY(mutex_);
  std::atomic<bool> blocked_{false};  // the socket is full and there is more to send
};

}  // namespace tf::tcp
