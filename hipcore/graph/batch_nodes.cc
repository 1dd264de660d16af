// SPDX-License-Identifier: Apache-2.0
// Nodes of batches of stream operations: waits for values in memory, and writes of them.
#include <memory>
#include <utility>

#include "hipcore/graph/library.h"
#include "hipcore/newer/batch.h"
#include "transport/base/mutex.h"

namespace tf::graph {
namespace {

hipError_t read_batch(const hipBatchMemOpNodeParams* parameters, BatchWork& work) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  const hipStreamBatchMemOpParams* const first = parameters->paramArray;
  if (!is_possible_batch(first, parameters->count, parameters->flags)) return hipErrorInvalidValue;
  work.context = parameters->ctx;
  work.operations.assign(first, first + parameters->count);
  return hipSuccess;
}

}  // namespace

hipError_t Library::add_batch(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                              std::size_t count, const hipBatchMemOpNodeParams* parameters) {
  BatchWork work;
  const hipError_t error = read_batch(parameters, work);
  return error != hipSuccess ? error : add(node, graph, dependencies, count, std::move(work));
}

hipError_t Library::set_batch(hipGraphExec_t exec, hipGraphNode_t node,
                              const hipBatchMemOpNodeParams* parameters) {
  BatchWork work;
  const hipError_t error = read_batch(parameters, work);
  return error != hipSuccess ? error : set(exec, node, std::move(work));
}

// A copy of the operations is shown, which lives as long as the node: programs change it and set it again.
hipError_t Library::get_batch(hipGraphNode_t node, hipBatchMemOpNodeParams* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  const MutexLock lock(mutex_);
  Node* found = nodes_.find(node);
  const auto* work = found != nullptr ? std::get_if<BatchWork>(found->work.get()) : nullptr;
  if (work == nullptr) return hipErrorInvalidValue;
  if (found->shown_batch == nullptr)
    found->shown_batch = std::make_unique<std::vector<hipStreamBatchMemOpParams>>();
  *found->shown_batch = work->operations;
  parameters->ctx = work->context;
  parameters->count = static_cast<unsigned>(work->operations.size());
  parameters->paramArray = found->shown_batch->data();
  parameters->flags = 0;
  return hipSuccess;
}

}  // namespace tf::graph
