// SPDX-License-Identifier: Apache-2.0
// Functions of HIP that are other functions of HIP: written once, over the public API of the library that
// they are linked into (the client, or a runtime), so that they behave the same in all. Each becomes a call
// of the functions it is made of, which check what they get and keep the thread's last error; what is refused
// here is kept by refuse().
#pragma once

#include "hipcore/newer/hip_types.h"

extern "C" hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned int grid_x,
                                                       unsigned int grid_y, unsigned int grid_z,
                                                       unsigned int block_x, unsigned int block_y,
                                                       unsigned int block_z, unsigned int shared_bytes,
                                                       hipStream_t stream, void** arguments);

extern "C" hipError_t hipStreamGetId(hipStream_t stream, unsigned long long* id);

#define TF_COMPOSED extern "C" __attribute__((visibility("default")))

namespace tf::composed {

// Keeps `error` as the thread's last error, and returns it. The library defines it.
hipError_t refuse(hipError_t error);

}  // namespace tf::composed
