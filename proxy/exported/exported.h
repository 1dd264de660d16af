// SPDX-License-Identifier: Apache-2.0
// What the generated, exported functions need besides ApiCall.
#pragma once

#include <hip/hip_runtime_api.h>

#include <type_traits>

#include "proxy/base/thread_state.h"

// The symbols that the library shows; everything else is hidden.
#define TF_API __attribute__((visibility("default")))

namespace tf::proxy {

// Says once on standard error that `name` is not supported, notes the thread's last error and returns
// hipErrorNotSupported. Any thread.
hipError_t unsupported(const char* name);
// The same of what cannot be done remotely, for this reason.
hipError_t refused(const char* name, const char* why);

// For calls that HIP calls unsafe during a capture (OUTSIDE_CAPTURES): an error, noted, if a capture is in
// their way, which is invalid from then on.
hipError_t refuse_unsafe();

// HIP's error for the exception that is being handled. One that ends the thread (pthread_cancel()) goes on.
// REQUIRES: inside a catch block
hipError_t error_of_exception();

// The program's number or address as a field of a message.
template <typename Field, typename Value>
Field as_field(Value value) {
  if constexpr (std::is_pointer_v<Value>) {
    return reinterpret_cast<Field>(value);
  } else {
    return static_cast<Field>(value);
  }
}

}  // namespace tf::proxy
