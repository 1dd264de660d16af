// SPDX-License-Identifier: Apache-2.0
// HIP's errors of linking (hipLink of HIP 6.4) for hiprtc's results, as HIP's documentation has them.
#pragma once

#include <hip/hip_runtime_api.h>
#include <hip/hiprtc.h>

namespace tf::hipdata {

// `result`: a hiprtcResult, or one that HIP 5.2's enum does not have.
inline hipError_t link_error(int result) {
  switch (result) {
    case HIPRTC_SUCCESS: return hipSuccess;
    case HIPRTC_ERROR_OUT_OF_MEMORY: return hipErrorOutOfMemory;
    case HIPRTC_ERROR_INVALID_INPUT: return hipErrorInvalidValue;
    default: return hipErrorInvalidConfiguration;
  }
}

}  // namespace tf::hipdata
