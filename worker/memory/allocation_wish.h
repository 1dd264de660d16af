// SPDX-License-Identifier: Apache-2.0
// What the worker passes to its runtime's hipMemCreate and hipMemGetAllocationGranularity. Any thread.
#pragma once

#include <hip/hip_runtime_api.h>

#include "hipcore/abi/allocation.h"
#include "worker/base/runtime_library.h"

namespace tf::worker {

// Memory of a device, in the layout of the runtime's major.
inline hipMemAllocationProp allocation_wish(const protocol::HipTable& hip, int device,
                                            hipMemAllocationHandleType shared_as = {}) {
  constexpr unsigned kVersionsOfMajor = 10'000'000;  // HIP_VERSION
  int version = 0;
  const hipError_t error = hip.hipRuntimeGetVersion(&version);
  if (error != hipSuccess) version = 0;  // the layout of the headers
  hipMemAllocationProp wish{};
  wish.type = hipMemAllocationTypePinned;
  wish.location = {hipMemLocationTypeDevice, device};
  wish.requestedHandleType = shared_as;
  return abi::allocation_for(static_cast<unsigned>(version) / kVersionsOfMajor, wish);
}

}  // namespace tf::worker
