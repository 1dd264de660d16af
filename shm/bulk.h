// SPDX-License-Identifier: Apache-2.0
// The bulk plane of a shm endpoint: payload copied into a ring of chunks by the sender's mover and out of it,
// straight into the posted target, by the receiver's. Chunks are small enough for both copies to stay in
// the L2 caches, and the two processes copy at the same time.
//
// A chunk is a ring record: {tag u64, flags u32, reason u32} and the bytes.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

#include "shm/segment.h"
#include "transport/bulk_queue.h"
#include "transport/endpoint.h"

namespace tf::shm {

inline constexpr std::size_t kChunkBytes = 256 * 1024;

struct ChunkHeader {
  std::uint64_t tag = 0;
  std::uint32_t flags = 0;  // kChunkAbort
  std::uint32_t reason = 0;
};
inline constexpr std::uint32_t kChunkAbort = 1;
static_assert(sizeof(ChunkHeader) == 16 && std::has_unique_object_representations_v<ChunkHeader>);

class Bulk final : public BulkPlane {
 public:
  // `status` gives the endpoint's sticky failure, `fail` sets it.
  Bulk(const Rings& rings, std::function<Status()> status, std::function<void(Status)> fail);

  Status send(std::uint64_t tag, std::span<const std::byte> source, BulkCompletion& completion) override;
  Status receive(std::uint64_t tag, std::span<std::byte> target, BulkCompletion& completion) override;
  Status discard(std::uint64_t tag, std::uint64_t bytes, BulkCompletion& completion) override;
  Status abort(std::uint64_t tag, std::uint32_t reason) override;
  Result<std::size_t> poll() override;

  // For the endpoint's wait(): would poll() move anything? Mover's thread.
  bool ready() const;
  // Nothing of the peer's is left to be received. Mover's thread.
  bool drained() const { return !in_.has_record(); }
  void fail_all(const Status& status) { queue_.fail_all(status); }

 private:
  Status posted(Status status);
  std::size_t push();
  Result<std::size_t> pull();

  BulkQueue queue_;
  RingProducer out_;
  RingConsumer in_;
  Doorbell own_;
  Doorbell peer_;
  std::function<Status()> status_;
  std::function<void(Status)> fail_;
  std::size_t taken_ = 0;  // bytes of the record at hand that have been delivered
  bool stalled_ = false;   // the record at hand waits for a receive of stalled_tag_
  std::uint64_t stalled_tag_ = 0;
};

}  // namespace tf::shm
