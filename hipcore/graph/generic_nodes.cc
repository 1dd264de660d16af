// SPDX-License-Identifier: Apache-2.0
// Nodes of every kind through one struct (hipGraphAddNode), and nodes in the driver's style (hipDrvGraph*).
#include <utility>

#include "hipcore/abi/layouts.h"
#include "hipcore/graph/box_forms.h"
#include "hipcore/graph/library.h"
#include "hipcore/memory/copy_kind.h"

namespace tf::graph {
namespace {

abi::MemoryType type_of_end(hipMemcpyKind kind, bool is_source) {
  if (hipdata::is_within_devices(kind)) return abi::MemoryType::kDevice;
  switch (kind) {
    case hipMemcpyHostToHost: return abi::MemoryType::kHost;
    case hipMemcpyHostToDevice: return is_source ? abi::MemoryType::kHost : abi::MemoryType::kDevice;
    case hipMemcpyDeviceToHost: return is_source ? abi::MemoryType::kDevice : abi::MemoryType::kHost;
    default: return abi::MemoryType::kUnified;
  }
}

abi::DriverCopyEnd write_end(const CopyWork& work, const array::Finder& arrays, bool is_source) {
  const BoxSide& side = is_source ? work.source : work.target;
  abi::DriverCopyEnd end;
  if (const auto found = arrays.at(side.address)) {
    const array::Position at = position_of(found->place, side.address);
    end.type = abi::MemoryType::kArray;
    end.array = found->array;
    end.x = at.x;
    end.y = at.y;
    end.z = at.z;
    return end;
  }
  end.type = type_of_end(work.kind, is_source);
  if (end.type == abi::MemoryType::kHost)
    end.host = side.memory();
  else
    end.device = side.memory();
  end.pitch = side.pitch;
  end.height = side.pitch != 0 ? side.slice / side.pitch : work.height;
  return end;
}

hipMemcpyKind kind_of(const abi::DriverCopy& copy) {
  using abi::MemoryType;
  if (copy.source.type == MemoryType::kUnified || copy.target.type == MemoryType::kUnified)
    return hipMemcpyDefault;
  const bool from_host = copy.source.type == MemoryType::kHost;
  if (copy.target.type == MemoryType::kHost) return from_host ? hipMemcpyHostToHost : hipMemcpyDeviceToHost;
  return from_host ? hipMemcpyHostToDevice : hipMemcpyDeviceToDevice;
}

// Of a node, which is never empty.
hipError_t read_driver_copy(const abi::DriverCopy& parameters, const array::Finder& arrays, CopyWork& work) {
  if (parameters.width == 0 || parameters.height == 0 || parameters.depth == 0) return hipErrorInvalidValue;
  const hipError_t error = read_parameters(parameters, arrays, work);
  work.kind = kind_of(parameters);
  work.type = hipGraphNodeTypeMemcpy;
  return error;
}

}  // namespace

hipError_t Library::add_any(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                            std::size_t count, hipGraphNodeParams* parameters, int (*known_type)(int)) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  switch (known_type(parameters->type)) {
    case hipGraphNodeTypeKernel: return add_kernel(node, graph, dependencies, count, &parameters->kernel);
    case hipGraphNodeTypeMemcpy:
      return add_copy(node, graph, dependencies, count, &parameters->memcpy.copyParams);
    case hipGraphNodeTypeMemset: return add_fill(node, graph, dependencies, count, &parameters->memset);
    case hipGraphNodeTypeHost: return add_host(node, graph, dependencies, count, &parameters->host);
    case hipGraphNodeTypeGraph: return add_child(node, graph, dependencies, count, parameters->graph.graph);
    case hipGraphNodeTypeEmpty: return add(node, graph, dependencies, count, EmptyWork());
    case hipGraphNodeTypeWaitEvent:
      return add_event(node, graph, dependencies, count, parameters->eventWait.event, false);
    case hipGraphNodeTypeEventRecord:
      return add_event(node, graph, dependencies, count, parameters->eventRecord.event, true);
    case abi::kNodeMemoryAllocation:
      return add_allocation(node, graph, dependencies, count, &parameters->alloc);
    case abi::kNodeMemoryFree: return add_release(node, graph, dependencies, count, parameters->free.dptr);
    case abi::kNodeSignalSemaphores:
      return add_semaphores(node, graph, dependencies, count, &parameters->extSemSignal);
    case abi::kNodeWaitForSemaphores:
      return add_semaphores(node, graph, dependencies, count, &parameters->extSemWait);
    default: return hipErrorInvalidValue;
  }
}

hipError_t Library::set_any(hipGraphExec_t exec, hipGraphNode_t node, hipGraphNodeParams* parameters,
                            int (*known_type)(int)) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  switch (known_type(parameters->type)) {
    case hipGraphNodeTypeKernel: return set_kernel(exec, node, &parameters->kernel);
    case hipGraphNodeTypeMemcpy: return set_copy(exec, node, &parameters->memcpy.copyParams);
    case hipGraphNodeTypeMemset: return set_fill(exec, node, &parameters->memset);
    case hipGraphNodeTypeHost: return set_host(exec, node, &parameters->host);
    case hipGraphNodeTypeGraph: return set_child(exec, node, parameters->graph.graph);
    case hipGraphNodeTypeWaitEvent: return set_event(exec, node, parameters->eventWait.event, false);
    case hipGraphNodeTypeEventRecord: return set_event(exec, node, parameters->eventRecord.event, true);
    case abi::kNodeSignalSemaphores: return set_semaphores(exec, node, &parameters->extSemSignal);
    case abi::kNodeWaitForSemaphores: return set_semaphores(exec, node, &parameters->extSemWait);
    case abi::kNodeMemoryAllocation:  // their memory stays where it is
    case abi::kNodeMemoryFree: return hipErrorNotSupported;
    default: return hipErrorInvalidValue;
  }
}

hipError_t Library::add_driver_copy(hipGraphNode_t* node, hipGraph_t graph,
                                    const hipGraphNode_t* dependencies, std::size_t count,
                                    const abi::DriverCopy& parameters, hipCtx_t context) {
  if (context == nullptr) return hipErrorInvalidValue;
  CopyWork work;
  const hipError_t error = read_driver_copy(parameters, side_.arrays(), work);
  return error != hipSuccess ? error : add(node, graph, dependencies, count, work);
}

hipError_t Library::set_driver_copy(hipGraphExec_t exec, hipGraphNode_t node,
                                    const abi::DriverCopy& parameters, hipCtx_t) {
  CopyWork work;
  const hipError_t error = read_driver_copy(parameters, side_.arrays(), work);
  return error != hipSuccess ? error : set(exec, node, work);
}

hipError_t Library::get_driver_copy(hipGraphNode_t node, HIP_MEMCPY3D* parameters,
                                    void (*write)(const abi::DriverCopy&, HIP_MEMCPY3D&)) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  return get<CopyWork>(node, [&](const CopyWork& work) {
    write({write_end(work, side_.arrays(), true), write_end(work, side_.arrays(), false), work.width,
           work.height, work.depth},
          *parameters);
    return hipSuccess;
  });
}

hipError_t Library::add_driver_fill(hipGraphNode_t* node, hipGraph_t graph,
                                    const hipGraphNode_t* dependencies, std::size_t count,
                                    const hipMemsetParams& parameters, hipCtx_t) {
  return add_fill(node, graph, dependencies, count, &parameters);
}

hipError_t Library::set_driver_fill(hipGraphExec_t exec, hipGraphNode_t node,
                                    const hipMemsetParams& parameters, hipCtx_t) {
  return set_fill(exec, node, &parameters);
}

}  // namespace tf::graph
