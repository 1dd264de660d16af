// SPDX-License-Identifier: Apache-2.0
// Events.
#include "worker/runtime/cuda/api.h"

namespace tf::cuda {
namespace {

constexpr unsigned kReleases = hipEventReleaseToDevice | hipEventReleaseToSystem;
constexpr unsigned kDriverFlags = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess;

// What an event makes visible to whom is AMD's question; the driver's events make all visible to all.
hipError_t create(hipEvent_t* event, unsigned flags) {
  if (!event || (flags & ~(kDriverFlags | kReleases))) return hipErrorInvalidValue;
  if ((flags & kReleases) == kReleases) return hipErrorInvalidValue;
  if ((flags & hipEventInterprocess) && !(flags & hipEventDisableTiming)) return hipErrorInvalidValue;
  return check(cu().EventCreate(event, flags & kDriverFlags));
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
  return api([&] { return event ? check(cu().EventRecord(event, stream)) : hipErrorInvalidHandle; });
}

hipError_t hipEventDestroy(hipEvent_t event) {
  return api([&] { return event ? check(cu().EventDestroy(event)) : hipErrorInvalidHandle; });
}

hipError_t hipEventSynchronize(hipEvent_t event) {
  return api([&] { return event ? check(cu().EventSynchronize(event)) : hipErrorInvalidHandle; });
}

hipError_t hipEventQuery(hipEvent_t event) {
  return api([&] { return event ? check(cu().EventQuery(event)) : hipErrorInvalidHandle; });
}

hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t stop) {
  return api([&] {
    if (!milliseconds) return hipErrorInvalidValue;
    if (!start || !stop) return hipErrorInvalidHandle;
    return check(cu().EventElapsedTime(milliseconds, start, stop));
  });
}

}  // extern "C"
