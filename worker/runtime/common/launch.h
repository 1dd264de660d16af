// SPDX-License-Identifier: Apache-2.0
// Launches kernels, for every form of the API. REQUIRES: called in api()
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>

namespace tf::runtime {

struct LaunchRequest {
  dim3 blocks;
  dim3 threads;  // per block
  std::size_t shared_bytes = 0;
  bool cooperative = false;
  const void* named = nullptr;  // the kernel as the program named it: its handle, or the host stub
  void** arguments = nullptr;   // one pointer an argument; or
  void** extra = nullptr;       // HIP_LAUNCH_PARAM_BUFFER_*
  hipStream_t stream = nullptr;
  hipEvent_t start = nullptr;  // recorded right before and after the kernel
  hipEvent_t stop = nullptr;
};

// Launches a kernel by its handle, or by the address of its host stub on the stream's device. That becomes
// the name.
hipError_t launch(hipFunction_t function, LaunchRequest& request);
hipError_t launch_host(const void* host, LaunchRequest& request);

}  // namespace tf::runtime
