// SPDX-License-Identifier: Apache-2.0
// Box: a strided copy of rows, `width` bytes x `height` rows x `depth` slices, and packing of host rows for
// the wire. Pure functions on the caller's memory; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tf::proxy {

// One side of a box copy.
struct BoxSide {
  std::uint64_t address = 0;
  std::uint64_t pitch = 0;  // bytes from row to row
  std::uint64_t slice = 0;  // bytes from slice to slice
};

struct Box {
  BoxSide target;
  BoxSide source;
  std::uint64_t width = 0;
  std::uint64_t height = 0;
  std::uint64_t depth = 1;

  std::uint64_t rows() const { return height * depth; }
  std::uint64_t bytes() const { return width * rows(); }
};

// False: a pitch smaller than the row, a slice smaller than its rows, or a size beyond 64 bits.
bool is_valid(const Box& box);
// Bytes from the first to the last byte of one side. REQUIRES: is_valid()
std::uint64_t extent(const Box& box, const BoxSide& side);
// Rows follow each other without gaps on this side.
bool is_dense(const Box& box, const BoxSide& side);

// Cuts a box into boxes of at most `bytes_max` packed bytes, in order: whole slices, else rows of one slice,
// else pieces of a row. REQUIRES: is_valid(box), nothing in it is 0, bytes_max > 0
class BoxPieces {
 public:
  BoxPieces(const Box& box, std::uint64_t bytes_max);

  std::optional<Box> next();

 private:
  // `part` as it lies at the place reached.
  Box placed(Box part) const;

  Box box_;
  std::uint64_t bytes_max_;
  std::uint64_t slice_ = 0;
  std::uint64_t row_ = 0;
  std::uint64_t column_ = 0;
};

// Copies rows [first, first + count) between the strided side in host memory and packed bytes.
// REQUIRES: packed.size() == count * width
void pack_rows(const Box& box, const BoxSide& side, std::uint64_t first, std::uint64_t count,
               std::span<std::byte> packed);
void unpack_rows(const Box& box, const BoxSide& side, std::uint64_t first, std::uint64_t count,
                 std::span<const std::byte> packed);

}  // namespace tf::proxy
