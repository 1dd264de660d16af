// SPDX-License-Identifier: Apache-2.0
// Calls of which one allocation fails: each answers HIP's error and throws nothing into its caller, and the
// same call works when there is memory again.
#include <functional>

#include "tests/api/failing_malloc.h"
#include "tests/api/hip_test.h"

namespace tf::api_test {
namespace {

constexpr int kAllocationsMax = 2000;  // of one call

// Makes each allocation of call() fail in turn; undo() ends what it made.
void expect_errors(const char* name, const std::function<hipError_t()>& call,
                   const std::function<hipError_t()>& undo) {
  for (int k = 1; k < kAllocationsMax; ++k) {
    fail_allocation(k);
    const hipError_t error = call();
    const bool has_failed = stop_failing();
    if (error == hipSuccess) {
      EXPECT_EQ(undo(), hipSuccess) << name << ", allocation " << k;
    } else {
      EXPECT_TRUE(has_failed) << name << ": " << hipGetErrorName(error);
      EXPECT_EQ(error, hipErrorOutOfMemory) << name << ", allocation " << k;
      EXPECT_EQ(hipGetLastError(), error) << name << ", allocation " << k;
    }
    if (!has_failed) return;
  }
  ADD_FAILURE() << name << " allocates without end";
}

class OutOfMemory : public ::testing::Test {
 protected:
  void SetUp() override { HIP_OK(hipFree(nullptr)); }
};

TEST_F(OutOfMemory, MemoryIsNotMade) {
  void* memory = nullptr;
  expect_errors(
      "hipMalloc", [&] { return hipMalloc(&memory, 4096); }, [&] { return hipFree(memory); });
  expect_errors(
      "hipMallocAsync", [&] { return hipMallocAsync(&memory, 4096, nullptr); },
      [&] { return hipFreeAsync(memory, nullptr); });
  expect_errors(
      "hipHostMalloc", [&] { return hipHostMalloc(&memory, 4096, 0); }, [&] { return hipHostFree(memory); });
}

TEST_F(OutOfMemory, ObjectsAreNotMade) {
  hipStream_t stream = nullptr;
  expect_errors(
      "hipStreamCreate", [&] { return hipStreamCreate(&stream); }, [&] { return hipStreamDestroy(stream); });
  hipEvent_t event = nullptr;
  expect_errors(
      "hipEventCreate", [&] { return hipEventCreate(&event); }, [&] { return hipEventDestroy(event); });
  hipGraph_t graph = nullptr;
  expect_errors(
      "hipGraphCreate", [&] { return hipGraphCreate(&graph, 0); }, [&] { return hipGraphDestroy(graph); });
}

TEST_F(OutOfMemory, GraphsAreNotInstantiatedAndNotLaunched) {
  hipGraph_t graph = nullptr;
  HIP_OK(hipGraphCreate(&graph, 0));
  hipGraphNode_t node = nullptr;
  expect_errors(
      "hipGraphAddEmptyNode", [&] { return hipGraphAddEmptyNode(&node, graph, nullptr, 0); },
      [&] { return hipGraphDestroyNode(node); });
  HIP_OK(hipGraphAddEmptyNode(&node, graph, nullptr, 0));
  hipGraphExec_t exec = nullptr;
  expect_errors(
      "hipGraphInstantiate", [&] { return hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0); },
      [&] { return hipGraphExecDestroy(exec); });
  HIP_OK(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0));
  expect_errors(
      "hipGraphLaunch", [&] { return hipGraphLaunch(exec, nullptr); },
      [] { return hipStreamSynchronize(nullptr); });
  HIP_OK(hipGraphExecDestroy(exec));
  HIP_OK(hipGraphDestroy(graph));
}

}  // namespace
}  // namespace tf::api_test
