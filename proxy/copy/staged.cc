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

bool StagedCopies::set_up() {
  if (chunks_[0].address != 0) return true;
  if (impossible_ || window_.access() != protocol::HostAccess::kShared) return false;
  impossible_ = !allocate_chunks(kStagingChunkBytes, chunks_);
  return !impossible_;
}

hipError_t StagedCopies::mark(const CopyMode& mode, Chunk& chunk) {
  const hipError_t error = words_.mark(mode, chunk.own);
  chunk.word.become(chunk.own);
  return error;
}

hipError_t StagedCopies::await(const Chunk& chunk) {
  return words_.await(chunk.word, chunk.device, chunk.stream);
}

hipError_t StagedCopies::post(const CopyMode& mode, Chunk& chunk, const Box& piece) {
  chunk.device = mode.device;
  chunk.stream = mode.stream;
  return post_on_device(connection_, mode, piece, Leaves::kWork);
}

// Takes the buffers for a copy on this stream. Does not wait for what other streams still do with them: that
// may depend on what this thread does next. Nor does a call that need not wait wait for this stream.
bool StagedCopies::claim(const CopyMode& mode) {
  if (!set_up()) return false;
  const auto usable = [&](const Chunk& chunk) {
    return chunk.word.done() || (mode.wait && chunk.stream == mode.stream && chunk.device == mode.device);
  };
  return std::all_of(chunks_.begin(), chunks_.end(), usable) &&
         std::all_of(joint_chunks_.begin(), joint_chunks_.end(), usable);
}

std::optional<hipError_t> StagedCopies::copy(const CopyPlan& plan) {
  if (!copying_.try_lock()) return std::nullopt;
  const MutexLock lock(copying_, std::adopt_lock);
  if (!claim(plan.mode)) return std::nullopt;
  if (const auto made = jointly(plan)) return made;
  return plan.way == CopyWay::kToDevice ? to_device(plan) : from_device(plan);
}

hipError_t StagedCopies::to_device(const CopyPlan& plan) {
  hipError_t error = hipSuccess;
  graph::BoxPieces pieces(plan.box, kStagingChunkBytes);
  for (auto piece = pieces.next(); piece && error == hipSuccess; piece = pieces.next()) {
    Chunk& chunk = chunks_[turn_++ % kStagingChunks];
    error = await(chunk);
    if (error != hipSuccess) break;
    Box filled = *piece;
    filled.target = piece->source = packed_at(chunk.address, *piece);
    copy_rows(filled);
    error = post(plan.mode, chunk, *piece);
    if (error == hipSuccess) error = mark(plan.mode, chunk);
  }
  return error;
}

hipError_t StagedCopies::from_device(const CopyPlan& plan) {
  hipError_t error = hipSuccess;
  std::size_t landing = turn_;
  graph::BoxPieces asked(plan.box, kStagingChunkBytes);
  graph::BoxPieces landed(plan.box, kStagingChunkBytes);
  bool more = true;
  for (auto piece = landed.next(); piece && error == hipSuccess; piece = landed.next(), ++landing) {
    while (more && error == hipSuccess && turn_ - landing < kStagingChunks) {
      auto next = asked.next();
      more = next.has_value();
      if (!more) break;
      Chunk& chunk = chunks_[turn_++ % kStagingChunks];
      error = await(chunk);
      next->target = packed_at(chunk.address, *next);
      if (error == hipSuccess) error = post(plan.mode, chunk, *next);
      if (error == hipSuccess) error = mark(plan.mode, chunk);
    }
    const Chunk& chunk = chunks_[landing % kStagingChunks];
    if (error == hipSuccess) error = await(chunk);
    piece->source = packed_at(chunk.address, *piece);
    if (error == hipSuccess) copy_rows(*piece);
  }
  return error;
}

}  // namespace tf::proxy
