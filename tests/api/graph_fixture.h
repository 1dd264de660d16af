// SPDX-License-Identifier: Apache-2.0
// What the tests of graphs share: a captured graph, its executable form, and kernels to fill it with.
#pragma once

#include "tests/api/hip_test.h"
#include "tests/api/kernels.h"
#include "tests/api/module_fixture.h"

namespace tf::api_test {

class TestGraph {
 public:
  TestGraph() { EXPECT_EQ(hipGraphCreate(&graph_, 0), hipSuccess); }
  // What a capture ended with.
  explicit TestGraph(hipStream_t capturing) {
    EXPECT_EQ(hipStreamEndCapture(capturing, &graph_), hipSuccess);
  }
  ~TestGraph() { EXPECT_EQ(hipGraphDestroy(graph_), hipSuccess); }
  TestGraph(const TestGraph&) = delete;
  TestGraph& operator=(const TestGraph&) = delete;

  operator hipGraph_t() const { return graph_; }  // NOLINT: used where a hipGraph_t is
  std::vector<hipGraphNode_t> nodes() const {
    std::size_t count = 0;
    EXPECT_EQ(hipGraphGetNodes(graph_, nullptr, &count), hipSuccess);
    std::vector<hipGraphNode_t> all(count);
    if (count != 0) {
      EXPECT_EQ(hipGraphGetNodes(graph_, all.data(), &count), hipSuccess);
    }
    return all;
  }

 private:
  hipGraph_t graph_ = nullptr;
};

class TestExec {
 public:
  explicit TestExec(hipGraph_t graph) {
    EXPECT_EQ(hipGraphInstantiate(&exec_, graph, nullptr, nullptr, 0), hipSuccess);
  }
  ~TestExec() { EXPECT_EQ(hipGraphExecDestroy(exec_), hipSuccess); }
  TestExec(const TestExec&) = delete;
  TestExec& operator=(const TestExec&) = delete;

  operator hipGraphExec_t() const { return exec_; }  // NOLINT: used where a hipGraphExec_t is

 private:
  hipGraphExec_t exec_ = nullptr;
};

// Adds 1 to each of `count` numbers, `blocks` of 128 threads.
inline void launch_increment(const LoadedModule& module, void* data, int count, hipStream_t stream) {
  void* arguments[] = {&data, &count};
  ASSERT_EQ(hipModuleLaunchKernel(module.function("increment"), static_cast<unsigned>(count + 127) / 128, 1,
                                  1, 128, 1, 1, 0, stream, arguments, nullptr),
            hipSuccess);
}

inline hipStreamCaptureStatus capture_status(hipStream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  EXPECT_EQ(hipStreamIsCapturing(stream, &status), hipSuccess);
  return status;
}

inline void begin_capture(hipStream_t stream) {
  ASSERT_EQ(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipSuccess);
}

}  // namespace tf::api_test
