// SPDX-License-Identifier: Apache-2.0
// Offers calls to captures, and answers the graph library's questions.
#include "proxy/graphs/graphs.h"

#include <algorithm>
#include <utility>

#include "hipcore/newer/batch.h"
#include "hipcore/wire/fill.h"
#include "proxy/base/thread_state.h"
#include "proxy/graphs/executable.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

using protocol::HandleKind;
using protocol::Trait;

namespace {

LaunchShape shape_of(const graph::KernelWork& work) {
  LaunchShape shape;
  std::copy_n(work.grid, 3, shape.grid);
  std::copy_n(work.threads, 3, shape.block);
  shape.shared_bytes = work.shared_bytes;
  return shape;
}

}  // namespace

std::vector<graph::Argument> graph_arguments(const KernelLayout& layout) {
  std::vector<graph::Argument> arguments;
  arguments.reserve(layout.arguments.size());
  for (const KernelArgument& argument : layout.arguments)
    arguments.push_back({argument.offset_bytes, argument.size_bytes});
  return arguments;
}

Graphs::Graphs(const protocol::WorkerSnapshot& snapshot, CopyEngine& copies, ModuleCache& modules,
               const array::Finder& arrays, BlockSource& blocks)
    : snapshot_(snapshot),
      copies_(copies),
      modules_(modules),
      arrays_(arrays),
      blocks_(blocks),
      connection_(copies.connection()),
      library_(*this) {
  copies.capture_by(*this);
}

// Sets the bit before the capture begins, so that no post misses the capture.
template <typename Begin>
hipError_t Graphs::begin(Begin&& begin) {
  const MutexLock lock(capturing_mutex_);
  connection_.take_care(Care::kCapturing, true);
  const hipError_t error = begin();
  note_capturing();
  return error;
}

hipError_t Graphs::begin_capture(const graph::StreamRef& stream, hipStreamCaptureMode mode) {
  return begin([&] { return library_.begin_capture(stream, mode); });
}

hipError_t Graphs::begin_capture(const graph::StreamRef& stream, hipStreamCaptureMode mode, hipGraph_t graph,
                                 const hipGraphNode_t* dependencies, const hipGraphEdgeData* edges,
                                 std::size_t count) {
  return begin([&] { return library_.begin_capture(stream, mode, graph, dependencies, edges, count); });
}

hipError_t Graphs::end_capture(const graph::StreamRef& stream, hipGraph_t* graph) {
  const MutexLock lock(capturing_mutex_);
  const hipError_t error = library_.end_capture(stream, graph);
  note_capturing();
  return error;
}

void Graphs::note_capturing() { connection_.take_care(Care::kCapturing, capturing()); }

graph::StreamRef Graphs::reference(int device, std::uint64_t stream) const {
  if (stream == 0) return {0, device, true, true};
  const Streams& streams = connection_.streams();
  return {stream, streams.device_of(device, stream), streams.is_blocking(stream), false};
}

// One node per slice, unless slices follow each other without a gap. A fill of nothing is no work.
Graphs::Verdict Graphs::capture_fill(int device, const protocol::FillRequest& fill) {
  if (fill.width == 0 || fill.height == 0 || fill.depth == 0) return std::nullopt;
  const graph::StreamRef stream = reference(device, fill.stream);
  const bool whole = fill.depth == 1 || fill.slice == fill.pitch * fill.height;
  Verdict verdict;
  for (std::uint64_t slice = 0; slice < (whole ? 1 : fill.depth); ++slice) {
    graph::FillWork work;
    work.target = reinterpret_cast<std::byte*>(fill.target + slice * fill.slice);
    work.value = fill.value;
    work.element_bytes = protocol::element_bytes(fill.form);
    work.width = fill.width;
    work.height = fill.height * (whole ? fill.depth : 1);
    work.pitch = fill.pitch != 0 ? fill.pitch : fill.width;
    verdict = library_.capture(stream, work);
    if (!verdict || *verdict != hipSuccess) break;
  }
  return verdict;
}

void Graphs::forget_stream(std::uint64_t stream) {
  const MutexLock lock(capturing_mutex_);
  library_.forget_stream(stream);
  note_capturing();
}

// A synchronous form belongs to the null stream, whose work no capture records.
Graphs::Verdict Graphs::offer(protocol::OpTraits what, int device, std::span<const std::byte> head) {
  const std::uint64_t stream = what.stream_of(head);
  const std::uint64_t event = what.event_of(head);
  if (what.has(Trait::kFills)) return capture_fill(device, protocol::request_of<protocol::FillRequest>(head));
  if (what.has(Trait::kNotCaptured)) return library_.refuse(reference(device, stream));
  if (what.has(Trait::kRecords)) {
    if (!connection_.streams().may_record(event, device, stream)) return hipErrorInvalidHandle;
    return library_.capture_record(reference(device, stream), event);
  }
  if (what.has(Trait::kAwaits)) return library_.capture_wait(reference(device, stream), event);
  if (what.has(Trait::kEndsStream)) forget_stream(stream);
  if (what.has(Trait::kEndsEvent)) library_.forget_event(event);
  return std::nullopt;
}

Graphs::Verdict Graphs::offer_copy(const CopyMode& mode, const graph::Box& box, hipMemcpyKind kind) {
  const graph::StreamRef stream = reference(mode.device, mode.stream);
  return mode.wait ? library_.refuse(stream) : library_.capture(stream, graph::copy_work(box, kind));
}

// By handle, or by host stub for the current device.
hipError_t Graphs::describe(const void* named, graph::KernelFacts& facts) {
  std::uint64_t function = to_raw(named);
  auto known = modules_.facts(function);
  if (known == nullptr) {
    const hipError_t error = modules_.registered_function(thread_state().device, named, function);
    if (error != hipSuccess) return error;
    known = modules_.facts(function);
  }
  if (known == nullptr) return hipErrorInvalidHandle;
  facts.resolved = static_cast<hipFunction_t>(to_pointer(protocol::Handle(function)));
  facts.arguments = graph_arguments(*known->layout);
  facts.argument_bytes = known->layout->argument_bytes;
  return hipSuccess;
}

hipError_t Graphs::find_symbol(const void* symbol, std::byte*& address, std::size_t& bytes) {
  DeviceVariable variable;
  const hipError_t error = modules_.registered_variable(thread_state().device, symbol, variable);
  address = reinterpret_cast<std::byte*>(variable.address);
  bytes = variable.bytes;
  return error;
}

hipError_t Graphs::check(const graph::Work& work) {
  if (const auto* kernel = std::get_if<graph::KernelWork>(&work)) {
    const auto facts = modules_.facts(to_raw(kernel->resolved));
    if (facts == nullptr) return hipErrorInvalidHandle;
    const auto device = static_cast<std::size_t>(facts->device);
    return check_shape(snapshot_.devices[device].properties, *facts->layout, shape_of(*kernel));
  }
  if (const auto* copy = std::get_if<graph::CopyWork>(&work)) {
    Route route;
    if (!is_valid(*copy)) return hipErrorInvalidValue;
    return kind_fits(copies_, *copy, copy->kind) ? find_route(copies_, *copy, route) : hipErrorInvalidValue;
  }
  bool good = true;
  if (const auto* fill = std::get_if<graph::FillWork>(&work)) {
    std::uint64_t bytes = 0;
    good = !__builtin_mul_overflow(fill->pitch, fill->height - 1, &bytes) &&
           !__builtin_add_overflow(bytes, fill->width, &bytes) &&
           copies_.reaches(to_raw(fill->target), bytes);
  } else if (const auto* event = std::get_if<graph::EventWork>(&work)) {
    good = connection_.handles().of(HandleKind::kEvent).contains(to_raw(event->event));
  } else if (const auto* batch = std::get_if<graph::BatchWork>(&work)) {
    good = std::all_of(batch->operations.begin(), batch->operations.end(), [this](const auto& operation) {
      return copies_.reaches(to_raw(value_address(operation)), value_bytes(operation));
    });
  }
  return good ? hipSuccess : hipErrorInvalidValue;
}

hipError_t Graphs::instantiate(const graph::Plan& plan, std::shared_ptr<graph::Executable>& executable) {
  auto made = std::make_shared<GraphExecutable>(copies_, modules_, thread_state().device);
  const hipError_t error = made->prepare(plan);
  if (error == hipSuccess) executable = std::move(made);
  return error;
}

hipError_t Graphs::allocate(int device, std::size_t bytes, std::byte*& address) {
  std::uint64_t base = 0;
  const hipError_t error = blocks_.allocate_block(device, bytes, base);
  address = reinterpret_cast<std::byte*>(base);
  return error;
}

// A failure can only be the loss of the worker, with which the memory is gone too.
void Graphs::release(int, std::byte* address) { static_cast<void>(blocks_.free_block(to_raw(address))); }

}  // namespace tf::proxy
