// SPDX-License-Identifier: Apache-2.0
// Parameters of nodes over kGraphCount numbers, for the tests that make graphs node by node.
#pragma once

#include "tests/api/fills.h"
#include "tests/api/graph_fixture.h"

namespace tf::api_test {

inline constexpr int kGraphCount = 256;
inline constexpr std::size_t kGraphBytes = kGraphCount * sizeof(int);

inline hipMemsetParams filling(void* target, unsigned value) { return filling(target, value, kGraphCount); }

// increment() of the module.
struct Increment {
  Increment(hipFunction_t kernel, void* target) : data(target) {
    parameters.func = reinterpret_cast<void*>(kernel);
    parameters.gridDim = dim3(2, 1, 1);
    parameters.blockDim = dim3(128, 1, 1);
    parameters.kernelParams = arguments;
  }
  Increment(const Increment&) = delete;
  Increment& operator=(const Increment&) = delete;

  void* data = nullptr;
  int count = kGraphCount;
  void* arguments[2] = {&data, &count};
  hipKernelNodeParams parameters{};
};

}  // namespace tf::api_test
