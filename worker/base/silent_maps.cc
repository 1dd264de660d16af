// SPDX-License-Identifier: Apache-2.0
// Looks at what hipMemMap has done.
#include "worker/base/silent_maps.h"

#include <cstddef>

namespace tf::worker {
namespace {

protocol::HipTable runtime_below;  // its own functions

// ROCr 6.0 knows nobody's access before it was set. It is nobody's, so setting that changes nothing.
bool is_mapped(void* address, std::size_t bytes) {
  hipMemAccessDesc nobody{};
  nobody.location.type = hipMemLocationTypeDevice;
  nobody.flags = hipMemAccessFlagsProtNone;
  if (runtime_below.hipGetDevice(&nobody.location.id) != hipSuccess) return false;
  unsigned long long flags = 0;
  return runtime_below.hipMemGetAccess(&flags, &nobody.location, address) == hipSuccess ||
         runtime_below.hipMemSetAccess(address, bytes, &nobody, 1) == hipSuccess;
}

}  // namespace

void mend_silent_maps(protocol::HipTable& hip, VmmFunctions& vmm) {
  runtime_below = hip;
  hip.hipMemMap = [](void* address, std::size_t bytes, std::size_t offset,
                     hipMemGenericAllocationHandle_t handle, unsigned long long flags) {
    const hipError_t error = runtime_below.hipMemMap(address, bytes, offset, handle, flags);
    return error == hipSuccess && !is_mapped(address, bytes) ? hipErrorInvalidValue : error;
  };
  vmm.maps_parts = false;
  if (vmm.map != nullptr) vmm.map = hip.hipMemMap;
}

}  // namespace tf::worker
