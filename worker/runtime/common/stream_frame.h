// SPDX-License-Identifier: Apache-2.0
// The frame of calls on a stream.
#pragma once

#include <hip/hip_runtime_api.h>

#include "worker/runtime/common/api.h"

namespace tf::runtime {

// Calls body(const Backend::Stream&) in api(); the stream lives until that returns.
template <typename Body>
hipError_t with_stream(hipStream_t handle, Body&& body) {
  return api([&]() -> hipError_t {
    Backend::Stream stream{};
    const hipError_t status = Backend::find_stream(handle, stream);
    return status == hipSuccess ? body(stream) : status;
  });
}

}  // namespace tf::runtime
