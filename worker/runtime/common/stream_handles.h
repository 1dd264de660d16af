// SPDX-License-Identifier: Apache-2.0
// Stream handles that stand for a stream on every thread and device. See also hipStreamPerThread.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::runtime {

inline const hipStream_t kLegacyStream = reinterpret_cast<hipStream_t>(1);

}  // namespace tf::runtime
