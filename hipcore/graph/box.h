// SPDX-License-Identifier: Apache-2.0
// Box: the description of a copy, for client, graphs and worker: `width` bytes x `height` rows x `depth`
// slices between two places. A linear copy is a box of one row, called a line. Plain values: nothing here
// touches the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace tf::graph {

inline std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

// The layout of one end's rows.
struct BoxSide {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;  // bytes from one row to the next
  std::uint64_t slice = 0;  // bytes from one slice to the next

  std::byte* memory() const { return reinterpret_cast<std::byte*>(address); }
};

struct Box {
  BoxSide target;
  BoxSide source;
  std::uint64_t width = 0;
  std::uint64_t height = 1;
  std::uint64_t depth = 1;

  bool is_line() const { return height == 1 && depth == 1; }
  bool is_empty() const { return width == 0 || height == 0 || depth == 0; }
  // REQUIRES for both: packed_bytes() does not overflow.
  std::uint64_t rows() const { return height * depth; }
  std::uint64_t bytes() const { return width * rows(); }
};

inline Box line(std::uint64_t target, std::uint64_t source, std::uint64_t bytes) {
  return {{target, bytes, bytes}, {source, bytes, bytes}, bytes, 1, 1};
}

struct BoxPosition {
  std::uint64_t x = 0;  // bytes
  std::uint64_t y = 0;  // rows
  std::uint64_t z = 0;  // slices
};

// Moves a side, whose address is where its memory begins, to a position in it. False: there the box's rows
// reach into the next rows, or its slices into the next slices. CUDA's documentation of cuMemcpy3D says that
// this is an error.
bool move_to(const BoxPosition& position, const Box& box, BoxSide& side);

// The bytes without gaps. Nothing: the number exceeds 64 bits.
std::optional<std::uint64_t> packed_bytes(const Box& box);
// False: a pitch smaller than the row, a slice smaller than its rows, or a size or end beyond 64 bits.
bool is_valid(const Box& box);
// The bytes from the first to the last byte of one side. REQUIRES: is_valid()
inline std::uint64_t extent(const Box& box, const BoxSide& side) {
  if (box.is_line()) return box.width;
  if (box.is_empty()) return 0;
  return (box.depth - 1) * side.slice + (box.height - 1) * side.pitch + box.width;
}
// The rows of the box at `address`, without gaps.
inline BoxSide packed_at(std::uint64_t address, const Box& box) {
  return {address, box.width, box.width * box.height};
}
// The same copy with as few rows and slices as possible. Rows that follow each other without a gap on both
// sides become one row; slices that follow each other as rows do become rows. A box that is dense on both
// sides becomes a line. REQUIRES: is_valid()
Box flattened(Box box);

// Cuts a box into boxes of at most `bytes_max` packed bytes, in the order of its bytes: whole slices, else
// rows of one slice, else pieces of a row. REQUIRES: packed_bytes() does not overflow, and bytes_max > 0
class BoxPieces {
 public:
  BoxPieces(const Box& box, std::uint64_t bytes_max);

  std::optional<Box> next();

 private:
  // The layout of `part` at the current position.
  Box placed(Box part) const;

  Box box_;
  std::uint64_t bytes_max_;
  std::uint64_t slice_ = 0;
  std::uint64_t row_ = 0;
  std::uint64_t column_ = 0;
};

}  // namespace tf::graph
