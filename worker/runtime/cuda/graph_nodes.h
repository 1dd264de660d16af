// SPDX-License-Identifier: Apache-2.0
// Turns a graph's nodes into the driver's nodes. REQUIRES everywhere: the thread is ready.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hipcore/graph/graph.h"

namespace tf::cuda {

// One of the driver's graphs, for as long as it takes to instantiate it.
class DriverGraph {
 public:
  DriverGraph() = default;
  ~DriverGraph();
  DriverGraph(const DriverGraph&) = delete;
  DriverGraph& operator=(const DriverGraph&) = delete;

  // Once.
  hipError_t build(const graph::Plan& plan);
  hipGraph_t get() const { return graph_; }

 private:
  hipGraph_t graph_ = nullptr;
};

// A kernel as a program names it in a graph, its function's handle or the host stub, for the current device.
hipError_t describe_kernel(const void* named, graph::KernelFacts& facts);
hipError_t describe_function(hipFunction_t function, graph::KernelFacts& facts);

// Whether the driver would accept it: shapes, memory.
hipError_t check_work(const graph::Work& work);

}  // namespace tf::cuda
