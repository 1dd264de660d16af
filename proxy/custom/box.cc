// SPDX-License-Identifier: Apache-2.0
#include "proxy/custom/box.h"

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
