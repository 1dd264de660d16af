// SPDX-License-Identifier: Apache-2.0
// Events.
#include "worker/runtime/cuda/events.h"

#include <mutex>
#include <unordered_set>

#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/graphs.h"
#include "worker/runtime/cuda/streams.h"

namespace tf::cuda {
namespace {

struct Events {
  std::mutex mutex;
  std::unordered_set<hipEvent_t> all;
};

Events& events() {
  static Events* const known = new Events;  // for ever, as the Runtime
  return *known;
}

}  // namespace

void add_event(hipEvent_t event) {
  const std::lock_guard lock(events().mutex);
  events().all.insert(event);
}

void remove_event(hipEvent_t event) {
  const std::lock_guard lock(events().mutex);
  events().all.erase(event);
}

bool is_event(hipEvent_t event) {
  const std::lock_guard lock(events().mutex);
  return events().all.contains(event);
}

namespace {

constexpr unsigned kReleases = hipEventReleaseToDevice | hipEventReleaseToSystem;
constexpr unsigned kDriverFlags = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess;

// What an event makes visible to whom is AMD's question; the driver's events make all visible to all.
hipError_t create(hipEvent_t* event, unsigned flags) {
  if (!event || (flags & ~(kDriverFlags | kReleases))) return hipErrorInvalidValue;
  if ((flags & kReleases) == kReleases) return hipErrorInvalidValue;
  if ((flags & hipEventInterprocess) && !(flags & hipEventDisableTiming)) return hipErrorInvalidValue;
  const hipError_t status = check(cu().EventCreate(event, flags & kDriverFlags));
  if (status == hipSuccess) add_event(*event);
  return status;
}

hipError_t destroy(hipEvent_t event) {
  if (!event) return hipErrorInvalidHandle;
  if (graph::Library* const library = capturing()) library->forget_event(reference(event));
  remove_event(event);
  return check(cu().EventDestroy(event));
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipEventCreate(hipEvent_t* event) {
  return api([&] { return create(event, hipEventDefault); });
}

hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned flags) {
  return api([&] { return create(event, flags); });
}

hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream) {
  return api([&] {
    if (!event) return hipErrorInvalidHandle;
    return is_stream(stream) ? record_event(event, stream) : kUnknownStream;
  });
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return api([&] { return destroy(event); });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return api([&] {
    if (!event) return hipErrorInvalidHandle;
    if (const hipError_t refused = refuse_captured(event)) return refused;
    return check(cu().EventSynchronize(event));
  });
}

hipError_t hipEventQuery(hipEvent_t event) {
  return api([&] {
    if (!event) return hipErrorInvalidHandle;
    if (const hipError_t refused = refuse_captured(event)) return refused;
    return check(cu().EventQuery(event));
  });
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return api([&] {
    if (!milliseconds) return hipErrorInvalidValue;
    if (!start || !stop) return hipErrorInvalidHandle;
    return check(cu().EventElapsedTime(milliseconds, start, stop));
  });
}

}  // extern "C"
