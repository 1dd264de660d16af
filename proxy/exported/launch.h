// SPDX-License-Identifier: Apache-2.0
// One kernel launch of the calling thread, whatever the function that asked for it.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstdint>

#include "proxy/exported/api_call.h"
#include "proxy/module/kernel_layout.h"

namespace tf::proxy {

struct Launch {
  LaunchShape shape;
  const void* named = nullptr;  // the kernel as the program named it
  hipStream_t stream = nullptr;
  void** arguments = nullptr;
  void** extra = nullptr;
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  bool cooperative = false;
  bool partial = false;  // the last block of an axis is smaller: `threads` of each axis in all
  std::uint32_t threads[3] = {};
};

inline void set_shape(LaunchShape& shape, const dim3& grid, const dim3& block, std::uint64_t shared_bytes) {
  shape = {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, shared_bytes};
}

// Launches a kernel by its handle. REQUIRES: call.connected()
hipError_t launch_function(ApiCall& call, hipFunction_t function, Launch& what);
// Launches a kernel of a compiled program on this device, which must be its stream's. REQUIRES:
// call.connected()
hipError_t launch_on(ApiCall& call, int device, const void* host_function, Launch& what);

}  // namespace tf::proxy
