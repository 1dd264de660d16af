// SPDX-License-Identifier: Apache-2.0
// Records events, for hipEventRecord and for launches between events. REQUIRES: called in api()
#pragma once

#include <hip/hip_runtime_api.h>

#include "worker/runtime/common/capture.h"

namespace tf::runtime {

// Records the event, or adds that to the capture.
inline hipError_t record_event(const Backend::Event& event, const Backend::Stream& stream) {
  if (const hipError_t status = Backend::check_record(event, stream)) return status;
  if (graph::Library* const library = capturing()) [[unlikely]] {
    const auto verdict = library->capture_record(Backend::reference(stream), Backend::reference(event));
    if (verdict) return *verdict;
  }
  return Backend::record(event, stream);
}

}  // namespace tf::runtime
