// SPDX-License-Identifier: Apache-2.0
// Packing of host rows for the wire. Pure functions on the caller's memory; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hipcore/graph/box.h"

namespace tf::proxy {

using graph::Box;
using graph::BoxPieces;
using graph::BoxSide;

// Copies rows [first, first + count) between the strided side in host memory and packed bytes.
// REQUIRES: packed.size() == count * width
void pack_rows(const Box& box, const BoxSide& side, std::uint64_t first, std::uint64_t count,
               std::span<std::byte> packed);
void unpack_rows(const Box& box, const BoxSide& side, std::uint64_t first, std::uint64_t count,
                 std::span<const std::byte> packed);

}  // namespace tf::proxy
