// SPDX-License-Identifier: Apache-2.0
// Loading code, and launching it. REQUIRES everywhere: the thread is ready.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "hipcore/codeobject/managed.h"
#include "worker/runtime/cuda/driver_types.h"

namespace tf::cuda {

// Loads an image on the current device: PTX (with a zero at its end), a cubin, NVIDIA's fat binaries, clang's
// offload bundles with entries for sm_NN, or a HIPF wrapper of any of these. From a bundle it takes the entry
// for exactly this processor, else the one for the nearest older processor of its generation.
// hipErrorNoBinaryForGpu: nothing in it fits this device. `options` go to the driver's compiler.
// `managed`: gets the managed variables of the code that was loaded, if it is text.
struct JitOptions {
  std::span<int> names;
  void** values = nullptr;
};
hipError_t load_image(hipModule_t& module, const void* image, const JitOptions& options,
                      std::vector<codeobject::ManagedVariable>* managed = nullptr);

// The module's kernel, loaded now. The driver would load it at the first launch, and might then wait for all
// running work; but HIP programs let streams wait for work that they only submit later. Returns the driver's
// result.
driver::Result find_function(hipFunction_t& function, hipModule_t module, const char* name);

// A kernel gets more than 48 KiB of dynamic shared memory only on request, and HIP programs do not request
// it. This requests as much as the device has left beside the kernel's static shared memory. Cheap for the
// kernel that this thread requested last.
inline constexpr std::size_t kPlainSharedBytes = 48 << 10;
hipError_t allow_shared(hipFunction_t function, std::size_t bytes);
// Modules are gone: forgets what was known about their kernels.
void forget_shared();

struct Shape {
  dim3 blocks;
  dim3 threads;
};
// Whether there are more threads than a launch can count, in 32 bits along each axis.
inline bool is_too_large(const Shape& shape) {
  const std::uint64_t x = std::uint64_t{shape.blocks.x} * shape.threads.x;
  const std::uint64_t y = std::uint64_t{shape.blocks.y} * shape.threads.y;
  const std::uint64_t z = std::uint64_t{shape.blocks.z} * shape.threads.z;
  return ((x | y | z) >> 32) != 0;
}
// AMD's checks of a shape, for the kernel on the current device.
hipError_t check_shape(hipFunction_t function, const Shape& shape);

// The kernel of a host stub on the thread's device. A few ns if this thread has asked for it before.
hipError_t host_kernel(const void* host, hipFunction_t& found);

}  // namespace tf::cuda
