// SPDX-License-Identifier: Apache-2.0
// The frames of the exported functions: they make the thread's device current, keep its last error, and let
// no exception reach the caller's C code. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <exception>
#include <new>
#include <utility>

#include "worker/runtime/cuda/runtime.h"

#define TF_CUDA_EXPORT __attribute__((visibility("default")))

namespace tf::cuda {

// HIP 5: every call sets the last error, success too.
inline hipError_t remember(hipError_t status) { return thread_state().last_error = status; }

// For what needs no context: nothing is started on the device.
template <typename Body>
hipError_t host_api(Body&& body) noexcept {
  try {
    return remember(std::forward<Body>(body)());
  } catch (const std::bad_alloc&) {
    return remember(hipErrorOutOfMemory);
  } catch (const std::exception&) {
    return remember(hipErrorOperatingSystem);
  }
}

// For what the driver does in the current context. What it costs a thread that is ready is one comparison.
template <typename Body>
hipError_t api(Body&& body) noexcept {
  ThreadState& self = thread_state();
  return host_api([&]() -> hipError_t {
    if (!is_ready(self)) [[unlikely]] {
      if (const hipError_t error = Runtime::get().make_ready(self)) return error;
    }
    return std::forward<Body>(body)();
  });
}

}  // namespace tf::cuda
