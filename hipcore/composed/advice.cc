// SPDX-License-Identifier: Apache-2.0
// Advice, prefetching and pools by location instead of device (HIP 7).
#include "hipcore/composed/composed.h"

namespace tf::composed {
namespace {

// The device number of the older functions. False: a location that is neither a device nor the host.
bool device_of(const hipMemLocation& location, int& device) {
  switch (static_cast<int>(location.type)) {
    case hipMemLocationTypeDevice: device = location.id; return true;
    case kHipMemLocationTypeHost:
    case kHipMemLocationTypeHostNuma:
    case kHipMemLocationTypeHostNumaCurrent: device = hipCpuDeviceId; return true;
    default: return false;
  }
}

}  // namespace
}  // namespace tf::composed

using tf::composed::device_of;
using tf::composed::refuse;

TF_COMPOSED hipError_t hipMemAdvise_v2(const void* pointer, size_t bytes, hipMemoryAdvise advice,
                                       hipMemLocation location) {
  int device = 0;
  return device_of(location, device) ? hipMemAdvise(pointer, bytes, advice, device)
                                     : refuse(hipErrorInvalidValue);
}

TF_COMPOSED hipError_t hipMemPrefetchAsync_v2(const void* pointer, size_t bytes, hipMemLocation location,
                                              unsigned int flags, hipStream_t stream) {
  int device = 0;
  if (flags != 0 || !device_of(location, device)) return refuse(hipErrorInvalidValue);
  return hipMemPrefetchAsync(pointer, bytes, device, stream);
}
