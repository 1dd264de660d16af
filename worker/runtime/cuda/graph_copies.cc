// SPDX-License-Identifier: Apache-2.0
// Copies in graphs. To the driver all are boxes; what it is asked for goes the same way back.
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/copy.h"

namespace tf::cuda {
namespace {

// `call` with the copy and the context that it runs in.
template <typename Call>
hipError_t hand_over(driver::Copy3D copy, Call&& call) {
  driver::Context context = nullptr;
  if (const hipError_t status = Runtime::get().context(thread_state().device, context)) return status;
  tell_places(copy);
  return check(call(&copy, context));
}

template <typename Call>
hipError_t with_box(const hipMemcpy3DParms* parameters, Call&& call) {
  if (!parameters) return hipErrorInvalidValue;
  driver::Copy3D copy;
  const hipError_t status = convert_box(copy, *parameters);
  return status == hipSuccess ? hand_over(copy, call) : status;
}

template <typename Call>
hipError_t with_line(void* target, const void* source, std::size_t bytes, hipMemcpyKind kind, Call&& call) {
  if (!valid_kind(kind)) return hipErrorInvalidMemcpyDirection;
  if (!target || !source || bytes == 0) return hipErrorInvalidValue;
  return hand_over(convert_line(target, source, bytes), call);
}

// Between part of a variable and `memory`.
template <typename Call>
hipError_t with_symbol(bool to_symbol, const void* symbol, void* memory, std::size_t bytes,
                       std::size_t offset, hipMemcpyKind kind, Call&& call) {
  if (!symbol) return hipErrorInvalidSymbol;
  void* address = nullptr;
  std::size_t size = 0;
  if (const hipError_t status = programs().variable(symbol, address, size)) return status;
  if (offset > size || bytes > size - offset) return hipErrorInvalidValue;
  void* const part = static_cast<std::byte*>(address) + offset;
  return to_symbol ? with_line(part, memory, bytes, kind, call) : with_line(memory, part, bytes, kind, call);
}

hipError_t get_copy(hipGraphNode_t node, hipMemcpy3DParms* parameters) {
  if (!node || !parameters) return hipErrorInvalidValue;
  driver::Copy3D found{};
  const hipError_t status = check(cu().GraphMemcpyNodeGetParams(node, &found));
  if (status == hipSuccess) *parameters = convert_back(found);
  return status;
}

// What to do with the copy: each answers a function for hand_over().
auto add(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies, std::size_t count) {
  return [=](const driver::Copy3D* copy, driver::Context context) {
    return cu().GraphAddMemcpyNode(node, graph, dependencies, count, copy, context);
  };
}

auto set(hipGraphNode_t node) {
  return
      [=](const driver::Copy3D* copy, driver::Context) { return cu().GraphMemcpyNodeSetParams(node, copy); };
}

auto set(hipGraphExec_t exec, hipGraphNode_t node) {
  return [=](const driver::Copy3D* copy, driver::Context context) {
    return cu().GraphExecMemcpyNodeSetParams(exec, node, copy, context);
  };
}

// The frame of a function that needs these handles.
template <typename Body, typename... Handles>
hipError_t with(Body&& body, Handles... handles) {
  return api([&]() -> hipError_t { return (... && (handles != nullptr)) ? body() : hipErrorInvalidValue; });
}

void* plain(const void* pointer) { return const_cast<void*>(pointer); }

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipGraphAddMemcpyNode(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                 size_t count, const hipMemcpy3DParms* parameters) {
  return with([&] { return with_box(parameters, add(node, graph, dependencies, count)); }, node, graph);
}

hipError_t hipGraphMemcpyNodeGetParams(hipGraphNode_t node, hipMemcpy3DParms* parameters) {
  return api([&] { return get_copy(node, parameters); });
}

hipError_t hipGraphMemcpyNodeSetParams(hipGraphNode_t node, const hipMemcpy3DParms* parameters) {
  return with([&] { return with_box(parameters, set(node)); }, node);
}

hipError_t hipGraphExecMemcpyNodeSetParams(hipGraphExec_t exec, hipGraphNode_t node,
                                           hipMemcpy3DParms* parameters) {
  return with([&] { return with_box(parameters, set(exec, node)); }, exec, node);
}

hipError_t hipGraphAddMemcpyNode1D(hipGraphNode_t* node, hipGraph_t graph, const hipGraphNode_t* dependencies,
                                   size_t count, void* target, const void* source, size_t bytes,
                                   hipMemcpyKind kind) {
  return with([&] { return with_line(target, source, bytes, kind, add(node, graph, dependencies, count)); },
              node, graph);
}

hipError_t hipGraphMemcpyNodeSetParams1D(hipGraphNode_t node, void* target, const void* source, size_t bytes,
                                         hipMemcpyKind kind) {
  return with([&] { return with_line(target, source, bytes, kind, set(node)); }, node);
}

hipError_t hipGraphExecMemcpyNodeSetParams1D(hipGraphExec_t exec, hipGraphNode_t node, void* target,
                                             const void* source, size_t bytes, hipMemcpyKind kind) {
  return with([&] { return with_line(target, source, bytes, kind, set(exec, node)); }, exec, node);
}

hipError_t hipGraphAddMemcpyNodeToSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                         const hipGraphNode_t* dependencies, size_t count, const void* symbol,
                                         const void* source, size_t bytes, size_t offset,
                                         hipMemcpyKind kind) {
  return with(
      [&] {
        return with_symbol(true, symbol, plain(source), bytes, offset, kind,
                           add(node, graph, dependencies, count));
      },
      node, graph);
}

hipError_t hipGraphAddMemcpyNodeFromSymbol(hipGraphNode_t* node, hipGraph_t graph,
                                           const hipGraphNode_t* dependencies, size_t count, void* target,
                                           const void* symbol, size_t bytes, size_t offset,
                                           hipMemcpyKind kind) {
  return with(
      [&] {
        return with_symbol(false, symbol, target, bytes, offset, kind, add(node, graph, dependencies, count));
      },
      node, graph);
}

hipError_t hipGraphMemcpyNodeSetParamsToSymbol(hipGraphNode_t node, const void* symbol, const void* source,
                                               size_t bytes, size_t offset, hipMemcpyKind kind) {
  return with([&] { return with_symbol(true, symbol, plain(source), bytes, offset, kind, set(node)); }, node);
}

hipError_t hipGraphMemcpyNodeSetParamsFromSymbol(hipGraphNode_t node, void* target, const void* symbol,
                                                 size_t bytes, size_t offset, hipMemcpyKind kind) {
  return with([&] { return with_symbol(false, symbol, target, bytes, offset, kind, set(node)); }, node);
}

hipError_t hipGraphExecMemcpyNodeSetParamsToSymbol(hipGraphExec_t exec, hipGraphNode_t node,
                                                   const void* symbol, const void* source, size_t bytes,
                                                   size_t offset, hipMemcpyKind kind) {
  return with([&] { return with_symbol(true, symbol, plain(source), bytes, offset, kind, set(exec, node)); },
              exec, node);
}

hipError_t hipGraphExecMemcpyNodeSetParamsFromSymbol(hipGraphExec_t exec, hipGraphNode_t node, void* target,
                                                     const void* symbol, size_t bytes, size_t offset,
                                                     hipMemcpyKind kind) {
  return with([&] { return with_symbol(false, symbol, target, bytes, offset, kind, set(exec, node)); }, exec,
              node);
}

}  // extern "C"
