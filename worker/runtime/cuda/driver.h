// SPDX-License-Identifier: Apache-2.0
// Driver: the table of the CUDA driver's functions, filled from the machine's driver library on first use.
#pragma once

#include <string>

#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda::driver {

// After load() every pointer can be called: functions that the driver lacks return NOT_SUPPORTED.
struct Driver {
#define TF_CUDA_FUNCTION(name, version, parameters) Result(*name) parameters = nullptr;
#include "worker/runtime/cuda/driver_functions.inc"
#undef TF_CUDA_FUNCTION
};

// Opens libcuda.so.1, or the file named by HIP_CUDA_DRIVER, and fills the table. Empty on success, else the
// reason; the table can be called in either case. The library is never closed. One thread at a time.
std::string load(Driver& table);

}  // namespace tf::cuda::driver
