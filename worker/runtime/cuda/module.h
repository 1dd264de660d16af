// SPDX-License-Identifier: Apache-2.0
// Loading code, and launching it. REQUIRES everywhere: the thread is ready.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <span>

#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

// Loads an image on the current device: PTX (with a zero at its end), a cubin, NVIDIA's fat binaries, clang's
// offload bundles with entries for sm_NN, or a HIPF wrapper of any of these. Of a bundle the entry for this
// very processor is taken, else the one for the nearest older processor of its generation.
// hipErrorNoBinaryForGpu: nothing in it is for this device. `options` steer the driver's compiler.
struct JitOptions {
  std::span<int> names;
  void** values = nullptr;
};
hipError_t load_image(hipModule_t& module, const void* image, const JitOptions& options);

// The module's kernel, loaded: the driver would do that with the first launch, where it may wait for
// everything that runs, and HIP programs let streams wait for what they are going to do next. The driver's
// answer.
driver::Result find_function(hipFunction_t& function, hipModule_t module, const char* name);

// A kernel can have more than 48 KiB of dynamic shared memory once it was asked for; HIP programs do not ask.
// Asks for as much as the device has left beside the kernel's static shared memory. Cheap for the kernel that
// this thread has asked for last.
inline constexpr std::size_t kPlainSharedBytes = 48 << 10;
hipError_t allow_shared(hipFunction_t function, std::size_t bytes);
// Modules are gone, and with them what is known of their kernels.
void forget_shared();

hipError_t function_attributes(hipFunction_t function, hipFuncAttributes* attributes);

}  // namespace tf::cuda
