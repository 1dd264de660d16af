// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime's Backend; worker/runtime/common/backend.h says what each function has to be. What is done
// in call() has the context of the thread's device current.
#pragma once

#include <hip/hip_runtime_api.h>

#include <utility>

#include "worker/runtime/cuda/runtime.h"

namespace tf::cuda {

struct Backend {
  // --- calls
  static constexpr char kName[] = "hip-cuda";
  static constexpr char kVerboseVariable[] = "HIP_CUDA_VERBOSE";

  static ThreadState& thread() { return thread_state(); }
  // What it costs a thread that is ready is one comparison.
  template <typename Body>
  static hipError_t call(Body&& body) {
    ThreadState& self = thread_state();
    if (!is_ready(self)) [[unlikely]] {
      if (const hipError_t error = Runtime::get().make_ready(self)) return error;
    }
    return std::forward<Body>(body)();
  }
  template <typename Body>
  static hipError_t call_on_host(Body&& body) {
    return std::forward<Body>(body)();
  }
};

}  // namespace tf::cuda

namespace tf::runtime {
using cuda::Backend;
}
