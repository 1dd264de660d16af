// SPDX-License-Identifier: Apache-2.0
// Streams, events and kernels in the graph library's terms. Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "hipcore/graph/library.h"
#include "worker/runtime/common/graph_library.h"
#include "worker/runtime/cpu/kernel_api.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {

class Event;

// Names of objects in captures: their address, until they are destroyed.
inline graph::StreamRef reference(const Stream& stream) {
  return {reinterpret_cast<std::uint64_t>(&stream), stream.device().ordinal(), stream.is_blocking(),
          stream.is_default()};
}
inline std::uint64_t reference(const Event& event) { return reinterpret_cast<std::uint64_t>(&event); }

std::vector<graph::Argument> graph_arguments(const Kernel& kernel);

}  // namespace tf::cpu
