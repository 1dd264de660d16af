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

#include "hipcore/graph/library.h"
#include "hipcore/wire/gen/op.h"
#include "proxy/base/handles.h"
#include "proxy/copy/box.h"
#include "proxy/module/kernel_layout.h"

namespace tf::proxy {

class Session;
struct CopyMode;

// A stream that does not order itself with the null stream.
struct StreamFacts final : Facts {
  bool blocking = true;
};

class Graphs final : private graph::Side {
 public:
  using Verdict = graph::Library::Verdict;

  explicit Graphs(Session& session) : session_(session), library_(*this) {}

  graph::Library& library() { return library_; }
  bool capturing() const { return library_.capturing(); }
  // As captures know a stream. `device`: of the calling thread.
  graph::StreamRef reference(int device, std::uint64_t stream) const;

  // For captures: what a call is about to do. Nothing: it goes on. REQUIRES: capturing()
  Verdict offer(protocol::Op op, int device, std::span<const std::byte> head);
  Verdict offer_copy(const CopyMode& mode, const Box& box, hipMemcpyKind kind);

 private:
  hipError_t describe(const void* function, graph::KernelFacts& facts) override;
  hipError_t find_symbol(const void* symbol, std::byte*& address, std::size_t& bytes) override;
  hipError_t check(const graph::Work& work) override;
  hipError_t instantiate(const graph::Plan& plan, std::shared_ptr<graph::Executable>& executable) override;

  Verdict fill(const graph::StreamRef& stream, graph::FillWork work);
  template <typename Request>
  Verdict offer_fill(int device, std::span<const std::byte> head, std::uint32_t element_bytes);
  template <typename Request>
  Verdict offer_rows(int device, std::span<const std::byte> head);
  template <typename Request>
  Verdict offer_box(int device, std::span<const std::byte> head);

  Session& session_;
  graph::Library library_;
};

Box box_of(const graph::CopyWork& work);
std::vector<graph::Argument> graph_arguments(const KernelLayout& layout);

}  // namespace tf::proxy
