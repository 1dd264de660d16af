// SPDX-License-Identifier: Apache-2.0
// Events.
#include "worker/runtime/common/events.h"

#include "worker/runtime/common/api.h"

namespace tf::runtime {
namespace {

using Event = Backend::Event;

// Flags about an event's visibility matter only on a GPU.
constexpr unsigned kFlags =
    hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess | kEventReleases;

bool at_most_one(unsigned bits) { return (bits & (bits - 1)) == 0; }

hipError_t create(hipEvent_t* event, unsigned flags) {
  if (!event || (flags & ~kFlags) || !at_most_one(flags & kEventReleases)) return hipErrorInvalidValue;
  if ((flags & hipEventInterprocess) && !(flags & hipEventDisableTiming)) return hipErrorInvalidValue;
  if (const hipError_t status = Backend::require_device()) return status;
  return Backend::create_event(*event, flags);
}

hipError_t record(hipEvent_t handle, hipStream_t stream_handle) {
  const Event event = Backend::find_event(handle);
  if (!event) return hipErrorInvalidHandle;
  Backend::Stream stream{};
  const hipError_t status = Backend::find_stream(stream_handle, stream);
  return status == hipSuccess ? record_event(event, stream) : status;
}

// The recording stays in its stream; only the handle goes away.
hipError_t destroy(hipEvent_t handle) {
  if (!handle) return hipErrorInvalidHandle;
  const Event event = Backend::find_event(handle);
  if (!event) return hipErrorContextIsDestroyed;  // AMD's answer for what is no event any more
  if (graph::Library* const library = capturing()) [[unlikely]]
    library->forget_event(Backend::reference(event));
  return Backend::destroy_event(handle);
}

// The frame of queries of an event. If the event stands for a point in a capture, a query is an error and
// ends the capture.
template <typename Body>
hipError_t with_event(hipEvent_t handle, Body&& body) {
  return api([&]() -> hipError_t {
    const Event event = Backend::find_event(handle);
    if (!event) return hipErrorInvalidHandle;
    if (graph::Library* const library = capturing()) [[unlikely]]
      if (const auto refused = library->refuse_event(Backend::reference(event))) return *refused;
    return body(event);
  });
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

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

hipError_t hipEventDestroy(hipEvent_t event) {
  return api([&] { return destroy(event); });
}

hipError_t hipEventSynchronize(hipEvent_t handle) {
  return with_event(handle, [](const Backend::Event& event) { return Backend::synchronize(event); });
}

hipError_t hipEventQuery(hipEvent_t handle) {
  return with_event(handle, [](const Backend::Event& event) { return Backend::query(event); });
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return api([&] {
    if (!milliseconds) return hipErrorInvalidValue;
    if (!start || !stop) return hipErrorInvalidHandle;
    return Backend::elapsed(start, stop, *milliseconds);
  });
}

}  // extern "C"
