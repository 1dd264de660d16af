// SPDX-License-Identifier: Apache-2.0
// A graph of the library of one major, and what tests do with it.
#pragma once

#include <unistd.h>

#include <fstream>
#include <iterator>
#include <string>

#include "tests/api/newer_graphs.h"
#include "tests/majors/major.h"

// A function of the library, as the headers declare it.
#define HIP(name) (*get<decltype(::name)>(#name))

namespace tf::majors {

// hipGraphNodeType since 6.0.
enum : int {
  kKernel = 0,
  kCopy = 1,
  kFill = 2,
  kHost = 3,
  kGraph = 4,
  kEmpty = 5,
  kWait = 6,
  kRecord = 7,
  kSignalSemaphore = 8,
  kWaitSemaphore = 9,
  kAllocate = 10,
  kFree = 11,
  kOperations = 14
};

class Graphs : public Kernels {
 protected:
  void SetUp() override {
    Kernels::SetUp();
    if (major_ < 6) GTEST_SKIP() << "the functions are of HIP 6";
    ASSERT_EQ(HIP(hipStreamCreate)(&stream_), hipSuccess);
    graph_ = create();
  }
  void TearDown() override {
    if (major_ < 6) return;
    EXPECT_EQ(HIP(hipGraphDestroy)(graph_), hipSuccess);
    EXPECT_EQ(HIP(hipStreamDestroy)(stream_), hipSuccess);
  }

  hipGraph_t create() const {
    hipGraph_t graph = nullptr;
    EXPECT_EQ(HIP(hipGraphCreate)(&graph, 0), hipSuccess);
    return graph;
  }
  hipGraphExec_t instantiate() const {
    hipGraphExec_t exec = nullptr;
    EXPECT_EQ(HIP(hipGraphInstantiate)(&exec, graph_, nullptr, nullptr, 0), hipSuccess);
    return exec;
  }
  void run(hipGraphExec_t exec) const {
    ASSERT_EQ(HIP(hipGraphLaunch)(exec, stream_), hipSuccess);
    ASSERT_EQ(HIP(hipStreamSynchronize)(stream_), hipSuccess);
  }
  void destroy(hipGraphExec_t exec) const { EXPECT_EQ(HIP(hipGraphExecDestroy)(exec), hipSuccess); }
  int type_of(hipGraphNode_t node) const {
    int type = -1;
    EXPECT_EQ((*get<hipError_t(hipGraphNode_t, int*)>("hipGraphNodeGetType"))(node, &type), hipSuccess);
    return type;
  }
  // As Graphviz text.
  std::string printed(hipGraph_t graph) const {
    using Print = hipError_t(hipGraph_t, const char*, unsigned);
    const std::string path = testing::TempDir() + "graph_" + std::to_string(::getpid()) + ".dot";
    EXPECT_EQ(get<Print>("hipGraphDebugDotPrint")(graph, path.c_str(), 0), hipSuccess);
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    EXPECT_EQ(::unlink(path.c_str()), 0);
    return text;
  }

  hipStream_t stream_ = nullptr;
  hipGraph_t graph_ = nullptr;
};

}  // namespace tf::majors
