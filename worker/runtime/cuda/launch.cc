// SPDX-License-Identifier: Apache-2.0
// Launches. The driver copies the arguments, in either of HIP's forms.
#include "worker/runtime/common/launch.h"
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/graphs.h"
#include "worker/runtime/cuda/module.h"

namespace tf::cuda {
namespace {

// The HIP error, if the driver only says that something was wrong.
hipError_t explain(driver::Result result, hipFunction_t function, const Shape& shape) {
  const hipError_t error = hip_error(result);
  // The stream is valid. A kernel that has attributes is valid too, but belongs to another device's module.
  int threads = 0;
  if (result == driver::Result::INVALID_HANDLE &&
      cu().FuncGetAttribute(&threads, driver::kFunctionThreadsMax, function) == driver::Result::SUCCESS)
    return hipErrorInvalidDevice;
  if (error != hipErrorInvalidValue && error != hipErrorLaunchOutOfResources) return error;
  const hipError_t status = check_shape(function, shape);
  return status != hipSuccess ? status : error;
}

driver::Result run_cooperative(hipFunction_t function, const runtime::LaunchRequest& request,
                               hipStream_t stream, LaunchExtra& extra) {
  const auto shared_bytes = static_cast<unsigned>(request.shared_bytes);
  if (!request.extra)
    return cu().LaunchCooperativeKernel(function, request.blocks.x, request.blocks.y, request.blocks.z,
                                        request.threads.x, request.threads.y, request.threads.z, shared_bytes,
                                        stream, request.arguments);
  // Only the general form of the driver's launch takes packed arguments.
  driver::LaunchAttribute cooperative{};
  cooperative.id = driver::kNodeAttributeCooperative;
  cooperative.value.cooperative = 1;
  const driver::LaunchConfig config{
      request.blocks.x,  request.blocks.y, request.blocks.z, request.threads.x, request.threads.y,
      request.threads.z, shared_bytes,     stream,           &cooperative,      1};
  return cu().LaunchKernelEx(&config, function, nullptr, extra.get());
}

}  // namespace

hipError_t Backend::prepare_launch(Kernel, const runtime::LaunchRequest& request, Stream,
                                   PreparedLaunch& prepared) {
  if (is_too_large({request.blocks, request.threads})) return hipErrorInvalidConfiguration;
  return prepared.read(request.extra);
}

graph::Library::Verdict Backend::capture_launch(graph::Library& library, Kernel function,
                                                const runtime::LaunchRequest& request, Stream stream,
                                                const PreparedLaunch&) {
  hipKernelNodeParams parameters{};
  parameters.func = const_cast<void*>(request.named);
  parameters.gridDim = request.blocks;
  parameters.blockDim = request.threads;
  parameters.sharedMemBytes = static_cast<unsigned>(request.shared_bytes);
  parameters.kernelParams = request.arguments;
  parameters.extra = request.extra;
  return cuda::capture_launch(library, stream, function, parameters, request.cooperative);
}

hipError_t Backend::launch(Kernel function, const runtime::LaunchRequest& request, Stream stream,
                           PreparedLaunch& prepared) {
  const std::size_t shared_bytes = request.shared_bytes;
  if (shared_bytes > kPlainSharedBytes) [[unlikely]] {
    if (const hipError_t status = allow_shared(function, shared_bytes)) return status;
  }
  const auto run = [&] {
    if (request.cooperative) [[unlikely]]
      return run_cooperative(function, request, stream, prepared);
    return cu().LaunchKernel(function, request.blocks.x, request.blocks.y, request.blocks.z,
                             request.threads.x, request.threads.y, request.threads.z,
                             static_cast<unsigned>(shared_bytes), stream, request.arguments, prepared.get());
  };
  driver::Result result = run();
  if (result == driver::Result::SUCCESS) [[likely]]
    return hipSuccess;
  // 48 KiB are the limit of static and dynamic memory together. Beyond it no block of a cooperative launch
  // fits on a processor, and the driver says that.
  const bool is_refused = result == driver::Result::INVALID_VALUE ||
                          (request.cooperative && result == driver::Result::COOPERATIVE_LAUNCH_TOO_LARGE);
  const bool may_be_shared = is_refused && shared_bytes != 0;
  if (may_be_shared && allow_shared(function, shared_bytes) == hipSuccess) result = run();
  return result == driver::Result::SUCCESS ? hipSuccess
                                           : explain(result, function, {request.blocks, request.threads});
}

}  // namespace tf::cuda
