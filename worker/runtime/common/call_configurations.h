// SPDX-License-Identifier: Apache-2.0
// CallConfigurations: carries the arguments of `kernel<<<...>>>` from __hipPushCallConfiguration to the
// kernel's host stub, or to hipLaunchByPtr. One per thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

namespace tf::runtime {

struct CallConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  hipStream_t stream = nullptr;
  std::vector<std::byte> arguments{};  // packed; of hipSetupArgument
};

class CallConfigurations {
 public:
  static constexpr std::size_t kDepthMax = 1024;
  static constexpr std::size_t kArgumentBytesMax = 48 * 1024;

  // hipErrorOutOfMemory: too many are waiting.
  hipError_t push(CallConfiguration configuration) {
    if (stack_.size() >= kDepthMax) return hipErrorOutOfMemory;
    stack_.push_back(std::move(configuration));
    return hipSuccess;
  }

  // Adds an argument to the last one. hipErrorMissingConfiguration: none is waiting.
  hipError_t add_argument(const void* argument, std::size_t bytes, std::size_t offset) {
    if (!argument || bytes > kArgumentBytesMax || offset > kArgumentBytesMax - bytes)
      return hipErrorInvalidValue;
    if (stack_.empty()) return hipErrorMissingConfiguration;
    auto& packed = stack_.back().arguments;
    packed.resize(std::max(packed.size(), offset + bytes));
    if (bytes != 0) std::memcpy(packed.data() + offset, argument, bytes);
    return hipSuccess;
  }

  // hipErrorMissingConfiguration: none is waiting.
  hipError_t pop(CallConfiguration& last) {
    if (stack_.empty()) return hipErrorMissingConfiguration;
    last = std::move(stack_.back());
    stack_.pop_back();
    return hipSuccess;
  }

  // hipErrorMissingConfiguration: none is waiting.
  hipError_t pop(dim3* grid, dim3* block, std::size_t* shared_bytes, hipStream_t* stream) {
    if (!grid || !block || !shared_bytes || !stream) return hipErrorInvalidValue;
    CallConfiguration last;
    if (const hipError_t status = pop(last)) return status;
    *grid = last.grid;
    *block = last.block;
    *shared_bytes = last.shared_bytes;
    *stream = last.stream;
    return hipSuccess;
  }

 private:
  std::vector<CallConfiguration> stack_;
};

inline CallConfigurations& call_configurations() {
  static thread_local CallConfigurations mine;
  return mine;
}

}  // namespace tf::runtime
