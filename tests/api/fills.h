// SPDX-License-Identifier: Apache-2.0
// Parameters of fills in graphs.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

namespace tf::api_test {

// `count` numbers.
inline hipMemsetParams filling(void* target, unsigned value, std::size_t count) {
  hipMemsetParams fill{};
  fill.dst = target;
  fill.value = value;
  fill.elementSize = 4;
  fill.width = count;
  fill.height = 1;
  return fill;
}

}  // namespace tf::api_test
