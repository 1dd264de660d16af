// SPDX-License-Identifier: Apache-2.0
// The CPU runtime's Backend; worker/runtime/common/backend.h says what each function has to be.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <utility>

#include "worker/runtime/cpu/clock.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {

struct Backend {
  // --- calls
  static constexpr char kName[] = "hip-cpu";
  static constexpr char kVerboseVariable[] = "HIP_CPU_VERBOSE";

  static ThreadState& thread() { return thread_state(); }
  // Charges the configured cost.
  template <typename Body>
  static hipError_t call(Body&& body) {
    const std::uint64_t cost_ns = Runtime::get().settings().call_ns;
    const std::uint64_t until = cost_ns ? now_ns() + cost_ns : 0;
    const hipError_t status = std::forward<Body>(body)();
    if (cost_ns) spin_until(until);
    return status;
  }
  template <typename Body>
  static hipError_t call_on_host(Body&& body) {
    return call(std::forward<Body>(body));
  }
};

}  // namespace tf::cpu

namespace tf::runtime {
using cpu::Backend;
}
