// SPDX-License-Identifier: Apache-2.0
// Builds a graph's segments at the worker, and launches them.
#include "proxy/graphs/executable.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "hipcore/newer/batch.h"
#include "hipcore/wire/launch_flags.h"
#include "proxy/copy/mapped.h"
#include "proxy/graphs/graphs.h"
#include "transport/base/mutex.h"

namespace tf::proxy {

using protocol::HandleKind;

GraphExecutable::~GraphExecutable() { destroy_segments(segments_); }

// --- building -----------------------------------------------------------------------------------------

Schedule GraphExecutable::schedule(const graph::Plan& plan) const {
  return make_schedule(plan, [this](const graph::Work& work) {
    if (std::holds_alternative<graph::HostWork>(work)) return ItemPlace::kOnHost;
    if (std::holds_alternative<graph::EventWork>(work)) return ItemPlace::kEvent;
    if (std::holds_alternative<graph::BatchWork>(work)) return ItemPlace::kBatch;
    const auto* copy = std::get_if<graph::CopyWork>(&work);
    if (copy == nullptr) return ItemPlace::kDevice;
    switch (graph_way_between(copies_, copy->target.address, copy->source.address)) {
      case CopyWay::kOnDevice: return ItemPlace::kDevice;
      case CopyWay::kToDevice: return ItemPlace::kToDevice;
      case CopyWay::kFromDevice: return ItemPlace::kFromDevice;
      case CopyWay::kOnHost: break;
    }
    return ItemPlace::kOnHost;
  });
}

bool GraphExecutable::can_print(const Schedule& schedule) const {
  const auto prints = [this](const ScheduledItem& item) {
    const auto* kernel = std::get_if<graph::KernelWork>(item.work.get());
    if (kernel == nullptr) return false;
    const auto facts = modules_.facts(to_raw(kernel->resolved));
    return facts != nullptr && facts->layout->can_print;
  };
  return std::any_of(schedule.begin(), schedule.end(), [&prints](const ScheduleStep& step) {
    return std::any_of(step.segment.begin(), step.segment.end(), prints);
  });
}

template <typename Request>
hipError_t GraphExecutable::post_node(Request& request, const Dependencies& dependencies,
                                      std::span<const std::byte> arguments) {
  request.dependencies = static_cast<std::uint32_t>(dependencies.size());
  const std::size_t numbers = dependencies.size() * sizeof(std::uint32_t);
  std::vector<std::byte> tail(numbers);
  if (numbers != 0) std::memcpy(tail.data(), dependencies.data(), numbers);
  tail.resize((numbers + 7) / 8 * 8);
  tail.insert(tail.end(), arguments.begin(), arguments.end());
  return connection_.post(device_, request, tail);
}

hipError_t GraphExecutable::build_kernel(std::uint64_t exec, const graph::KernelWork& work,
                                         const Dependencies& dependencies) {
  protocol::BuildKernelNodeRequest request{};
  request.exec = exec;
  request.function = to_raw(work.resolved);
  std::copy_n(work.grid, 3, request.grid);
  std::copy_n(work.threads, 3, request.block);
  request.shared_bytes = work.shared_bytes;
  request.flags = work.cooperative != 0 ? protocol::kLaunchCooperative : 0;
  return post_node(request, dependencies, work.block);
}

// Where devices reach what the check of the node has allowed.
std::uint64_t GraphExecutable::seen_by_devices(const void* pointer) const {
  return copies_.host_memory().will_be_seen_by_devices(to_raw(pointer), 1);
}

hipError_t GraphExecutable::build_node(std::uint64_t exec, const graph::Work& work,
                                       const Dependencies& dependencies) {
  if (const auto* kernel = std::get_if<graph::KernelWork>(&work))
    return build_kernel(exec, *kernel, dependencies);
  if (const auto* fill = std::get_if<graph::FillWork>(&work)) {
    protocol::BuildFillNodeRequest request{};
    request.exec = exec;
    request.target = seen_by_devices(fill->target);
    request.value = fill->value;
    request.element_bytes = fill->element_bytes;
    request.width = fill->width / fill->element_bytes;
    request.height = fill->height;
    request.pitch = fill->pitch;
    return post_node(request, dependencies);
  }
  if (const auto* copy = std::get_if<graph::CopyWork>(&work)) {
    protocol::BuildCopyNodeRequest request{};
    request.exec = exec;
    request.target = copy->target.address;
    request.target_pitch = copy->target.pitch;
    request.target_slice = copy->target.slice;
    request.source = copy->source.address;
    request.source_pitch = copy->source.pitch;
    request.source_slice = copy->source.slice;
    request.width = copy->width;
    request.height = copy->height;
    request.depth = copy->depth;
    return post_node(request, dependencies);
  }
  protocol::BuildEmptyNodeRequest request{};
  request.exec = exec;
  return post_node(request, dependencies);
}

hipError_t GraphExecutable::build(std::uint64_t exec, const std::vector<ScheduledItem>& segment) {
  protocol::BuildGraphRequest request{};
  request.exec = exec;
  hipError_t error = connection_.post(device_, request);
  std::vector<std::uint32_t> number(segment.size());  // at the worker: gathering nodes count too
  std::uint32_t next = 0;
  for (std::size_t i = 0; i < segment.size() && error == hipSuccess; ++i) {
    Dependencies before;
    for (std::uint32_t item : segment[i].dependencies) before.push_back(number[item]);
    while (before.size() > kNodeDependenciesMax && error == hipSuccess) {
      const auto end = before.begin() + kNodeDependenciesMax;
      error = build_node(exec, graph::EmptyWork{}, Dependencies(before.begin(), end));
      before.erase(before.begin(), end);
      before.push_back(next++);
    }
    if (error == hipSuccess) error = build_node(exec, *segment[i].work, before);
    number[i] = next++;
  }
  if (error != hipSuccess) {  // the worker must not continue with it
    protocol::DestroyGraphRequest given_up{};
    given_up.exec = exec;
    if (!connection_.lost()) (void)connection_.post(device_, given_up);
  }
  return error;
}

hipError_t GraphExecutable::make_segments(const Schedule& schedule, std::vector<std::uint64_t>& execs) {
  HandleTable& table = connection_.handles().of(HandleKind::kGraphExec);
  hipError_t error = hipSuccess;
  for (const ScheduleStep& step : schedule) {
    if (step.place != ItemPlace::kDevice) continue;
    const auto handle = table.create(device_);
    if (!handle) return hipErrorOutOfMemory;
    error = build(handle->raw(), step.segment);
    protocol::InstantiateGraphRequest request{};
    request.exec = handle->raw();
    if (error == hipSuccess) error = connection_.call(device_, request);
    if (error != hipSuccess) {
      table.remove(handle->raw());
      return error;
    }
    execs.push_back(handle->raw());
  }
  return hipSuccess;
}

void GraphExecutable::destroy_segments(const std::vector<std::uint64_t>& execs) {
  HandleTable& table = connection_.handles().of(HandleKind::kGraphExec);
  for (std::uint64_t exec : execs) {
    if (!table.retire(exec)) continue;
    protocol::DestroyGraphRequest request{};
    request.exec = exec;
    if (!connection_.lost()) (void)connection_.post(device_, request);
    table.recycle(exec);
  }
}

hipError_t GraphExecutable::prepare(const graph::Plan& plan) {
  const MutexLock lock(mutex_);
  schedule_ = schedule(plan);
  can_print_ = can_print(schedule_);
  return make_segments(schedule_, segments_);
}

namespace {

bool same_cuts(const Schedule& have, const Schedule& wanted) {
  return std::equal(have.begin(), have.end(), wanted.begin(), wanted.end(),
                    [](const ScheduleStep& one, const ScheduleStep& other) {
                      return one.place == other.place && one.segment.size() == other.segment.size();
                    });
}

// Work is shared and immutable, so equal addresses mean the same work.
bool same_work(const ScheduleStep& have, const ScheduleStep& wanted) {
  return std::equal(have.segment.begin(), have.segment.end(), wanted.segment.begin(), wanted.segment.end(),
                    [](const ScheduledItem& one, const ScheduledItem& other) {
                      return one.work == other.work && one.dependencies == other.dependencies;
                    });
}

}  // namespace

// The cuts are the same: changed segments are updated in place, under a name that exists only during the
// build.
hipError_t GraphExecutable::change_segments(const Schedule& schedule) {
  HandleTable& table = connection_.handles().of(HandleKind::kGraphExec);
  hipError_t error = hipSuccess;
  std::size_t segment = 0;
  for (std::size_t i = 0; i < schedule.size(); ++i) {
    const ScheduleStep& step = schedule[i];
    if (step.place != ItemPlace::kDevice) continue;
    const std::uint64_t exec = segments_[segment++];
    if (same_work(schedule_[i], step)) continue;
    const auto handle = table.create(device_);
    if (!handle) return hipErrorOutOfMemory;
    error = build(handle->raw(), step.segment);
    protocol::UpdateGraphRequest request{};
    request.exec = exec;
    request.built = handle->raw();
    if (error == hipSuccess) error = connection_.call(device_, request);
    table.remove(handle->raw());
    if (error != hipSuccess) return error;
  }
  return hipSuccess;
}

hipError_t GraphExecutable::update(const graph::Plan& plan) {
  Schedule wanted = schedule(plan);
  const MutexLock lock(mutex_);
  if (!torn_ && same_cuts(schedule_, wanted)) {
    const hipError_t error = change_segments(wanted);
    torn_ = error != hipSuccess;
    can_print_ = can_print_ || can_print(wanted);
    if (!torn_) schedule_ = std::move(wanted);
    return error;
  }
  std::vector<std::uint64_t> execs;
  const hipError_t error = make_segments(wanted, execs);
  if (error == hipSuccess) {
    std::swap(segments_, execs);
    schedule_ = std::move(wanted);
    can_print_ = can_print(schedule_);
    torn_ = false;
  }
  destroy_segments(execs);
  return error;
}

// --- running ------------------------------------------------------------------------------------------

// Waits until everything on the stream is done, here too. The program's own synchronizing call still reports
// failures.
void GraphExecutable::finish(const graph::StreamRef& stream) {
  protocol::SynchronizeStreamRequest request{};
  request.stream = stream.id;
  const hipError_t error = connection_.call(stream.device, request);
  if (error != hipSuccess && error != kLostError)
    connection_.streams().faults().note(stream.device, stream.id, error);
  connection_.streams().await_copies(stream.device, stream.id);
}

hipError_t GraphExecutable::launch_on_host(const graph::Work& work, const graph::StreamRef& stream) {
  if (const auto* host = std::get_if<graph::HostWork>(&work))
    return copies_.callbacks().add(stream.device, stream.id,
                                   [call = *host](hipError_t) { call.function(call.data); });
  return copies_.callbacks().add(stream.device, stream.id,
                                 [copy = std::get<graph::CopyWork>(work)](hipError_t) { copy_rows(copy); });
}

hipError_t GraphExecutable::launch_operation(const hipStreamBatchMemOpParams& operation,
                                             const graph::StreamRef& stream) {
  const auto post = [&](auto request) {
    request.stream = stream.id;
    request.pointer = seen_by_devices(value_address(operation));
    return connection_.post(stream.device, request);
  };
  const auto& wait = operation.waitValue;
  const auto& write = operation.writeValue;
  switch (operation.operation) {
    case hipStreamMemOpWaitValue32:
      return post(protocol::StreamWaitValue32Request{
          .value = wait.value, .flags = wait.flags, .mask = ~std::uint32_t{0}});
    case hipStreamMemOpWaitValue64:
      return post(protocol::StreamWaitValue64Request{
          .value = wait.value64, .mask = ~std::uint64_t{0}, .flags = wait.flags});
    case hipStreamMemOpWriteValue32:
      return post(protocol::StreamWriteValue32Request{.value = write.value, .flags = write.flags});
    default: return post(protocol::StreamWriteValue64Request{.value = write.value64, .flags = write.flags});
  }
}

hipError_t GraphExecutable::launch_batch(const graph::BatchWork& batch, const graph::StreamRef& stream) {
  for (const hipStreamBatchMemOpParams& operation : batch.operations)
    if (const hipError_t error = launch_operation(operation, stream)) return error;
  return hipSuccess;
}

hipError_t GraphExecutable::launch_step(const ScheduleStep& step, const graph::StreamRef& stream) {
  if (step.place == ItemPlace::kOnHost) return launch_on_host(*step.work, stream);
  if (step.place == ItemPlace::kEvent) {
    const auto& event = std::get<graph::EventWork>(*step.work);
    if (event.record) {
      protocol::EventRecordRequest request{};
      request.event = to_raw(event.event);
      request.stream = stream.id;
      return connection_.post(stream.device, request);
    }
    protocol::StreamWaitEventRequest request{};
    request.event = to_raw(event.event);
    request.stream = stream.id;
    return connection_.post(stream.device, request);
  }
  if (step.place == ItemPlace::kBatch) return launch_batch(std::get<graph::BatchWork>(*step.work), stream);
  const auto& copy = std::get<graph::CopyWork>(*step.work);
  return copy_box(copies_, {stream.device, stream.id, false}, copy, copy.kind);
}

hipError_t GraphExecutable::launch(const graph::StreamRef& stream) {
  const MutexLock lock(mutex_);
  hipError_t error = hipSuccess;
  std::size_t segment = 0;
  for (const ScheduleStep& step : schedule_) {
    if (step.wait_first || (step.wait_for_previous && launched_)) {
      const HandleTable& streams = connection_.handles().of(HandleKind::kStream);
      const bool elsewhere = launched_ && last_stream_.id != stream.id;
      if (elsewhere && (last_stream_.legacy || streams.contains(last_stream_.id))) finish(last_stream_);
      finish(stream);
    }
    if (step.place == ItemPlace::kDevice) {
      protocol::LaunchGraphRequest request{};
      request.exec = segments_[segment++];
      request.stream = stream.id;
      error = connection_.post(stream.device, request);
    } else {
      error = launch_step(step, stream);
    }
    if (error != hipSuccess) break;
  }
  if (can_print_) connection_.streams().output().started();
  launched_ = true;
  last_stream_ = stream;
  return error;
}

// An executable graph does not overlap with itself, so its last launch ends last.
void GraphExecutable::when_done(std::function<void()> call) {
  graph::StreamRef stream;
  bool launched = false;
  {
    const MutexLock lock(mutex_);
    launched = launched_;
    stream = last_stream_;
  }
  if (launched && (stream.legacy || connection_.handles().of(HandleKind::kStream).contains(stream.id))) {
    const auto later = [call](hipError_t) { call(); };
    if (copies_.callbacks().add(stream.device, stream.id, later) == hipSuccess) return;
  }
  // The stream was destroyed, and its work goes on, or there are too many callbacks.
  if (launched && !connection_.lost()) {
    protocol::SynchronizeDeviceRequest request{};
    static_cast<void>(connection_.call(stream.device, request));
  }
  call();
}

}  // namespace tf::proxy
