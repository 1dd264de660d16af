// SPDX-License-Identifier: Apache-2.0
// Boxes: which are refused, their pieces, and their rows packed.
#include "hipcore/graph/box.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "proxy/copy/mapped.h"

namespace tf::proxy {
namespace {

Box box_over(std::vector<std::byte>& memory) {
  Box box;
  box.width = 5;
  box.height = 3;
  box.depth = 2;
  box.source = {reinterpret_cast<std::uint64_t>(memory.data()), 8, 32};
  box.target = {0x1000, 5, 15};
  return box;
}

// The rows of one side, and their bytes without gaps.
void pack(const Box& box, const BoxSide& side, std::vector<std::byte>& packed) {
  Box rows = box;
  rows.source = side;
  rows.target = packed_at(reinterpret_cast<std::uint64_t>(packed.data()), box);
  copy_rows(rows);
}
void unpack(const Box& box, const BoxSide& side, const std::vector<std::byte>& packed) {
  Box rows = box;
  rows.source = packed_at(reinterpret_cast<std::uint64_t>(packed.data()), box);
  rows.target = side;
  copy_rows(rows);
}

TEST(Box, PackAndUnpackAreInverse) {
  std::vector<std::byte> memory(64);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i);
  Box box = box_over(memory);
  ASSERT_TRUE(is_valid(box));
  EXPECT_EQ(extent(box, box.source), 32u + 16 + 5);
  std::vector<std::byte> packed(box.bytes());
  pack(box, box.source, packed);
  EXPECT_EQ(packed[5], std::byte{8});
  EXPECT_EQ(packed[15], std::byte{32});
  EXPECT_EQ(packed[29], std::byte{32 + 16 + 4});
  std::vector<std::byte> back(64, std::byte{0xff});
  Box other = box_over(back);
  unpack(other, other.source, packed);
  int untouched = 0;
  for (std::size_t i = 0; i < back.size(); ++i) {
    if (back[i] == std::byte{0xff})
      ++untouched;
    else
      EXPECT_EQ(back[i], memory[i]);
  }
  EXPECT_EQ(untouched, 64 - 30) << "bytes between the rows were written";
}

TEST(Box, Refusals) {
  std::vector<std::byte> memory(64);
  Box box = box_over(memory);
  box.source.pitch = 4;
  EXPECT_FALSE(is_valid(box)) << "pitch below width";
  box = box_over(memory);
  box.source.slice = 20;
  EXPECT_FALSE(is_valid(box)) << "slices overlap";
  box = box_over(memory);
  box.height = 1ull << 40;
  box.width = 1ull << 40;
  box.source.pitch = box.target.pitch = 1ull << 40;
  EXPECT_FALSE(is_valid(box)) << "size overflows";
  box = box_over(memory);
  box.target.address = ~0ull - 10;
  EXPECT_FALSE(is_valid(box)) << "wraps around the address space";
}

TEST(Box, WhatIsDenseOnBothSidesIsALine) {
  std::vector<std::byte> memory(64);
  Box box = box_over(memory);
  EXPECT_EQ(flattened(box).rows(), 6u);
  box.source = {box.source.address, 5, 16};
  EXPECT_EQ(flattened(box).rows(), 2u) << "slices with a gap";
  box.source.slice = 15;
  EXPECT_TRUE(flattened(box).is_line());
  EXPECT_EQ(flattened(box).width, 30u);
  box.source.pitch = box.source.slice = 77;
  box.height = 1;
  box.depth = 1;
  EXPECT_TRUE(flattened(box).is_line()) << "nothing lies between the rows of one";
}

// Fills the target piece by piece, and counts the pieces.
int copy_in_pieces(const Box& box, std::uint64_t bytes_max) {
  int count = 0;
  graph::BoxPieces pieces(box, bytes_max);
  while (const auto piece = pieces.next()) {
    EXPECT_LE(piece->bytes(), bytes_max);
    std::vector<std::byte> packed(piece->bytes());
    pack(*piece, piece->source, packed);
    unpack(*piece, piece->target, packed);
    ++count;
  }
  return count;
}

TEST(BoxPieces, MakeUpTheBox) {
  std::vector<std::byte> from(4096);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i % 251 + 1);
  for (const auto& [height, depth] : {std::pair{1, 1}, {1, 5}, {5, 1}, {4, 5}}) {
    for (const std::uint64_t source_slice : {80u, 100u}) {  // rows without a gap between slices, or with one
      Box box;
      box.width = 17;
      box.height = static_cast<std::uint64_t>(height);
      box.depth = static_cast<std::uint64_t>(depth);
      for (std::uint64_t bytes_max = 1; bytes_max < 400; bytes_max += 7) {
        std::vector<std::byte> whole(1000, std::byte{0});
        std::vector<std::byte> pieces = whole;
        box.source = {reinterpret_cast<std::uint64_t>(from.data()), 20, source_slice};
        box.target = {reinterpret_cast<std::uint64_t>(whole.data()), 30, box.height * 30};
        ASSERT_TRUE(is_valid(box));
        std::vector<std::byte> packed(box.bytes());
        pack(box, box.source, packed);
        unpack(box, box.target, packed);
        box.target.address = reinterpret_cast<std::uint64_t>(pieces.data());
        copy_in_pieces(box, bytes_max);
        EXPECT_EQ(pieces, whole) << height << ' ' << depth << ' ' << source_slice << ' ' << bytes_max;
      }
    }
  }
}

// A message a piece: rows, and slices of few rows, travel together.
TEST(BoxPieces, AreFew) {
  std::vector<std::byte> from(64 << 10);
  std::vector<std::byte> to(64 << 10);
  Box box;
  box.width = 8;
  box.height = 4;
  box.depth = 1000;
  box.source = {reinterpret_cast<std::uint64_t>(from.data()), 12, 50};
  box.target = {reinterpret_cast<std::uint64_t>(to.data()), 10, 40};
  EXPECT_EQ(copy_in_pieces(box, 16000), 2) << "slices with gaps";
  box.source.slice = 48;
  EXPECT_EQ(copy_in_pieces(box, 16000), 2) << "all rows";
  box.height = 1;
  EXPECT_EQ(copy_in_pieces(box, 16000), 1) << "a row a slice";
}

}  // namespace
}  // namespace tf::proxy
