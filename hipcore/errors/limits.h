// SPDX-License-Identifier: Apache-2.0
// What HIP defines about device limits besides the enum of HIP 5.2.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::hipdata {

// HIP 5.3 and later (hipLimitStackSize).
inline constexpr auto kLimitStackSize = static_cast<hipLimit_t>(0);

}  // namespace tf::hipdata
