// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy/box.h"

#include <algorithm>
#include <cstring>

namespace tf::proxy {
namespace {

std::byte* row_address(const Box& box, const BoxSide& side, std::uint64_t row) {
  return reinterpret_cast<std::byte*>(side.address + row / box.height * side.slice +
                                      row % box.height * side.pitch);
}

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

// Slices that follow each other like rows are treated as rows, on both sides.
Box flattened(Box box) {
  if (box.height == 1) {
    box.target.pitch = box.target.slice;
    box.source.pitch = box.source.slice;
  } else if (box.target.slice != box.target.pitch * box.height ||
             box.source.slice != box.source.pitch * box.height) {
    return box;
  }
  box.height *= box.depth;
  box.depth = 1;
  return box;
}

}  // namespace

bool is_valid(const Box& box) {
  if (box.height == 0 || box.depth == 0) return true;
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(box.height, box.depth, &rows) || __builtin_mul_overflow(rows, box.width, &bytes))
    return false;
  return side_valid(box, box.target) && side_valid(box, box.source);
}

std::uint64_t extent(const Box& box, const BoxSide& side) {
  if (box.bytes() == 0) return 0;
  return (box.depth - 1) * side.slice + (box.height - 1) * side.pitch + box.width;
}

bool is_dense(const Box& box, const BoxSide& side) {
  bool rows = box.height == 1 || side.pitch == box.width;
  bool slices = box.depth == 1 || side.slice == box.width * box.height;
  return rows && slices;
}

BoxPieces::BoxPieces(const Box& box, std::uint64_t bytes_max)
    : box_(box.depth > 1 ? flattened(box) : box), bytes_max_(bytes_max) {}

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

void pack_rows(const Box& box, const BoxSide& side, std::uint64_t first, std::uint64_t count,
               std::span<std::byte> packed) {
  for (std::uint64_t i = 0; i < count; ++i)
    std::memcpy(packed.data() + i * box.width, row_address(box, side, first + i), box.width);
}

void unpack_rows(const Box& box, const BoxSide& side, std::uint64_t first, std::uint64_t count,
                 std::span<const std::byte> packed) {
  for (std::uint64_t i = 0; i < count; ++i)
    std::memcpy(row_address(box, side, first + i), packed.data() + i * box.width, box.width);
}

}  // namespace tf::proxy
