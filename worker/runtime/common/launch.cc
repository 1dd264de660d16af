// SPDX-License-Identifier: Apache-2.0
// Launches: checks them at the call and copies the arguments; runs them in stream order, or adds them to a
// capture.
#include "worker/runtime/common/launch.h"

#include <cstdint>

#include "hipcore/abi/rules.h"
#include "hipcore/launch/module_shape.h"
#include "worker/runtime/common/api.h"
#include "worker/runtime/common/events.h"
#include "worker/runtime/common/extensions.h"

namespace tf::runtime {
namespace {

hipError_t record_around(hipEvent_t handle, const Backend::Stream& stream) {
  if (!handle) return hipSuccess;
  const Backend::Event event = Backend::find_event(handle);
  return event ? record_event(event, stream) : hipErrorInvalidHandle;
}

hipError_t launch_found(const Backend::Kernel& kernel, const LaunchRequest& request) {
  Backend::Stream stream{};
  if (const hipError_t status = Backend::find_stream(request.stream, stream)) return status;
  if (request.shared_bytes > UINT32_MAX || (request.arguments && request.extra)) return hipErrorInvalidValue;
  Backend::PreparedLaunch prepared;
  if (const hipError_t status = Backend::prepare_launch(kernel, request, stream, prepared)) return status;
  if (const hipError_t status = record_around(request.start, stream)) return status;
  graph::Library* const library = capturing();
  graph::Library::Verdict verdict;
  if (library) [[unlikely]]
    verdict = Backend::capture_launch(*library, kernel, request, stream, prepared);
  if (const hipError_t status = verdict ? *verdict : Backend::launch(kernel, request, stream, prepared))
    return status;
  return record_around(request.stop, stream);
}

struct Axes {
  explicit Axes(const LaunchRequest& request)
      : blocks{request.blocks.x, request.blocks.y, request.blocks.z},
        threads{request.threads.x, request.threads.y, request.threads.z} {}

  const std::uint32_t blocks[3];
  const std::uint32_t threads[3];
};

// A function that does not exist is refused first.
hipError_t launch_of_module(hipFunction_t function, LaunchRequest& request, bool counts_blocks = false) {
  const Axes axes(request);
  hipError_t status = hipdata::check_module_shape(axes.blocks, axes.threads);
  if (status == hipSuccess && counts_blocks)
    status = hipdata::check_module_blocks(abi::kRules.major, axes.blocks, axes.threads);
  if (status != hipSuccess && Backend::find_function(function)) return status;
  return launch(function, request);
}

// `global` counts threads, not blocks. AMD's runtime takes a last block that is smaller than the others;
// these do not.
hipError_t launch_global(hipFunction_t function, const dim3& global, const dim3& local,
                         LaunchRequest& request) {
  std::uint32_t threads[3] = {local.x, local.y, local.z};
  std::uint32_t blocks[3] = {};
  const bool whole = hipdata::whole_blocks({global.x, global.y, global.z}, threads, blocks);
  if (threads[0] == 0 || threads[1] == 0 || threads[2] == 0) return hipErrorInvalidConfiguration;
  const hipError_t status = hipdata::check_module_shape(blocks, threads);
  if (!whole && Backend::find_function(function))
    return status != hipSuccess ? status : hipErrorInvalidConfiguration;
  request.blocks = dim3(blocks[0], blocks[1], blocks[2]);
  request.threads = dim3(threads[0], threads[1], threads[2]);
  return launch_of_module(function, request);
}

}  // namespace

hipError_t launch(hipFunction_t function, LaunchRequest& request) {
  const Backend::Kernel kernel = Backend::find_function(function);
  request.named = function;
  return kernel ? launch_found(kernel, request) : hipErrorInvalidHandle;
}

hipError_t launch_host(const void* host, LaunchRequest& request) {
  if (!host) return hipErrorInvalidDeviceFunction;
  Backend::Kernel kernel{};
  if (const hipError_t status = Backend::host_kernel(host, request.stream, kernel)) return status;
  request.named = host;
  const Axes axes(request);
  const hipError_t status = request.cooperative
                                ? hipSuccess
                                : hipdata::check_stub_shape(abi::kRules.major, axes.blocks, axes.threads);
  return status != hipSuccess ? status : launch_found(kernel, request);
}

}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream, void** arguments, void** extra) {
  return api([&] {
    LaunchRequest request{dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared_bytes};
    request.arguments = arguments;
    request.extra = extra;
    request.stream = stream;
    return launch_of_module(function, request, true);
  });
}

TF_EXPORT hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x,
                                                      unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                      unsigned block_y, unsigned block_z,
                                                      unsigned shared_bytes, hipStream_t stream,
                                                      void** arguments) {
  return api([&] {
    LaunchRequest request{dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z), shared_bytes, true};
    request.arguments = arguments;
    request.stream = stream;
    return launch_of_module(function, request);
  });
}

TF_EXPORT hipError_t hipRemoteLaunchCooperative(hipFunction_t function, dim3 grid, dim3 block,
                                                unsigned shared_bytes, hipStream_t stream, void** extra) {
  return api([&] {
    LaunchRequest request{grid, block, shared_bytes, true};
    request.extra = extra;
    request.stream = stream;
    return launch(function, request);
  });
}

hipError_t hipLaunchKernel(const void* host, dim3 blocks, dim3 threads, void** arguments, size_t shared_bytes,
                           hipStream_t stream) {
  return api([&] {
    LaunchRequest request{blocks, threads, shared_bytes};
    request.arguments = arguments;
    request.stream = stream;
    return launch_host(host, request);
  });
}

hipError_t hipExtLaunchKernel(const void* host, dim3 blocks, dim3 threads, void** arguments,
                              size_t shared_bytes, hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                              int) {
  return api([&] {
    LaunchRequest request{blocks, threads, shared_bytes};
    request.arguments = arguments;
    request.stream = stream;
    request.start = start;
    request.stop = stop;
    return launch_host(host, request);
  });
}

hipError_t hipLaunchCooperativeKernel(const void* host, dim3 blocks, dim3 threads, void** arguments,
                                      unsigned shared_bytes, hipStream_t stream) {
  return api([&] {
    LaunchRequest request{blocks, threads, shared_bytes, true};
    request.arguments = arguments;
    request.stream = stream;
    return launch_host(host, request);
  });
}

}  // extern "C"

// C++ linkage, as in hip_ext.h.
TF_EXPORT hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t global_x, uint32_t global_y,
                                              uint32_t global_z, uint32_t local_x, uint32_t local_y,
                                              uint32_t local_z, size_t shared_bytes, hipStream_t stream,
                                              void** arguments, void** extra, hipEvent_t start,
                                              hipEvent_t stop, uint32_t) {
  return api([&] {
    LaunchRequest request;
    request.shared_bytes = shared_bytes;
    request.arguments = arguments;
    request.extra = extra;
    request.stream = stream;
    request.start = start;
    request.stop = stop;
    return launch_global(function, dim3(global_x, global_y, global_z), dim3(local_x, local_y, local_z),
                         request);
  });
}

// HIP 6 and 7 have both as C, too. C++ has no two functions of one name that differ in linkage.
extern "C" TF_EXPORT hipError_t hip_ext_module_launch_kernel(
    hipFunction_t function, uint32_t global_x, uint32_t global_y, uint32_t global_z, uint32_t local_x,
    uint32_t local_y, uint32_t local_z, size_t shared_bytes, hipStream_t stream, void** arguments,
    void** extra, hipEvent_t start, hipEvent_t stop, uint32_t flags) __asm__("hipExtModuleLaunchKernel");
extern "C" hipError_t hip_ext_module_launch_kernel(hipFunction_t function, uint32_t global_x,
                                                   uint32_t global_y, uint32_t global_z, uint32_t local_x,
                                                   uint32_t local_y, uint32_t local_z, size_t shared_bytes,
                                                   hipStream_t stream, void** arguments, void** extra,
                                                   hipEvent_t start, hipEvent_t stop, uint32_t flags) {
  return hipExtModuleLaunchKernel(function, global_x, global_y, global_z, local_x, local_y, local_z,
                                  shared_bytes, stream, arguments, extra, start, stop, flags);
}

TF_EXPORT hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t global_x, uint32_t global_y,
                                              uint32_t global_z, uint32_t local_x, uint32_t local_y,
                                              uint32_t local_z, size_t shared_bytes, hipStream_t stream,
                                              void** arguments, void** extra, hipEvent_t start,
                                              hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, global_x, global_y, global_z, local_x, local_y, local_z,
                                  shared_bytes, stream, arguments, extra, start, stop, 0);
}

extern "C" TF_EXPORT hipError_t hip_hcc_module_launch_kernel(
    hipFunction_t function, uint32_t global_x, uint32_t global_y, uint32_t global_z, uint32_t local_x,
    uint32_t local_y, uint32_t local_z, size_t shared_bytes, hipStream_t stream, void** arguments,
    void** extra, hipEvent_t start, hipEvent_t stop) __asm__("hipHccModuleLaunchKernel");
extern "C" hipError_t hip_hcc_module_launch_kernel(hipFunction_t function, uint32_t global_x,
                                                   uint32_t global_y, uint32_t global_z, uint32_t local_x,
                                                   uint32_t local_y, uint32_t local_z, size_t shared_bytes,
                                                   hipStream_t stream, void** arguments, void** extra,
                                                   hipEvent_t start, hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, global_x, global_y, global_z, local_x, local_y, local_z,
                                  shared_bytes, stream, arguments, extra, start, stop, 0);
}
