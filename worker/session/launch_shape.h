// SPDX-License-Identifier: Apache-2.0
// Checks on every kernel before the runtime sees it, launched or in a graph. Pure functions.
#pragma once

#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "hipcore/wire/launch_flags.h"
#include "transport/endpoint.h"

namespace tf::worker {

using protocol::kLaunchCooperative;
using protocol::kLaunchThreads;
inline constexpr std::uint64_t kLaunchThreadsMax =
    1 << 16;  // a block; no device's limit: the runtime knows its own

// Around a launch; null: none.
struct LaunchEvents {
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
};

inline bool valid_shape(const std::uint32_t (&grid)[3], const std::uint32_t (&block)[3]) {
  std::uint64_t threads = 1;
  for (int axis = 0; axis < 3; ++axis) {
    if (grid[axis] == 0 || block[axis] == 0) return false;
    if (__builtin_mul_overflow(threads, std::uint64_t{block[axis]}, &threads)) return false;
  }
  return threads <= kLaunchThreadsMax;
}

// A kernel's arguments as HIP's `extra` parameter. Lives on the stack of the call: runtimes copy the block,
// but they check its alignment first.
class ExtraArguments {
 public:
  explicit ExtraArguments(std::span<const std::byte> arguments)
      : bytes_(std::min(arguments.size(), sizeof block_)) {  // no message is longer
    if (bytes_ != 0) std::memcpy(block_, arguments.data(), bytes_);
  }
  ExtraArguments(const ExtraArguments&) = delete;
  ExtraArguments& operator=(const ExtraArguments&) = delete;

  void** get() { return bytes_ != 0 ? extra_ : nullptr; }

 private:
  std::size_t bytes_;
  alignas(16) std::byte block_[kMessageBytesMax];
  void* extra_[5] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, block_, HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes_,
                     HIP_LAUNCH_PARAM_END};
};

}  // namespace tf::worker
