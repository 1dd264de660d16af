// SPDX-License-Identifier: Apache-2.0
// Graphs: the client's side of the graph library. Graphs and captures live here; the worker only gets what an
// executable graph does on the device (executable.h). Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hipcore/array/place.h"
#include "hipcore/graph/library.h"
#include "hipcore/wire/gen/op_traits.h"
#include "proxy/copy/engine.h"
#include "proxy/module/module_cache.h"
#include "proxy/session/connection.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

// Where the memory of graphs comes from.
class BlockSource {
 public:
  virtual hipError_t allocate_block(int device, std::size_t bytes, std::uint64_t& address) = 0;
  // As hipFree.
  virtual hipError_t free_block(std::uint64_t address) = 0;

 protected:
  ~BlockSource() = default;
};

class Graphs final : private graph::Side, private CopyCapture {
 public:
  using Verdict = graph::Library::Verdict;

  Graphs(const protocol::WorkerSnapshot& snapshot, CopyEngine& copies, ModuleCache& modules,
         const array::Finder& arrays, BlockSource& blocks);

  graph::Library& library() { return library_; }
  bool capturing() const { return library_.capturing(); }
  // As the library's; the connection takes care for as long as a stream is captured (Care::kCapturing).
  hipError_t begin_capture(const graph::StreamRef& stream, hipStreamCaptureMode mode);
  hipError_t begin_capture(const graph::StreamRef& stream, hipStreamCaptureMode mode, hipGraph_t graph,
                           const hipGraphNode_t* dependencies, const hipGraphEdgeData* edges,
                           std::size_t count);
  hipError_t end_capture(const graph::StreamRef& stream, hipGraph_t* graph);
  // As captures know a stream. `device`: of the calling thread.
  graph::StreamRef reference(int device, std::uint64_t stream) const;

  // For captures: called when a message is about to be posted, unless its sender has asked the capture.
  // Nothing: it is posted. REQUIRES: capturing()
  Verdict offer(protocol::OpTraits what, int device, std::span<const std::byte> head);
  Verdict offer_copy(const CopyMode& mode, const Box& box, hipMemcpyKind kind) override;

 private:
  template <typename Begin>
  hipError_t begin(Begin&& begin);
  void note_capturing() TF_REQUIRES(capturing_mutex_);
  void forget_stream(std::uint64_t stream);
  hipError_t describe(const void* function, graph::KernelFacts& facts) override;
  hipError_t find_symbol(const void* symbol, std::byte*& address, std::size_t& bytes) override;
  hipError_t check(const graph::Work& work) override;
  hipError_t instantiate(const graph::Plan& plan, std::shared_ptr<graph::Executable>& executable) override;
  const array::Finder& arrays() const override { return arrays_; }
  hipError_t allocate(int device, std::size_t bytes, std::byte*& address) override;
  void release(int device, std::byte* address) override;
  int device_count() override { return static_cast<int>(snapshot_.devices.size()); }

  Verdict capture_fill(int device, const protocol::FillRequest& fill);

  const protocol::WorkerSnapshot& snapshot_;
  CopyEngine& copies_;
  ModuleCache& modules_;
  const array::Finder& arrays_;
  BlockSource& blocks_;
  Connection& connection_;
  graph::Library library_;
  Mutex capturing_mutex_;  // what the connection is told follows the library
};

std::vector<graph::Argument> graph_arguments(const KernelLayout& layout);

}  // namespace tf::proxy
