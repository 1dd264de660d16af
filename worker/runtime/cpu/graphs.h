// SPDX-License-Identifier: Apache-2.0
// Graphs: this runtime's side of the graph library: kernels, memory and events of graphs, and running them.
// Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hipcore/graph/library.h"
#include "worker/runtime/cpu/kernel_api.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {

class Event;

class Graphs final : private graph::Side {
 public:
  Graphs() : library_(*this) {}

  graph::Library& library() { return library_; }

 private:
  hipError_t describe(const void* function, graph::KernelFacts& facts) override;
  hipError_t find_symbol(const void* symbol, std::byte*& address, std::size_t& bytes) override;
  hipError_t check(const graph::Work& work) override;
  hipError_t instantiate(const graph::Plan& plan, std::shared_ptr<graph::Executable>& executable) override;

  graph::Library library_;
};

// The library while some stream is being captured, else null.
inline graph::Library* capturing() {
  graph::Library& library = Runtime::get().graphs();
  return library.capturing() ? &library : nullptr;
}

// Objects as captures know them: by their address, until they are destroyed.
inline graph::StreamRef reference(const Stream& stream) {
  return {reinterpret_cast<std::uint64_t>(&stream), stream.device().ordinal(), stream.is_blocking(),
          stream.is_default()};
}
inline std::uint64_t reference(const Event& event) { return reinterpret_cast<std::uint64_t>(&event); }

// For what no graph can hold and what asks about a stream: an error if the stream is being captured.
inline hipError_t refuse_captured(const Stream& stream) {
  graph::Library* const graphs = capturing();
  return graphs ? graphs->refuse(reference(stream)).value_or(hipSuccess) : hipSuccess;
}

std::vector<graph::Argument> graph_arguments(const Kernel& kernel);

}  // namespace tf::cpu
