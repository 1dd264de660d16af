// SPDX-License-Identifier: Apache-2.0
// The frames of the exported functions: they keep the thread's last error and let no exception reach the
// caller's C code. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <exception>
#include <new>
#include <utility>

#include "worker/runtime/common/backend.h"

#define TF_EXPORT __attribute__((visibility("default")))

namespace tf::runtime {

inline ThreadState& thread() { return Backend::thread(); }

// HIP 5: every call sets the last error, success too.
inline hipError_t remember(hipError_t status) { return thread().last_error = status; }

namespace internal {
template <typename Call>
hipError_t guarded(Call&& call) noexcept {
  try {
    return std::forward<Call>(call)();
  } catch (const std::bad_alloc&) {
    return hipErrorOutOfMemory;
  } catch (const std::exception&) {
    return hipErrorOperatingSystem;  // a thread that could not be started
  }
}
}  // namespace internal

// For what needs no device: nothing is started there.
template <typename Body>
hipError_t host_api(Body&& body) noexcept {
  return remember(internal::guarded([&] { return Backend::call_on_host(std::forward<Body>(body)); }));
}

// For what is done on the thread's device; and the same for what keeps no last error.
template <typename Body>
hipError_t quiet_api(Body&& body) noexcept {
  return internal::guarded([&] { return Backend::call(std::forward<Body>(body)); });
}
template <typename Body>
hipError_t api(Body&& body) noexcept {
  return remember(quiet_api(std::forward<Body>(body)));
}

}  // namespace tf::runtime
