// SPDX-License-Identifier: Apache-2.0
// What the generated, exported functions need besides ApiCall.
#pragma once

#include <hip/hip_runtime_api.h>

// The symbols that the library shows; everything else is hidden.
#define TF_API __attribute__((visibility("default")))

namespace tf::proxy {

// Says once on standard error that `name` is not supported, notes the thread's last error and returns
// hipErrorNotSupported. Any thread.
hipError_t unsupported(const char* name);

}  // namespace tf::proxy
