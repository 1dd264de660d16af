// SPDX-License-Identifier: Apache-2.0
// Creates events without a hint that is refused.
#include "worker/base/event_fences.h"

namespace tf::worker {
namespace {

constexpr unsigned kDisableSystemFence = 0x20000000;  // since HIP 5.3

protocol::HipTable fenced;  // the runtime's own functions

hipError_t create_event(hipEvent_t* event, unsigned flags) {
  const hipError_t error = fenced.hipEventCreateWithFlags(event, flags);
  if (error != hipErrorInvalidValue || (flags & kDisableSystemFence) == 0) return error;
  return fenced.hipEventCreateWithFlags(event, flags & ~kDisableSystemFence);
}

}  // namespace

void mend_event_fences(protocol::HipTable& hip) {
  fenced = hip;
  hip.hipEventCreateWithFlags = create_event;
}

}  // namespace tf::worker
