// SPDX-License-Identifier: Apache-2.0
// Stripes: large sends that travel in pieces (piece.h), over several connections at once.
//
// The bulk lane announces each stripe, in order, by a chunk of its own (bulk_lane.h). So both sides count
// stripes alike, and the receiver reserves memory for each in the order of the sends. Pieces then come over
// the piece lanes (piece_lane.h), in any order.
//
// No byte is taken twice, so none of a receive is written after the receive has ended, whatever the peer
// sends. Where lanes are recoverable, a piece may come again after its lane was lost: only the bytes of it
// that had not come are taken.
//
// Any thread; one mutex for each direction. Lock order: the bulk lane's, these, the BulkQueue's.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tcp/device_reads.h"
#include "tcp/piece.h"
#include "tcp/unconfirmed.h"
#include "transport/base/mutex.h"
#include "transport/base/status.h"
#include "transport/bulk_queue.h"

namespace tf::tcp {

// Smaller sends go over the bulk lane: it costs less than to wake up the others.
inline constexpr std::size_t kStripedBytesMin = 256 << 10;
// Pieces of longer stripes are not streamed to where a device reads them: that costs the lanes a tenth, and
// the device can read what has left their caches meanwhile.
inline constexpr std::size_t kStreamedStripeMax = 16 << 20;
// Incoming stripes that are not complete. A sender that announces more waits.
inline constexpr std::size_t kStripesMax = 1024;

// What an announcement says. A failure is kProtocol and names the field and its value.
Status validate_stripe(std::uint64_t bytes, std::uint64_t piece_bytes);

// The size of pieces of a stripe of `bytes` for `lanes` lanes, which still have `backlog` bytes to send.
// Lanes without work share the stripe evenly, in one to three pieces each, or more of a long one. Large
// pieces cost less, so one lane may get all of it if the others have work.
std::size_t piece_bytes_for(std::size_t bytes, std::size_t backlog, unsigned lanes);

// What is to be sent in pieces. The bulk lane's mover adds, piece lanes claim.
class OutgoingStripes {
 public:
  // Recoverable: pieces stay until their receipt has come.
  explicit OutgoingStripes(BulkQueue& queue, bool recoverable = false)
      : queue_(queue), recoverable_(recoverable) {}

  // `source` was handed over of the send `id`; it stays until the queue's finish_send() of all of it, and so
  // does `filling` (null: all of it is there).
  void add(std::uint64_t id, std::span<const std::byte> source, std::size_t piece_bytes,
           const Filling* filling = nullptr);
  // Some filling has changed. Returns the pieces that can be claimed of such stripes.
  std::size_t recount();
  // The next piece, which connection `lane` sends.
  std::optional<OutgoingPiece> claim(unsigned lane);
  // The lane that claimed them has passed on all bytes of a piece, or never will.
  void sent(std::size_t bytes) { moving_.fetch_sub(bytes, std::memory_order_relaxed); }
  // Its kernel needs the next `bytes` of the piece no longer. Whether that ended a transfer.
  bool release(std::uint64_t send, const PieceId& piece, std::size_t bytes);
  // What lanes have not passed on yet, without what is being filled. Approximate while they do.
  std::size_t backlog() const;
  bool empty() const { return to_claim_.load(std::memory_order_seq_cst) == 0; }
  // No piece is claimed from now on.
  void close();

  // --- Recoverable ---
  // The peer has all of a piece. Whether that ended a transfer. kProtocol: it was not sent.
  Result<bool> confirm(const PieceId& piece);
  // `lane` is lost and has let go of all memory: others claim what it was to deliver. The same.
  bool lose(unsigned lane);

 private:
  struct Stripe {
    std::uint64_t number = 0;
    std::uint64_t send = 0;
    std::span<const std::byte> source;
    std::size_t piece_bytes = 0;
    const Filling* filling = nullptr;
    std::size_t claimed = 0;

    std::size_t next_bytes() const { return std::min(piece_bytes, source.size() - claimed); }
    bool can_be_claimed() const;
    std::size_t pieces_there() const;
  };
  std::optional<OutgoingPiece> next() TF_REQUIRES(mutex_);
  OutgoingPiece cut(Stripe& stripe) TF_REQUIRES(mutex_);
  void count() TF_REQUIRES(mutex_);

  BulkQueue& queue_;
  const bool recoverable_;
  mutable BriefMutex mutex_;
  std::deque<Stripe> stripes_ TF_GUARDED_BY(mutex_);  // not entirely claimed, oldest first
  Unconfirmed unconfirmed_ TF_GUARDED_BY(mutex_);     // empty if not recoverable
  std::size_t bytes_ TF_GUARDED_BY(mutex_) = 0;       // not claimed of stripes that are there
  std::uint64_t last_ TF_GUARDED_BY(mutex_) = 0;
  bool closed_ TF_GUARDED_BY(mutex_) = false;
  std::atomic<std::size_t> moving_{0};    // bytes that are claimed and not sent; orders nothing
  std::atomic<std::size_t> to_claim_{0};  // stripes and lost pieces; a lane looks before it sleeps
};

// Where pieces go that come. The bulk lane's mover opens stripes and reserves memory for them; piece lanes
// ask where to put what they read.
class IncomingStripes {
 public:
  explicit IncomingStripes(BulkQueue& queue, bool recoverable = false)
      : queue_(queue), recoverable_(recoverable) {}

  // The next stripe has been announced. REQUIRES: validate_stripe(), and !full()
  void open(std::uint64_t tag, std::size_t bytes, std::size_t piece_bytes);
  // Reserves memory for the newest stripe. False: nobody has posted a receive for the rest of it yet. A
  // failure is kProtocol: nobody asked for it.
  Result<bool> reserve();
  bool full() const;
  // What is reserved there from now on, of short stripes, is streamed. forget(): of the same span.
  void expect_device_reads(std::span<std::byte> memory);
  void forget(std::span<std::byte> memory);
  // Some stripe of this tag is not complete.
  bool has_open(std::uint64_t tag) const;

  // What piece lanes wait for has changed when this has.
  std::uint64_t news() const { return news_.load(std::memory_order_seq_cst); }

  struct Taken {
    bool ready = false;    // false: its stripe is not announced yet, or a lost lane has not let go of it
    std::size_t skip = 0;  // bytes at its front that have come before: they are thrown away
  };
  // Takes a piece. A failure is kProtocol.
  Result<Taken> take(const PieceHeader& header);
  // The lane that took it is lost, and has had `landed` bytes of it, those that were skipped included.
  // REQUIRES: take() said that it is ready, with less to skip than all of it.
  void cut(const PieceHeader& header, std::size_t landed);
  struct Place {
    std::span<std::byte> target;  // empty for a discard
    std::size_t bytes = 0;        // 0: not reserved yet
    bool is_streamed = false;     // past this core's caches: a device reads it next
  };
  // Where the bytes at `offset` of a stripe go; at most `bytes` of them. REQUIRES: they were taken, are not
  // skipped, and have not landed.
  Place place(std::uint64_t stripe, std::uint64_t offset, std::size_t bytes) const;
  // They have arrived there. Whether that ended a transfer or completed the stripe. REQUIRES: within what
  // place() said.
  bool land(std::uint64_t stripe, std::uint64_t offset, std::size_t bytes);
  // A void piece was taken: what is left of it will not come. Its receives stay until the abort. Whether that
  // completed the stripe. REQUIRES: less to skip than all of it
  bool land_void(const PieceHeader& header, const Taken& taken);

 private:
  enum class PieceState : std::uint8_t { kFree, kTaken, kLanded };
  struct Segment {
    std::size_t begin = 0;  // in the stripe
    std::size_t bytes = 0;
    std::byte* target = nullptr;  // null: discard
    bool is_streamed = false;
    std::uint64_t receive = 0;  // BulkQueue::Incoming::id
  };
  struct Stripe {
    std::uint64_t tag = 0;
    std::size_t bytes = 0;
    std::size_t piece_bytes = 0;
    std::size_t reserved = 0;
    std::size_t landed = 0;
    std::vector<PieceState> pieces;
    std::unordered_map<std::size_t, std::size_t> cut;  // by piece, one that was taken before: bytes of it
    std::vector<Segment> segments;
  };
  Result<Taken> take_locked(const PieceHeader& header, Stripe& stripe) TF_REQUIRES(mutex_);
  const Segment& segment_at(const Stripe& stripe, std::uint64_t offset) const TF_REQUIRES(mutex_);

  BulkQueue& queue_;
  const bool recoverable_;
  mutable BriefMutex mutex_;
  std::unordered_map<std::uint64_t, Stripe> stripes_ TF_GUARDED_BY(mutex_);  // by number; not complete
  std::uint64_t last_ TF_GUARDED_BY(mutex_) = 0;
  DeviceReads device_reads_ TF_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> news_{0};
};

}  // namespace tf::tcp
