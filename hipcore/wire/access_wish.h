// SPDX-License-Identifier: Apache-2.0
// The tail of SetAccess: which device gets which access. Plain wire values.
#pragma once

#include <cstdint>

namespace tf::protocol {

struct AccessWish {
  std::int32_t device = 0;  // the worker's ordinal
  std::uint32_t flags = 0;  // hipMemAccessFlags
};
static_assert(sizeof(AccessWish) == 8);

}  // namespace tf::protocol
