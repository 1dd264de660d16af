// SPDX-License-Identifier: Apache-2.0
// The bulk plane of a shm endpoint. The sender's mover copies payload into a ring of chunks; the receiver's
// mover copies it out, straight into the posted target. Chunks are small enough that both copies stay in the
// L2 caches, and the two processes copy at the same time.
//
// A chunk is a ring record: a ChunkHeader, then the bytes, which therefore begin on a cache line.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "shm/segment.h"
#include "transport/bulk_queue.h"
#include "transport/endpoint.h"

namespace tf::shm {

inline constexpr std::size_t kChunkBytes = 64 * 1024;

struct ChunkHeader {
  std::uint64_t tag = 0;
  std::uint32_t flags = 0;  // kChunkAbort
  std::uint32_t reason = 0;
  std::uint64_t word = 0;          // for the ring
  std::uint64_t reserved[5] = {};  // zero
};
inline constexpr std::uint32_t kChunkAbort = 1;
static_assert(sizeof(ChunkHeader) == kRingLineBytes && offsetof(ChunkHeader, word) == kRingWordOffset);
static_assert(std::has_unique_object_representations_v<ChunkHeader>);

// What the bulk plane needs from its endpoint.
class BulkOwner {
 public:
  virtual Status status() const = 0;       // the sticky failure
  virtual void fail(Status reason) = 0;    // sets it
  virtual bool peer_gone() const = 0;      // nobody will read what we send
  virtual Status look_now_and_then() = 0;  // nothing moved: returns a failure if the peer is lost

 protected:
  ~BulkOwner() = default;
};

class Bulk final : public QueuedBulkPlane {
 public:
  Bulk(const Rings& rings, BulkOwner& owner);

  Result<std::size_t> move_payload() override;

  // For the endpoint's wait(): whether move_payload() would move anything. Any thread.
  bool ready() const;
  // A chunk from the peer is here, and move_payload() has not found yet that it has no receiver. Any thread.
  bool can_deliver() const;
  // Position of the next chunk to read. Any thread.
  std::uint64_t position() const { return in_.position(); }
  void fail_all(const Status& status) { queue_.fail_all(status); }

 private:
  static constexpr std::uint64_t kNotStalled = ~std::uint64_t{0};

  BulkQueue& bulk_queue() override { return queue_; }
  Status posted(Status status) override;
  std::size_t push();
  Result<std::size_t> pull();
  Result<std::size_t> take(std::span<const std::byte> chunk, bool& finished);
  Result<std::size_t> take_payload(std::uint64_t tag, std::span<const std::byte> payload, bool& finished);

  BulkOwner& owner_;
  BulkQueue queue_;
  RingProducer out_;
  RingConsumer in_;
  Doorbell own_;
  Doorbell peer_;
  std::size_t taken_ = 0;  // mover's: bytes of the chunk at hand that have been delivered
  // The chunk at this position waits for a receive of stalled_tag_. The mover writes both, the tag first;
  // others read. stalled_at_ is stored with release and loaded with acquire.
  std::atomic<std::uint64_t> stalled_at_{kNotStalled};
  std::atomic<std::uint64_t> stalled_tag_{0};
};

}  // namespace tf::shm
