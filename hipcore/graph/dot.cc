// SPDX-License-Identifier: Apache-2.0
// Graphs as text, for people who look at them.
#include <cstdio>
#include <memory>
#include <string>

#include "hipcore/abi/layouts.h"
#include "hipcore/graph/library.h"
#include "transport/base/mutex.h"

namespace tf::graph {
namespace {

const char* name_of(const Work& work) {
  switch (type_of(work)) {
    case hipGraphNodeTypeKernel: return "kernel";
    case hipGraphNodeTypeMemset: return "memset";
    case hipGraphNodeTypeHost: return "host";
    case hipGraphNodeTypeGraph: return "graph";
    case hipGraphNodeTypeEmpty: return "empty";
    case hipGraphNodeTypeWaitEvent: return "wait event";
    case hipGraphNodeTypeEventRecord: return "record event";
    case abi::kNodeMemoryAllocation: return "allocate";
    case abi::kNodeMemoryFree: return "free";
    case abi::kNodeBatch: return "batch";
    case abi::kNodeSignalSemaphores: return "signal semaphores";
    case abi::kNodeWaitForSemaphores: return "wait for semaphores";
    default: return "memcpy";
  }
}

void write(const Graph& graph, const std::string& prefix, std::string& text) {
  std::size_t index = 0;
  std::unordered_map<const Node*, std::string> names;
  for (const auto& node : graph.nodes()) {
    const std::string name = prefix + std::to_string(index++);
    names.emplace(node.get(), name);
    text += "  " + name + " [label=\"" + name_of(*node->work) + "\"];\n";
    if (const auto* child = std::get_if<ChildWork>(node->work.get())) {
      text += "  subgraph cluster_" + name + " {\n";
      write(*child->graph, name + "_", text);
      text += "  }\n";
    }
  }
  for (const auto& node : graph.nodes())
    for (const Node* after : node->dependents)
      text += "  " + names[node.get()] + " -> " + names[after] + ";\n";
}

}  // namespace

hipError_t Library::print(hipGraph_t graph, const char* path) {
  if (path == nullptr) return hipErrorInvalidValue;
  std::string text = "digraph graph_ {\n";
  {
    const MutexLock lock(mutex_);
    const Graph* found = find(graph);
    if (found == nullptr) return hipErrorInvalidValue;
    write(*found, "node_", text);
  }
  text += "}\n";
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path, "we"), &std::fclose);
  const bool written = file != nullptr && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  return written ? hipSuccess : hipErrorOperatingSystem;
}

}  // namespace tf::graph
