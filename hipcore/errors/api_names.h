// SPDX-License-Identifier: Apache-2.0
// The names of API functions by the numbers that tracers get (hipApiName). Every release numbers them anew.
#pragma once

#include <cstdint>

namespace tf::hipdata {

// By the numbers of the HIP release whose headers this was built with. "unknown" for a number that is none.
// Constant text.
const char* api_name(std::uint32_t id);

}  // namespace tf::hipdata
