// SPDX-License-Identifier: Apache-2.0
// api(): the frame of every exported function: charges the configured cost, keeps the thread's last error,
// and lets no exception reach the caller's C code. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <exception>
#include <new>
#include <utility>

#include "worker/runtime/cpu/clock.h"
#include "worker/runtime/cpu/runtime.h"

#define TF_CPU_EXPORT __attribute__((visibility("default")))

namespace tf::cpu {

// HIP 5: every call sets the last error, success too.
inline hipError_t remember(hipError_t status) { return thread_state().last_error = status; }

template <typename Body>
hipError_t api(Body&& body) noexcept {
  try {
    const std::uint64_t cost_ns = Runtime::get().settings().call_ns;
    const std::uint64_t until = cost_ns ? now_ns() + cost_ns : 0;
    const hipError_t status = std::forward<Body>(body)();
    if (cost_ns) spin_until(until);
    return remember(status);
  } catch (const std::bad_alloc&) {
    return remember(hipErrorOutOfMemory);
  } catch (const std::exception&) {
    return remember(hipErrorOperatingSystem);  // a thread that could not be started
  }
}

}  // namespace tf::cpu
