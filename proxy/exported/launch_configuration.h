// SPDX-License-Identifier: Apache-2.0
// The launch configurations that wait on the calling thread, for hipLaunchByPtr.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <vector>

#include "proxy/base/thread_state.h"

namespace tf::proxy {

// The last one that the thread has left, and the arguments that it has handed over.
// hipErrorMissingConfiguration: there is none. May throw std::bad_alloc.
hipError_t pop_configuration(CallConfiguration& top, std::vector<std::byte>& arguments);

}  // namespace tf::proxy
