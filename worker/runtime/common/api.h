// SPDX-License-Identifier: Apache-2.0
// The frames of the exported functions: they keep the thread's last error, and let no exception reach the
// caller's C code. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <exception>
#include <new>
#include <utility>

#include "hipcore/abi/rules.h"
#include "hipcore/errors/on_error.h"
#include "worker/runtime/common/backend.h"
#include "worker/runtime/common/graph_library.h"

#define TF_EXPORT __attribute__((visibility("default")))

namespace tf::runtime {

inline ThreadState& thread() { return Backend::thread(); }

// Until HIP 6 every call sets the last error, success too.
inline hipError_t remember(hipError_t status) {
  ThreadState& state = thread();
  state.last_result = status;
  if (!abi::kRules.errors_stay || (status != hipSuccess && status != hipErrorNotReady))
    state.last_error = status;
  if (status != hipSuccess) [[unlikely]]
    hipdata::tell_error(status);
  return status;
}

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

// For functions that need no device: starts nothing.
template <typename Body>
hipError_t host_api(Body&& body) noexcept {
  return remember(internal::guarded([&] { return Backend::call_on_host(std::forward<Body>(body)); }));
}

// For functions on the thread's device; quiet_api() is for those that leave the last error alone.
template <typename Body>
hipError_t quiet_api(Body&& body) noexcept {
  return internal::guarded([&] { return Backend::call(std::forward<Body>(body)); });
}
template <typename Body>
hipError_t api(Body&& body) noexcept {
  return remember(quiet_api(std::forward<Body>(body)));
}

// For functions that HIP calls unsafe during a capture: OUTSIDE_CAPTURES in proxy/api.
template <typename Body>
hipError_t unsafe_api(Body&& body) noexcept {
  return api([&]() -> hipError_t {
    if (graph::Library* const library = capturing())
      if (const auto verdict = library->refuse_unsafe(thread().capture_mode)) return *verdict;
    return std::forward<Body>(body)();
  });
}

}  // namespace tf::runtime
