// SPDX-License-Identifier: Apache-2.0
// Nodes of semaphores of other APIs. None can be imported, so a node names none, as hipSignal- and
// hipWaitExternalSemaphoresAsync do: a list that is not empty is wrong. Such nodes do nothing.
#include <cstddef>
#include <type_traits>

#include "hipcore/graph/library.h"
#include "hipcore/memory/external_memory.h"

namespace tf::graph {
namespace {

constexpr bool is_signal(const hipExternalSemaphoreSignalNodeParams*) { return true; }
constexpr bool is_signal(const hipExternalSemaphoreWaitNodeParams*) { return false; }

template <typename Parameters>
hipError_t read_semaphores(const Parameters* parameters, SemaphoreWork& work) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  work.signal = is_signal(parameters);
  return hipcore::check_semaphores(parameters->extSemArray, parameters->paramsArray, parameters->numExtSems);
}

// The lists are empty, and not null: what is told may be set again.
template <typename Parameters>
hipError_t write_semaphores(const SemaphoreWork& work, Parameters& parameters) {
  static hipExternalSemaphore_t no_semaphore = nullptr;
  static const std::remove_pointer_t<decltype(parameters.paramsArray)> nothing{};
  if (work.signal != is_signal(&parameters)) return hipErrorInvalidValue;
  parameters.extSemArray = &no_semaphore;
  parameters.paramsArray = &nothing;
  parameters.numExtSems = 0;
  return hipSuccess;
}

}  // namespace

template <typename Parameters>
hipError_t Library::add_semaphores(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   std::size_t count, const Parameters* parameters) {
  SemaphoreWork work;
  const hipError_t error = read_semaphores(parameters, work);
  return error != hipSuccess ? error : add(node, graph, dependencies, count, work);
}

template <typename Parameters>
hipError_t Library::get_semaphores(hipGraphNode_t node, Parameters* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  return get<SemaphoreWork>(node,
                            [&](const SemaphoreWork& work) { return write_semaphores(work, *parameters); });
}

template <typename Parameters>
hipError_t Library::set_semaphores(hipGraphExec_t exec, hipGraphNode_t node, const Parameters* parameters) {
  SemaphoreWork work;
  const hipError_t error = read_semaphores(parameters, work);
  return error != hipSuccess ? error : set(exec, node, work);
}

using Signal = hipExternalSemaphoreSignalNodeParams;
using Wait = hipExternalSemaphoreWaitNodeParams;
template hipError_t Library::add_semaphores(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t,
                                            const Signal*);
template hipError_t Library::add_semaphores(hipGraphNode_t*, hipGraph_t, const hipGraphNode_t*, std::size_t,
                                            const Wait*);
template hipError_t Library::get_semaphores(hipGraphNode_t, Signal*);
template hipError_t Library::get_semaphores(hipGraphNode_t, Wait*);
template hipError_t Library::set_semaphores(hipGraphExec_t, hipGraphNode_t, const Signal*);
template hipError_t Library::set_semaphores(hipGraphExec_t, hipGraphNode_t, const Wait*);

}  // namespace tf::graph
