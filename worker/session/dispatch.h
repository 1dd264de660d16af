// SPDX-License-Identifier: Apache-2.0
// Which handler executes which request. The table is generated with the handlers (worker/gen/dispatch.h), and
// given to the executor, which knows none of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hipcore/wire/gen/op_traits.h"

namespace tf::worker {

class Call;

using Handler = void (*)(Call&);

struct Dispatch {
  Handler handler = nullptr;  // null for what is no request of this version
  protocol::OpTraits traits;
};

// By opcode: `columns` entries for each high byte.
struct DispatchTable {
  std::span<const Dispatch> entries;
  std::size_t columns = 0;

  Dispatch find(std::uint16_t opcode) const {
    const std::size_t column = opcode & 0xff;
    const std::size_t index = (opcode >> 8) * columns + column;
    return column < columns && index < entries.size() ? entries[index] : Dispatch{};
  }
};

}  // namespace tf::worker
