// SPDX-License-Identifier: Apache-2.0
// Builds and launches the session's executable graphs.
#include "worker/session/graphs.h"

#include <cstring>

#include "worker/copy/array_copies.h"
#include "worker/session/launch_shape.h"

namespace tf::worker {

using protocol::HandleKind;

void Graphs::release() {
  while (!builds_.empty()) drop(builds_.begin());
  objects_.for_each(HandleKind::kGraphExec,
                    [this](std::uint64_t, const Object& object) { own_calls_.pass_on(end(object)); });
}

hipError_t Graphs::end(const Object& exec) {
  if (exec.object == nullptr) return hipSuccess;
  return hip_.hipGraphExecDestroy(static_cast<hipGraphExec_t>(exec.object));
}

void Graphs::Size::add(const Size& other) {
  nodes += other.nodes;
  edges += other.edges;
  bytes += other.bytes;
}

void Graphs::Size::subtract(const Size& other) {
  nodes -= other.nodes;
  edges -= other.edges;
  bytes -= other.bytes;
}

void Graphs::drop(Builds::iterator build) {
  total_.subtract(build->second.size);
  if (build->second.graph != nullptr) own_calls_.pass_on(hip_.hipGraphDestroy(build->second.graph));
  builds_.erase(build);
}

void Graphs::count(std::uint64_t exec, const Build& build) {
  discount(exec);
  kept_[exec] = {build.size, build.arrays};
  total_.add(build.size);
}

void Graphs::discount(std::uint64_t exec) {
  const auto kept = kept_.find(exec);
  if (kept == kept_.end()) return;
  total_.subtract(kept->second.size);
  kept_.erase(kept);
}

void Graphs::begin(std::uint64_t exec) {
  const auto old = builds_.find(exec);
  if (old != builds_.end()) drop(old);
  if (builds_.size() >= kGraphBuildsMax) return;  // its end will find nothing
  Build& build = builds_[exec];
  build.error = hip_.hipGraphCreate(&build.graph, 0);
  if (build.error != hipSuccess) build.graph = nullptr;
}

Graphs::Build* Graphs::prepare(std::uint64_t exec, std::uint32_t dependencies,
                               std::span<const std::byte> tail, std::vector<hipGraphNode_t>& before) {
  const auto found = builds_.find(exec);
  if (found == builds_.end()) return nullptr;
  Build& build = found->second;
  if (build.error != hipSuccess) return nullptr;
  const bool room = build.nodes.size() < kGraphNodesMax && total_.nodes < kGraphSessionNodesMax &&
                    total_.edges + dependencies <= kGraphSessionEdgesMax &&
                    total_.bytes + tail.size() <= kGraphSessionBytesMax;
  if (!room) build.error = hipErrorOutOfMemory;
  if (tail.size() / sizeof(std::uint32_t) < dependencies) build.error = hipErrorInvalidValue;
  if (build.error != hipSuccess) return nullptr;
  before.reserve(dependencies);
  for (std::uint32_t i = 0; i < dependencies; ++i) {
    std::uint32_t index = 0;
    std::memcpy(&index, tail.data() + i * sizeof index, sizeof index);
    if (index >= build.nodes.size()) {
      build.error = hipErrorInvalidValue;
      return nullptr;
    }
    before.push_back(build.nodes[index]);
  }
  return &build;
}

void Graphs::finish(Build& build, hipError_t error, hipGraphNode_t node, const Size& added) {
  build.error = error;
  if (error != hipSuccess) return;
  build.nodes.push_back(node);
  build.size.add(added);
  total_.add(added);
}

void Graphs::add(const protocol::BuildKernelNodeRequest& request, std::span<const std::byte> tail) {
  std::vector<hipGraphNode_t> before;
  Build* build = prepare(request.exec, request.dependencies, tail, before);
  if (build == nullptr) return;
  const Object* function = objects_.find(HandleKind::kFunction, request.function);
  const std::size_t start = (request.dependencies * sizeof(std::uint32_t) + 7) / 8 * 8;
  hipError_t error = hipSuccess;
  if (function == nullptr)
    error = hipErrorInvalidHandle;
  else if (start > tail.size() || (request.flags & ~kLaunchCooperative) != 0)
    error = hipErrorInvalidValue;
  else if (!valid_shape(request.grid, request.block))
    error = hipErrorInvalidConfiguration;
  if (error != hipSuccess) return finish(*build, error, nullptr, {});
  if (build->kernel_device < 0) build->kernel_device = function->device;
  ExtraArguments arguments(tail.subspan(start));
  hipKernelNodeParams parameters{};
  // HIP wants a host stub; our runtimes and AMD's (5.2.3) also accept a function's handle.
  parameters.func = function->object;
  parameters.gridDim = dim3(request.grid[0], request.grid[1], request.grid[2]);
  parameters.blockDim = dim3(request.block[0], request.block[1], request.block[2]);
  parameters.sharedMemBytes = request.shared_bytes;
  parameters.extra = arguments.get();
  hipGraphNode_t node = nullptr;
  error = hip_.hipGraphAddKernelNode(&node, build->graph, before.data(), before.size(), &parameters);
  if (error == hipSuccess && (request.flags & kLaunchCooperative) != 0) {
    hipKernelNodeAttrValue value{};
    value.cooperative = 1;
    error = hip_.hipGraphKernelNodeSetAttribute(node, hipKernelNodeAttributeCooperative, &value);
  }
  finish(*build, error, node, {1, before.size(), tail.size()});
}

void Graphs::add(const protocol::BuildFillNodeRequest& request, std::span<const std::byte> tail) {
  std::vector<hipGraphNode_t> before;
  Build* build = prepare(request.exec, request.dependencies, tail, before);
  if (build == nullptr) return;
  std::uint64_t bytes = 0;
  const std::uint32_t element = request.element_bytes;
  const bool sane = (element == 1 || element == 2 || element == 4) && request.width != 0 &&
                    request.height != 0 &&
                    !__builtin_mul_overflow(request.width, std::uint64_t{element}, &bytes) &&
                    addresses_.holds_box(request.target, request.pitch, 0, bytes, request.height, 1);
  if (!sane) return finish(*build, hipErrorInvalidValue, nullptr, {});
  const AddressMap::Range* const range = addresses_.find(request.target, 0);
  if (build->fill_device < 0 && range != nullptr && !host_parts_.holds(request.target, 1))
    build->fill_device = range->device;
  hipMemsetParams parameters{};
  parameters.dst = reinterpret_cast<void*>(request.target);
  parameters.elementSize = element;
  parameters.value = request.value;
  parameters.width = request.width;
  parameters.height = request.height;
  parameters.pitch = request.pitch;
  hipGraphNode_t node = nullptr;
  const hipError_t error =
      hip_.hipGraphAddMemsetNode(&node, build->graph, before.data(), before.size(), &parameters);
  finish(*build, error, node, {1, before.size(), tail.size()});
}

namespace {

graph::Box box_of(const protocol::BuildCopyNodeRequest& request) {
  return {{request.target, request.target_pitch, request.target_slice},
          {request.source, request.source_pitch, request.source_slice},
          request.width,
          request.height,
          request.depth};
}

bool are_whole_rows_apart(const graph::Box& box, const graph::BoxSide& side) {
  return box.depth == 1 || side.slice % side.pitch == 0;
}

}  // namespace

bool Graphs::holds(const graph::Box& box, const graph::BoxSide& side) const {
  if (array::is_name(side.address)) return stands_in_array(arrays_, box, side);
  return addresses_.holds_box(side.address, side.pitch, side.slice, box.width, box.height, box.depth);
}

void Graphs::note_arrays(Build& build, const graph::Box& box) const {
  for (const std::uint64_t address : {box.target.address, box.source.address})
    if (const SessionArray* const array = arrays_.find(address)) build.arrays.insert(array->owner);
}

void Graphs::add(const protocol::BuildCopyNodeRequest& request, std::span<const std::byte> tail) {
  std::vector<hipGraphNode_t> before;
  Build* build = prepare(request.exec, request.dependencies, tail, before);
  if (build == nullptr) return;
  const graph::Box box = box_of(request);
  const bool sane = !box.is_empty() && box.target.pitch >= box.width && box.source.pitch >= box.width &&
                    holds(box, box.target) && holds(box, box.source);
  if (!sane) return finish(*build, hipErrorInvalidValue, nullptr, {});
  const hipMemcpyKind kind = host_parts_.kind(request.target, request.source);
  hipGraphNode_t node = nullptr;
  hipError_t error = hipErrorInvalidValue;
  hipMemcpy3DParms copy{};
  bool whole = true;
  if (names_array(box)) {
    whole = read_array_copy(arrays_, box, kind, copy);
  } else if (!box.is_line()) {
    whole = are_whole_rows_apart(box, box.target) && are_whole_rows_apart(box, box.source);
    copy.dstPtr = pointer_of(box, box.target);
    copy.srcPtr = pointer_of(box, box.source);
    copy.extent = {request.width, request.height, request.depth};
    copy.kind = kind;
  }
  if (whole && box.is_line() && !names_array(box)) {
    error = hip_.hipGraphAddMemcpyNode1D(&node, build->graph, before.data(), before.size(),
                                         box.target.memory(), box.source.memory(), box.width, kind);
  } else if (whole) {
    error = hip_.hipGraphAddMemcpyNode(&node, build->graph, before.data(), before.size(), &copy);
  }
  note_arrays(*build, box);
  finish(*build, error, node, {1, before.size(), tail.size()});
}

void Graphs::add(const protocol::BuildEmptyNodeRequest& request, std::span<const std::byte> tail) {
  std::vector<hipGraphNode_t> before;
  Build* build = prepare(request.exec, request.dependencies, tail, before);
  if (build == nullptr) return;
  hipGraphNode_t node = nullptr;
  const hipError_t error = hip_.hipGraphAddEmptyNode(&node, build->graph, before.data(), before.size());
  finish(*build, error, node, {1, before.size(), tail.size()});
}

void Graphs::fail(std::uint64_t build, hipError_t error) {
  const auto found = builds_.find(build);
  if (found != builds_.end() && found->second.error == hipSuccess) found->second.error = error;
}

int Graphs::device_of(std::uint64_t build) const {
  const auto found = builds_.find(build);
  if (found == builds_.end()) return -1;
  return found->second.kernel_device >= 0 ? found->second.kernel_device : found->second.fill_device;
}

hipError_t Graphs::instantiate(std::uint64_t exec, int device) {
  const auto build = builds_.find(exec);
  if (build == builds_.end()) return hipErrorOutOfMemory;
  hipError_t error = build->second.error;
  if (error == hipSuccess && objects_.count(HandleKind::kGraphExec) >= kGraphExecsMax)
    error = hipErrorOutOfMemory;
  hipGraphExec_t made = nullptr;
  if (error == hipSuccess) error = hip_.hipGraphInstantiate(&made, build->second.graph, nullptr, nullptr, 0);
  if (error == hipSuccess && !objects_.bind(HandleKind::kGraphExec, exec, {made, device})) {
    own_calls_.pass_on(hip_.hipGraphExecDestroy(made));
    error = hipErrorInvalidHandle;
  }
  if (error == hipSuccess) count(exec, build->second);
  drop(build);
  return error;
}

hipError_t Graphs::update(std::uint64_t exec, std::uint64_t built) {
  const auto build = builds_.find(built);
  if (build == builds_.end()) return hipErrorOutOfMemory;
  const Object* have = objects_.find(HandleKind::kGraphExec, exec);
  hipError_t error = have == nullptr ? hipErrorInvalidHandle : build->second.error;
  if (error == hipSuccess) {
    const auto old = static_cast<hipGraphExec_t>(have->object);
    hipGraphNode_t node = nullptr;
    hipGraphExecUpdateResult result = hipGraphExecUpdateError;
    // Also if it fails halfway.
    kept_[exec].arrays.insert(build->second.arrays.begin(), build->second.arrays.end());
    if (old == nullptr ||
        own_calls_.keep(hip_.hipGraphExecUpdate(old, build->second.graph, &node, &result)) != hipSuccess) {
      // The client knows that the graphs are alike: what the runtime cannot change in place is built again.
      Object object;
      hipGraphExec_t made = nullptr;
      error = hip_.hipGraphInstantiate(&made, build->second.graph, nullptr, nullptr, 0);
      if (error == hipSuccess && objects_.unbind(HandleKind::kGraphExec, exec, object)) {
        objects_.bind(HandleKind::kGraphExec, exec, {made, object.device});
        own_calls_.pass_on(end(object));
      }
    }
  }
  if (error == hipSuccess) count(exec, build->second);
  drop(build);
  return error;
}

hipError_t Graphs::launch(std::uint64_t exec, hipStream_t stream) {
  const Object* found = objects_.find(HandleKind::kGraphExec, exec);
  if (found == nullptr) return hipErrorInvalidHandle;
  if (found->object == nullptr) return hipErrorInvalidValue;
  return hip_.hipGraphLaunch(static_cast<hipGraphExec_t>(found->object), stream);
}

// Running launches finish: the runtime keeps what it needs.
hipError_t Graphs::destroy(std::uint64_t exec) {
  if (const auto build = builds_.find(exec); build != builds_.end()) {
    drop(build);  // given up before it was complete
    return hipSuccess;
  }
  Object found;
  if (!objects_.unbind(HandleKind::kGraphExec, exec, found)) return hipErrorInvalidHandle;
  discount(exec);
  return end(found);
}

void Graphs::forget_array(std::uint64_t base) {
  for (auto& [exec, build] : builds_)
    if (build.arrays.erase(base) != 0 && build.error == hipSuccess) build.error = hipErrorInvalidValue;
  for (auto& [exec, kept] : kept_) {
    if (kept.arrays.erase(base) == 0) continue;
    Object* const found = objects_.find(HandleKind::kGraphExec, exec);
    if (found == nullptr) continue;
    own_calls_.pass_on(end(*found));
    found->object = nullptr;
  }
}

}  // namespace tf::worker
