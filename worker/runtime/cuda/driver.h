// SPDX-License-Identifier: Apache-2.0
// Driver: the table of the CUDA driver's functions, filled from the machine's driver library when first
// needed.
#pragma once

#include <string>

#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda::driver {

// Every pointer can be called once load() has run: what the driver lacks answers NOT_SUPPORTED.
struct Driver {
#define TF_CUDA_FUNCTION(name, version, parameters) Result(*name) parameters = nullptr;
#include "worker/runtime/cuda/driver_functions.inc"
#undef TF_CUDA_FUNCTION
};

// Opens libcuda.so.1, or the file that HIP_CUDA_DRIVER names, and fills the table. Empty when that went well,
// else the reason; the table can be called either way. The library stays open for ever. One thread at a time.
std::string load(Driver& table);

}  // namespace tf::cuda::driver
