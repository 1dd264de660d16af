// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cpu/event.h"

#include <utility>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/clock.h"
#include "worker/runtime/cpu/graphs.h"
#include "worker/runtime/cpu/pool.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {

void Event::record(Stream& stream) {
  if (shared_) return record_shared(stream);
  const auto here = [&](std::uint64_t position) {
    const std::uint64_t now = failure() != hipSuccess ? 0 : timed() ? now_ns() : 1;
    const std::lock_guard lock(mutex_);
    ++recordings_;
    stamp_ns_ = now;
    set_point(stream, position);
    return hipSuccess;
  };
  if (stream.run_if_idle(here)) return;
  std::uint64_t recording = 0;
  {
    const std::lock_guard lock(mutex_);
    recording = ++recordings_;
    stamp_ns_ = 0;
  }
  const std::uint64_t position = stream.submit(
      [self = shared_from_this(), recording] { return self->reach(recording), hipSuccess; }, Where::kThread);
  const std::lock_guard lock(mutex_);
  if (recordings_ == recording) set_point(stream, position);  // else another thread has recorded it meanwhile
}

void Event::record_shared(Stream& stream) {
  const std::uint64_t position = stream.submit(
      [shared = shared_, number = shared_->begin_recording()] { return shared->reach(number), hipSuccess; },
      Where::kAtOnce);
  const std::lock_guard lock(mutex_);
  ++recordings_;
  set_point(stream, position);
}

void Event::reach(std::uint64_t recording) {
  if (failure() != hipSuccess) return;
  const std::uint64_t now = timed() ? now_ns() : 1;
  const std::lock_guard lock(mutex_);
  if (recordings_ == recording) stamp_ns_ = now;
}

void Event::set_point(Stream& stream, std::uint64_t position) {
  if (point_.stream.get() != &stream) point_.stream = stream.shared_from_this();
  point_.position = position;
}

void Event::hold(Stream& stream) const {
  if (!shared_) return stream.submit_wait(point());
  const std::uint64_t number = shared_->last();
  if (shared_->reached(number)) return;
  stream.submit([shared = shared_, number] { return shared->wait(number), hipSuccess; }, Where::kThread);
}

Marker Event::point() const {
  const std::lock_guard lock(mutex_);
  return point_;
}

bool Event::recorded() const {
  const std::lock_guard lock(mutex_);
  return recordings_ != 0;
}

hipError_t Event::query() const {
  const bool done = shared_ ? shared_->reached(shared_->last()) : point().done();
  return done ? outcome() : hipErrorNotReady;
}

hipError_t Event::synchronize() const {
  if (shared_) shared_->wait(shared_->last());
  point().wait();
  return outcome();
}

// Of a shared event that this process has recorded nobody notes when it was reached.
hipError_t Event::outcome() const {
  const std::lock_guard lock(mutex_);
  return recordings_ != 0 && stamp_ns_ == 0 ? failure() : hipSuccess;
}

hipError_t Event::failure() const { return Runtime::get().device(device_).failure(); }

std::uint64_t Event::time_ns() const {
  const std::lock_guard lock(mutex_);
  return recordings_ != 0 && point_.done() ? stamp_ns_ : 0;
}

namespace {

constexpr unsigned kKnownFlags = hipEventDefault | hipEventBlockingSync | hipEventDisableTiming |
                                 hipEventInterprocess | hipEventReleaseToDevice | hipEventReleaseToSystem;

hipError_t create(hipEvent_t* event, unsigned flags) {
  if (!event || (flags & ~kKnownFlags)) return hipErrorInvalidValue;
  if ((flags & hipEventReleaseToDevice) && (flags & hipEventReleaseToSystem)) return hipErrorInvalidValue;
  if ((flags & hipEventInterprocess) && !(flags & hipEventDisableTiming)) return hipErrorInvalidValue;
  Runtime& runtime = Runtime::get();
  if (runtime.device_count() == 0) return hipErrorNoDevice;
  std::shared_ptr<SharedEvent> shared;
  if ((flags & hipEventInterprocess) && !(shared = SharedEvent::make())) return hipErrorOutOfMemory;
  *event = runtime.events.add(std::make_shared<Event>(thread_state().device, flags, std::move(shared)));
  return *event ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t record_found(Event& event, Stream& stream) {
  if (event.device() != stream.device().ordinal()) return hipErrorInvalidHandle;
  if (graph::Library* graphs = capturing()) {
    if (const auto verdict = graphs->capture_record(reference(stream), reference(event))) return *verdict;
  }
  event.record(stream);
  return hipSuccess;
}

hipError_t record(hipEvent_t handle, hipStream_t stream_handle) {
  const Found<Event> event = find_event(handle);
  if (!event) return hipErrorInvalidHandle;
  Found<Stream> stream;
  if (const hipError_t status = find_stream(stream_handle, stream)) return status;
  return record_found(*event, *stream);
}

// Asking about an event that stands for a point in a capture is an error, and the end of the capture.
hipError_t refuse_captured(const Event& event) {
  graph::Library* const graphs = capturing();
  return graphs ? graphs->refuse_event(reference(event)).value_or(hipSuccess) : hipSuccess;
}

hipError_t destroy(hipEvent_t handle) {
  const auto event = Runtime::get().events.remove(handle);
  if (!event) return hipErrorInvalidHandle;
  if (graph::Library* graphs = capturing()) graphs->forget_event(reference(*event));
  return hipSuccess;
}

hipError_t elapsed(float* milliseconds, hipEvent_t start_handle, hipEvent_t stop_handle) {
  if (!milliseconds) return hipErrorInvalidValue;
  const auto start = Runtime::get().events.find(start_handle);
  const auto stop = Runtime::get().events.find(stop_handle);
  if (!start || !stop || !start->timed() || !stop->timed()) return hipErrorInvalidHandle;
  if (start->device() != stop->device()) return hipErrorInvalidHandle;
  if (!start->recorded() || !stop->recorded()) return hipErrorInvalidHandle;
  const std::uint64_t from = start->time_ns();
  const std::uint64_t to = stop->time_ns();
  if (from == 0 || to == 0) {
    const hipError_t failed = Runtime::get().device(start->device()).failure();
    return failed != hipSuccess ? failed : hipErrorNotReady;
  }
  *milliseconds = static_cast<float>(static_cast<double>(static_cast<std::int64_t>(to - from)) / 1e6);
  return hipSuccess;
}

}  // namespace

hipError_t record_event(hipEvent_t handle, Stream& stream) {
  const Found<Event> event = find_event(handle);
  return event ? record_found(*event, stream) : hipErrorInvalidHandle;
}

}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipEventCreate(hipEvent_t* event) {
  return api([&] { return create(event, hipEventDefault); });
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return api([&] { return create(event, flags); });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return api([&] { return record(event, stream); });
}

// What was recorded stays in its stream; only the handle goes.
hipError_t hipEventDestroy(hipEvent_t event) {
  return api([&] { return destroy(event); });
}

hipError_t hipEventSynchronize(hipEvent_t handle) {
  return api([&] {
    const auto event = Runtime::get().events.find(handle);
    if (!event) return hipErrorInvalidHandle;
    if (const hipError_t refused = refuse_captured(*event)) return refused;
    const hipError_t status = event->synchronize();
    release_unused_memory(Runtime::get().device(event->device()));
    return status;
  });
}

hipError_t hipEventQuery(hipEvent_t handle) {
  return api([&] {
    const auto event = Runtime::get().events.find(handle);
    if (!event) return hipErrorInvalidHandle;
    if (const hipError_t refused = refuse_captured(*event)) return refused;
    return event->query();
  });
}

hipError_t hipEventElapsedTime(float* ms, hipEvent_t start, hipEvent_t stop) {
  return api([&] { return elapsed(ms, start, stop); });
}

}  // extern "C"
