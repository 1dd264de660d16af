// SPDX-License-Identifier: Apache-2.0
// CallConfigurations: carries the arguments of `kernel<<<...>>>` from __hipPushCallConfiguration to the
// kernel's host stub. One per thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <vector>

namespace tf::runtime {

struct CallConfiguration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
  hipStream_t stream = nullptr;
};

class CallConfigurations {
 public:
  static constexpr std::size_t kDepthMax = 1024;

  // hipErrorOutOfMemory: too many are waiting.
  hipError_t push(const CallConfiguration& configuration) {
    if (stack_.size() >= kDepthMax) return hipErrorOutOfMemory;
    stack_.push_back(configuration);
    return hipSuccess;
  }

  // hipErrorMissingConfiguration: none is waiting.
  hipError_t pop(dim3* grid, dim3* block, std::size_t* shared_bytes, hipStream_t* stream) {
    if (!grid || !block || !shared_bytes || !stream) return hipErrorInvalidValue;
    if (stack_.empty()) return hipErrorMissingConfiguration;
    *grid = stack_.back().grid;
    *block = stack_.back().block;
    *shared_bytes = stack_.back().shared_bytes;
    *stream = stack_.back().stream;
    stack_.pop_back();
    return hipSuccess;
  }

 private:
  std::vector<CallConfiguration> stack_;
};

}  // namespace tf::runtime
