// SPDX-License-Identifier: Apache-2.0
// Converts the driver's results to HIP's errors. Any thread.
#pragma once

#include <string>

#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

// hipErrorUnknown for numbers that this release does not know.
hipError_t hip_error(driver::Result result);

// "CUDA_ERROR_NO_DEVICE"; "CUDA_ERROR 12345" for numbers that this release does not know.
std::string name_of(driver::Result result);

inline hipError_t check(driver::Result result) {
  return result == driver::Result::SUCCESS ? hipSuccess : hip_error(result);
}

}  // namespace tf::cuda
