// SPDX-License-Identifier: Apache-2.0
// Events.
#include "transport/base/mutex.h"
#include "worker/runtime/cuda/events.h"

#include <unordered_set>

#include "worker/runtime/cuda/backend.h"

namespace tf::cuda {
namespace {

struct Events {
  SharedMutex mutex;
  std::unordered_set<hipEvent_t> all TF_GUARDED_BY(mutex);
};

Events& events() {
  static Events* const known = new Events;  // for ever, as the Runtime
  return *known;
}

}  // namespace

void add_event(hipEvent_t event) {
  const MutexLock lock(events().mutex);
  events().all.insert(event);
}

void remove_event(hipEvent_t event) {
  const MutexLock lock(events().mutex);
  events().all.erase(event);
}

bool is_event(hipEvent_t event) {
  const SharedLock lock(events().mutex);
  return events().all.contains(event);
}

hipEvent_t Backend::find_event(hipEvent_t handle) { return is_event(handle) ? handle : nullptr; }

// The driver's events make everything visible to everyone.
hipError_t Backend::create_event(hipEvent_t& event, unsigned flags) {
  constexpr unsigned kDriverFlags = hipEventBlockingSync | hipEventDisableTiming | hipEventInterprocess;
  const hipError_t status = check(cu().EventCreate(&event, flags & kDriverFlags));
  if (status == hipSuccess) add_event(event);
  return status;
}

hipError_t Backend::destroy_event(hipEvent_t event) {
  remove_event(event);
  return check(cu().EventDestroy(event));
}

hipError_t Backend::query(Event event) { return check(cu().EventQuery(event)); }

hipError_t Backend::synchronize(Event event) { return check(cu().EventSynchronize(event)); }

hipError_t Backend::elapsed(hipEvent_t start, hipEvent_t stop, float& milliseconds) {
  return check(cu().EventElapsedTime(&milliseconds, start, stop));
}

}  // namespace tf::cuda
