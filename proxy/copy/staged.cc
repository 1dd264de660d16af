// SPDX-License-Identifier: Apache-2.0
// Copies of pageable memory through shared buffers, by one thread.
#include "proxy/copy/staged.h"

#include <algorithm>
#include <cstring>

#include "proxy/copy/mapped.h"
#include "proxy/copy/on_device.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

// Buffers of `bytes` each, followed by their words.
bool StagedCopies::allocate_chunks(std::uint64_t bytes, std::span<Chunk> chunks) {
  const std::uint64_t words_bytes = chunks.size() * kStreamWordStride;
  std::uint64_t base = 0;
  if (window_.allocate(chunks.size() * bytes + words_bytes, base) != hipSuccess) return false;
  std::uint64_t word = base + chunks.size() * bytes;
  std::memset(reinterpret_cast<void*>(word), 0, words_bytes);
  for (Chunk& chunk : chunks) {
    chunk.address = base;
    chunk.own.address = chunk.word.address = word;
    base += bytes;
    word += kStreamWordStride;
  }
  return true;
}

bool StagedCopies::set_up(Ring& ring) {
  if (ring.chunks[0].address != 0) return true;
  if (ring.impossible || window_.access() != protocol::HostAccess::kShared) return false;
  ring.impossible = !allocate_chunks(ring.chunk_bytes, ring.chunks);
  return !ring.impossible;
}

hipError_t StagedCopies::mark(const CopyMode& mode, Chunk& chunk) {
  const hipError_t error = words_.mark(mode, chunk.own);
  chunk.word.become(chunk.own);
  return error;
}

hipError_t StagedCopies::await(const Chunk& chunk) {
  return words_.await(chunk.word, chunk.device, chunk.stream);
}

hipError_t StagedCopies::post(const CopyMode& mode, Chunk& chunk, const Box& piece, Leaves leaves) {
  chunk.device = mode.device;
  chunk.stream = mode.stream;
  return post_on_device(connection_, mode, piece, leaves);
}

// Does not wait for what other streams still do with the buffers: that may depend on what this thread does
// next. Nor does a call that need not wait wait for this stream.
StagedCopies::Ring* StagedCopies::claim(const CopyPlan& plan) {
  const CopyMode& mode = plan.mode;
  const auto usable = [&](const Chunk& chunk) {
    return chunk.word.done() || (mode.wait && chunk.stream == mode.stream && chunk.device == mode.device);
  };
  // The next buffer may be that of a stream which stands still.
  const auto has_one = [&](Ring& ring) {
    for (std::size_t tried = 0; tried < ring.chunks.size(); ++tried, ++ring.turn)
      if (usable(ring.chunks[ring.turn % ring.chunks.size()])) return true;
    return false;
  };
  const std::uint64_t bytes = plan.box.bytes();
  if (bytes <= small_.chunk_bytes && set_up(small_) && has_one(small_)) return &small_;
  if (!set_up(large_)) return nullptr;
  if (bytes <= large_.chunk_bytes) return has_one(large_) ? &large_ : nullptr;
  const bool all = std::all_of(large_.chunks.begin(), large_.chunks.end(), usable) &&
                   std::all_of(joint_chunks_.begin(), joint_chunks_.end(), usable);
  return all ? &large_ : nullptr;
}

std::optional<hipError_t> StagedCopies::copy(const CopyPlan& plan) {
  if (!copying_.try_lock()) return std::nullopt;
  const MutexLock lock(copying_, std::adopt_lock);
  Ring* const ring = claim(plan);
  if (ring == nullptr) return std::nullopt;
  if (ring == &large_)
    if (const auto made = jointly(plan)) return made;
  return plan.way == CopyWay::kToDevice ? to_device(plan, *ring) : from_device(plan, *ring);
}

hipError_t StagedCopies::to_device(const CopyPlan& plan, Ring& ring) {
  hipError_t error = hipSuccess;
  // Who waits for a copy of many bytes may want to know how long it takes.
  const Leaves leaves = &ring == &small_ ? Leaves::kArrival : Leaves::kWork;
  graph::BoxPieces pieces(plan.box, ring.chunk_bytes);
  for (auto piece = pieces.next(); piece && error == hipSuccess; piece = pieces.next()) {
    Chunk& chunk = ring.take();
    error = await(chunk);
    if (error != hipSuccess) break;
    Box filled = *piece;
    filled.target = piece->source = packed_at(chunk.address, *piece);
    copy_rows(filled);
    error = post(plan.mode, chunk, *piece, leaves);
    if (error == hipSuccess) error = mark(plan.mode, chunk);
  }
  return error;
}

hipError_t StagedCopies::from_device(const CopyPlan& plan, Ring& ring) {
  hipError_t error = hipSuccess;
  const std::size_t buffers = ring.chunks.size();
  std::size_t landing = ring.turn;
  graph::BoxPieces asked(plan.box, ring.chunk_bytes);
  graph::BoxPieces landed(plan.box, ring.chunk_bytes);
  bool more = true;
  for (auto piece = landed.next(); piece && error == hipSuccess; piece = landed.next(), ++landing) {
    while (more && error == hipSuccess && ring.turn - landing < buffers) {
      auto next = asked.next();
      more = next.has_value();
      if (!more) break;
      Chunk& chunk = ring.take();
      error = await(chunk);
      next->target = packed_at(chunk.address, *next);
      if (error == hipSuccess) error = post(plan.mode, chunk, *next, Leaves::kWork);
      if (error == hipSuccess) error = mark(plan.mode, chunk);
    }
    const Chunk& chunk = ring.chunks[landing % buffers];
    if (error == hipSuccess) error = await(chunk);
    piece->source = packed_at(chunk.address, *piece);
    if (error == hipSuccess) copy_rows(*piece);
  }
  return error;
}

}  // namespace tf::proxy
