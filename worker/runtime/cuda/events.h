// SPDX-License-Identifier: Apache-2.0
// The events that exist. Of others the driver answers some, and follows the pointer. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

namespace tf::cuda {

void add_event(hipEvent_t event);
void remove_event(hipEvent_t event);
bool is_event(hipEvent_t event);

}  // namespace tf::cuda
