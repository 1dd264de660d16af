// SPDX-License-Identifier: Apache-2.0
// Checks and makes linear copies for hipMemcpy*. REQUIRES: called in api()
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

#include "worker/runtime/common/wait.h"

namespace tf::runtime {

hipError_t copy_linear(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind,
                       hipStream_t stream, Wait wait);

}  // namespace tf::runtime
