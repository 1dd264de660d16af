// SPDX-License-Identifier: Apache-2.0
// The frame of the exported graph functions. Thread-safe.
#pragma once

#include <utility>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/graphs.h"

namespace tf::cpu {

template <typename Body>
hipError_t with_graphs(Body&& body) {
  return api([&]() -> hipError_t {
    if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
    return body(Runtime::get().graphs());
  });
}

}  // namespace tf::cpu
