// SPDX-License-Identifier: Apache-2.0
#include "proxy/copy/box.h"

#include <cstring>

namespace tf::proxy {
namespace {

std::byte* row_address(const Box& box, const BoxSide& side, std::uint64_t row) {
  return reinterpret_cast<std::byte*>(side.address + row / box.height * side.slice +
                                      row % box.height * side.pitch);
}

}  // namespace

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
