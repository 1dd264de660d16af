// SPDX-License-Identifier: Apache-2.0
// Sizes, checks and pieces of boxes.
#include "hipcore/graph/box.h"

#include <algorithm>

namespace tf::graph {
namespace {

// REQUIRES: height and depth are not 0
bool side_valid(const Box& box, const BoxSide& side) {
  std::uint64_t slice_extent = 0;
  std::uint64_t end = 0;
  if (box.height > 1 && side.pitch < box.width) return false;
  if (__builtin_mul_overflow(side.pitch, box.height - 1, &slice_extent)) return false;
  if (__builtin_add_overflow(slice_extent, box.width, &slice_extent)) return false;
  if (box.depth > 1 && side.slice < slice_extent) return false;
  if (__builtin_mul_overflow(side.slice, box.depth - 1, &end)) return false;
  return !__builtin_add_overflow(end, slice_extent, &end) && !__builtin_add_overflow(end, side.address, &end);
}

void join_dense_rows(Box& box) {
  if (box.height == 1 || box.target.pitch != box.width || box.source.pitch != box.width) return;
  box.width *= box.height;
  box.height = 1;
}

void join_slices(Box& box) {
  if (box.depth == 1) return;
  if (box.height == 1) {
    box.target.pitch = box.target.slice;
    box.source.pitch = box.source.slice;
  } else if (box.target.slice != box.target.pitch * box.height ||
             box.source.slice != box.source.pitch * box.height) {
    return;
  }
  box.height *= box.depth;
  box.depth = 1;
}

}  // namespace

bool move_to(const BoxPosition& position, const Box& box, BoxSide& side) {
  std::uint64_t end = 0;
  if (__builtin_add_overflow(position.x, box.width, &end) || end > side.pitch) return false;
  // A single slice may say nothing about the distance to the next one.
  if (box.depth > 1 && (__builtin_add_overflow(position.y, box.height, &end) ||
                        __builtin_mul_overflow(end, side.pitch, &end) || end > side.slice))
    return false;
  side.address += position.z * side.slice + position.y * side.pitch + position.x;
  return true;
}

std::optional<std::uint64_t> packed_bytes(const Box& box) {
  std::uint64_t bytes = 0;
  if (box.is_empty()) return bytes;
  if (__builtin_mul_overflow(box.height, box.depth, &bytes) ||
      __builtin_mul_overflow(bytes, box.width, &bytes))
    return std::nullopt;
  return bytes;
}

bool is_valid(const Box& box) {
  if (box.height == 0 || box.depth == 0) return true;
  return packed_bytes(box) && side_valid(box, box.target) && side_valid(box, box.source);
}

Box flattened(Box box) {
  if (box.is_line()) return box;
  join_dense_rows(box);
  join_slices(box);
  join_dense_rows(box);
  return box;
}

BoxPieces::BoxPieces(const Box& box, std::uint64_t bytes_max) : box_(flattened(box)), bytes_max_(bytes_max) {
  if (box_.is_empty()) box_.depth = 0;
}

Box BoxPieces::placed(Box part) const {
  for (BoxSide* side : {&part.target, &part.source})
    side->address += slice_ * side->slice + row_ * side->pitch + column_;
  return part;
}

std::optional<Box> BoxPieces::next() {
  if (slice_ == box_.depth) return std::nullopt;
  Box part = box_;
  if (box_.width * box_.height <= bytes_max_) {
    part.depth = std::min(bytes_max_ / (box_.width * box_.height), box_.depth - slice_);
    part = placed(part);
    slice_ += part.depth;
    return part;
  }
  part.depth = 1;
  if (box_.width <= bytes_max_) {
    part.height = std::min(bytes_max_ / box_.width, box_.height - row_);
    part = placed(part);
    row_ += part.height;
  } else {
    part.height = 1;
    part.width = std::min(bytes_max_, box_.width - column_);
    part = placed(part);
    column_ += part.width;
    if (column_ == box_.width) {
      column_ = 0;
      ++row_;
    }
  }
  if (row_ == box_.height) {
    row_ = 0;
    ++slice_;
  }
  return part;
}

}  // namespace tf::graph
