// SPDX-License-Identifier: Apache-2.0
// Stripes: large sends that travel in pieces, over several connections at once.
//
// The bulk lane announces each stripe, in order, by a chunk of its own (bulk_lane.h). So both sides count
// stripes alike, and the receiver reserves memory for each in the order of the sends. Pieces then come over
// the piece lanes (piece_lane.h), in any order, each a 32-byte header and its bytes:
//   offset  size  field
//   0       8     stripe    1, 2, ... in the order of their announcements
//   8       8     offset    in the stripe; a multiple of the stripe's piece size
//   16      4     bytes     the piece size, or what is left of the stripe
//   20      4     magic     'HIPP'
//   24      8     seal      of the fields before it (seal.h)
//
// No piece is taken twice, so no byte of a receive is written after the receive has ended, whatever the peer
// sends.
//
// Any thread; one mutex for each direction. Lock order: the bulk lane's, these, the BulkQueue's.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "transport/base/mutex.h"
#include "transport/base/status.h"
#include "transport/bulk_queue.h"

namespace tf::tcp {

inline constexpr std::uint32_t kPieceMagic = 0x48495050;
inline constexpr std::size_t kPieceBytesMin = 64 << 10;
inline constexpr std::size_t kPieceBytesMax = 1 << 20;
// Smaller sends go over the bulk lane: it costs less than to wake up the others.
inline constexpr std::size_t kStripedBytesMin = 256 << 10;
// A longer send is several stripes.
inline constexpr std::size_t kStripeBytesMax = 1 << 30;
// Incoming stripes that are not complete. A sender that announces more waits.
inline constexpr std::size_t kStripesMax = 1024;

struct PieceHeader {
  std::uint64_t stripe = 0;
  std::uint64_t offset = 0;
  std::uint32_t bytes = 0;
  std::uint32_t magic = kPieceMagic;
  std::uint64_t seal = 0;
};
static_assert(sizeof(PieceHeader) == 32 && std::has_unique_object_representations_v<PieceHeader>);

// kProtocol: "bulk piece: length 0 is not possible".
Status not_possible(std::string_view what, std::string_view field, std::uint64_t value);
// The value of its last field.
std::uint64_t seal_of(const PieceHeader& header);
// A failure is kProtocol and names the field and its value.
Status validate(const PieceHeader& header);
// What an announcement says. The same.
Status validate_stripe(std::uint64_t bytes, std::uint64_t piece_bytes);

// The size of pieces of a stripe of `bytes` for `lanes` lanes, which still have `backlog` bytes to send.
// Lanes without work share the stripe evenly. Large pieces cost less, so one lane may get all of it if the
// others have work.
std::size_t piece_bytes_for(std::size_t bytes, std::size_t backlog, unsigned lanes);

// What is to be sent in pieces. The bulk lane's mover adds, piece lanes claim.
class OutgoingStripes {
 public:
  struct Piece {
    std::uint64_t send = 0;  // BulkQueue::Outgoing::id
    PieceHeader header;
    std::span<const std::byte> source;
  };

  // `source` was handed over of the send `id`; it stays until the queue's finish_send() of all of it.
  void add(std::uint64_t id, std::span<const std::byte> source, std::size_t piece_bytes);
  std::optional<Piece> claim();
  // The lane that claimed them has passed on all bytes of a piece.
  void sent(std::size_t bytes) { moving_.fetch_sub(bytes, std::memory_order_relaxed); }
  // What lanes have not passed on yet. Approximate while they do.
  std::size_t backlog() const;
  bool empty() const { return stripes_left_.load(std::memory_order_seq_cst) == 0; }
  // No piece is claimed from now on.
  void close();

 private:
  struct Stripe {
    std::uint64_t number = 0;
    std::uint64_t send = 0;
    std::span<const std::byte> source;
    std::size_t piece_bytes = 0;
    std::size_t claimed = 0;
  };
  mutable Mutex mutex_;
  std::deque<Stripe> stripes_ TF_GUARDED_BY(mutex_);  // not entirely claimed, oldest first
  std::size_t bytes_ TF_GUARDED_BY(mutex_) = 0;
  std::uint64_t last_ TF_GUARDED_BY(mutex_) = 0;
  bool closed_ TF_GUARDED_BY(mutex_) = false;
  std::atomic<std::size_t> moving_{0};        // bytes that are claimed and not sent; orders nothing
  std::atomic<std::size_t> stripes_left_{0};  // stripes_.size(); a lane looks before it sleeps
};

// Where pieces go that come. The bulk lane's mover opens stripes and reserves memory for them; piece lanes
// ask where to put what they read.
class IncomingStripes {
 public:
  explicit IncomingStripes(BulkQueue& queue) : queue_(queue) {}

  // The next stripe has been announced. REQUIRES: validate_stripe(), and !full()
  void open(std::uint64_t tag, std::size_t bytes, std::size_t piece_bytes);
  // Reserves memory for the newest stripe. False: nobody has posted a receive for the rest of it yet. A
  // failure is kProtocol: nobody asked for it.
  Result<bool> reserve();
  bool full() const;
  // Some stripe of this tag is not complete.
  bool has_open(std::uint64_t tag) const;

  // What piece lanes wait for has changed when this has.
  std::uint64_t news() const { return news_.load(std::memory_order_seq_cst); }

  // Takes a piece. False: its stripe is not announced yet. A failure is kProtocol.
  Result<bool> take(const PieceHeader& header);
  struct Place {
    std::span<std::byte> target;  // empty for a discard
    std::size_t bytes = 0;        // 0: not reserved yet
  };
  // Where the bytes at `offset` of a stripe go; at most `bytes` of them. REQUIRES: they were taken, and have
  // not landed.
  Place place(std::uint64_t stripe, std::uint64_t offset, std::size_t bytes) const;
  // They have arrived there. Whether that ended a transfer or completed the stripe. REQUIRES: within what
  // place() said.
  bool land(std::uint64_t stripe, std::uint64_t offset, std::size_t bytes);

 private:
  struct Segment {
    std::size_t begin = 0;  // in the stripe
    std::size_t bytes = 0;
    std::byte* target = nullptr;  // null: discard
    std::uint64_t receive = 0;    // BulkQueue::Incoming::id
  };
  struct Stripe {
    std::uint64_t tag = 0;
    std::size_t bytes = 0;
    std::size_t piece_bytes = 0;
    std::size_t reserved = 0;
    std::size_t landed = 0;
    std::vector<bool> taken;  // by piece
    std::vector<Segment> segments;
  };
  const Segment& segment_at(const Stripe& stripe, std::uint64_t offset) const TF_REQUIRES(mutex_);

  BulkQueue& queue_;
  mutable Mutex mutex_;
  std::unordered_map<std::uint64_t, Stripe> stripes_ TF_GUARDED_BY(mutex_);  // by number; not complete
  std::uint64_t last_ TF_GUARDED_BY(mutex_) = 0;
  std::atomic<std::uint64_t> news_{0};
};

}  // namespace tf::tcp
