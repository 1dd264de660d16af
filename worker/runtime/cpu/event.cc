// SPDX-License-Identifier: Apache-2.0
// Records events, waits for them, and measures between them.
#include "worker/runtime/cpu/event.h"

#include <utility>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/backend.h"
#include "worker/runtime/cpu/pool.h"

namespace tf::cpu {

void Event::record(Stream& stream) {
  if (shared_) return record_shared(stream);
  const auto here = [&](std::uint64_t position) {
    const std::uint64_t now = failure() != hipSuccess ? 0 : timed() ? now_ns() : 1;
    const MutexLock lock(mutex_);
    ++recordings_;
    stamp_ns_ = now;
    set_point(stream, position);
    return hipSuccess;
  };
  if (stream.run_if_idle(here)) return;
  std::uint64_t recording = 0;
  {
    const MutexLock lock(mutex_);
    recording = ++recordings_;
    stamp_ns_ = 0;
  }
  const std::uint64_t position = stream.submit(
      [self = shared_from_this(), recording] { return self->reach(recording), hipSuccess; }, Where::kThread);
  const MutexLock lock(mutex_);
  if (recordings_ == recording) set_point(stream, position);  // else another thread has recorded it meanwhile
}

void Event::record_shared(Stream& stream) {
  const std::uint64_t position = stream.submit(
      [shared = shared_, number = shared_->begin_recording()] { return shared->reach(number), hipSuccess; },
      Where::kAtOnce);
  const MutexLock lock(mutex_);
  ++recordings_;
  set_point(stream, position);
}

void Event::reach(std::uint64_t recording) {
  if (failure() != hipSuccess) return;
  const std::uint64_t now = timed() ? now_ns() : 1;
  const MutexLock lock(mutex_);
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
  const MutexLock lock(mutex_);
  return point_;
}

bool Event::recorded() const {
  const MutexLock lock(mutex_);
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

// Nobody notes when a shared event recorded by this process was reached.
hipError_t Event::outcome() const {
  const MutexLock lock(mutex_);
  return recordings_ != 0 && stamp_ns_ == 0 ? failure() : hipSuccess;
}

hipError_t Event::failure() const { return Runtime::get().device(device_).failure(); }

std::uint64_t Event::time_ns() const {
  const MutexLock lock(mutex_);
  return recordings_ != 0 && point_.done() ? stamp_ns_ : 0;
}

hipError_t Backend::create_event(hipEvent_t& event, unsigned flags) {
  std::shared_ptr<SharedEvent> shared;
  if ((flags & hipEventInterprocess) && !(shared = SharedEvent::make())) return hipErrorOutOfMemory;
  event = Runtime::get().events.add(
      std::make_shared<cpu::Event>(thread_state().device, flags, std::move(shared)));
  return event ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t Backend::destroy_event(hipEvent_t event) {
  if (!Runtime::get().events.remove(event)) return hipErrorInvalidHandle;
  static_cast<void>(find_event(event));  // so that this thread does not keep it for its next call
  return hipSuccess;
}

hipError_t Backend::query(const Event& event) { return event->query(); }

hipError_t Backend::synchronize(const Event& event) {
  const hipError_t status = event->synchronize();
  release_unused_memory(Runtime::get().device(event->device()));
  return status;
}

hipError_t Backend::elapsed(hipEvent_t start_handle, hipEvent_t stop_handle, float& milliseconds) {
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
  milliseconds = static_cast<float>(static_cast<double>(static_cast<std::int64_t>(to - from)) / 1e6);
  return hipSuccess;
}

}  // namespace tf::cpu
