// SPDX-License-Identifier: Apache-2.0
// The strided copies of Staging: every chunk holds a piece of the box with its rows packed, and one message
// copies it between the chunk and the device.
#include <optional>
#include <span>

#include "proxy/copy/copy_engine.h"
#include "proxy/copy/staging.h"

namespace tf::proxy {
namespace {

BoxSide packed(std::uint64_t address, const Box& box) { return {address, box.width, box.width * box.height}; }

}  // namespace

hipError_t Staging::move_box(const CopyMode& mode, Chunk& chunk, const Box& box) {
  chunk.device = mode.device;
  chunk.stream = mode.stream;
  const hipError_t error = post_box(connection_, mode, box);
  return error != hipSuccess ? error : mark(mode, chunk);
}

Staging::Outcome Staging::box_to_device(const CopyMode& mode, const Box& box, hipError_t& error) {
  std::unique_lock<std::mutex> lock;
  if (!claim(mode, lock)) return Outcome::kNotTaken;
  error = hipSuccess;
  BoxPieces pieces(box, kStagingChunkBytes);
  for (auto piece = pieces.next(); piece && error == hipSuccess; piece = pieces.next()) {
    Chunk& chunk = chunks_[turn_++ % kStagingChunks];
    error = await(chunk.word, chunk.device, chunk.stream);
    if (error != hipSuccess) break;
    pack_rows(*piece, piece->source, 0, piece->rows(), {memory(chunk), piece->bytes()});
    piece->source = packed(chunk.address, *piece);
    error = move_box(mode, chunk, *piece);
  }
  return Outcome::kDone;
}

Staging::Outcome Staging::box_from_device(const CopyMode& mode, const Box& box, hipError_t& error) {
  std::unique_lock<std::mutex> lock;
  if (!claim(mode, lock)) return Outcome::kNotTaken;
  error = hipSuccess;
  std::size_t landing = turn_;
  BoxPieces asked(box, kStagingChunkBytes);
  BoxPieces landed(box, kStagingChunkBytes);
  bool more = true;
  for (auto piece = landed.next(); piece && error == hipSuccess; piece = landed.next(), ++landing) {
    while (more && error == hipSuccess && turn_ - landing < kStagingChunks) {
      auto next = asked.next();
      more = next.has_value();
      if (!more) break;
      Chunk& chunk = chunks_[turn_++ % kStagingChunks];
      error = await(chunk.word, chunk.device, chunk.stream);
      next->target = packed(chunk.address, *next);
      if (error == hipSuccess) error = move_box(mode, chunk, *next);
    }
    const Chunk& chunk = chunks_[landing % kStagingChunks];
    if (error == hipSuccess) error = await(chunk.word, chunk.device, chunk.stream);
    if (error == hipSuccess)
      unpack_rows(*piece, piece->target, 0, piece->rows(), {memory(chunk), piece->bytes()});
  }
  return Outcome::kDone;
}

}  // namespace tf::proxy
