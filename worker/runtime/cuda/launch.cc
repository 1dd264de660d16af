// SPDX-License-Identifier: Apache-2.0
// Launches. The driver takes the arguments along, in either of HIP's forms.
#include <cstdint>

#include "worker/runtime/common/extensions.h"
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/convert.h"
#include "worker/runtime/cuda/graphs.h"
#include "worker/runtime/cuda/module.h"
#include "worker/runtime/cuda/streams.h"

namespace tf::cuda {
namespace {

// In HIP's words what was wrong, where the driver says no more than that something was.
hipError_t explain(driver::Result result, hipFunction_t function, const Shape& shape) {
  const hipError_t error = hip_error(result);
  // The stream is one; and a kernel that has attributes is one too, but of another device's module.
  int threads = 0;
  if (result == driver::Result::INVALID_HANDLE &&
      cu().FuncGetAttribute(&threads, driver::kFunctionThreadsMax, function) == driver::Result::SUCCESS)
    return hipErrorInvalidDevice;
  if (error != hipErrorInvalidValue && error != hipErrorLaunchOutOfResources) return error;
  const hipError_t status = check_shape(function, shape);
  return status != hipSuccess ? status : error;
}

// A kernel to launch, as the program named it: its handle, or the host stub.
struct Kernel {
  hipFunction_t function = nullptr;
  const void* named = nullptr;
};

// The launch, if the stream is being captured.
graph::Library::Verdict capture(graph::Library& library, const Kernel& kernel, const Shape& shape,
                                std::size_t shared_bytes, hipStream_t stream, void** arguments, void** extra,
                                bool cooperative) {
  hipKernelNodeParams parameters{};
  parameters.func = const_cast<void*>(kernel.named);
  parameters.gridDim = shape.blocks;
  parameters.blockDim = shape.threads;
  parameters.sharedMemBytes = static_cast<unsigned>(shared_bytes);
  parameters.kernelParams = arguments;
  parameters.extra = extra;
  return capture_launch(library, stream, kernel.function, parameters, cooperative);
}

// What is wrong with a launch whatever the kernel is, looked at where the driver does not.
hipError_t check_launch(const Kernel& kernel, const Shape& shape, std::size_t shared_bytes,
                        hipStream_t stream) {
  if (!kernel.function) return hipErrorInvalidHandle;
  if (!is_stream(stream)) return kUnknownStream;
  if (shared_bytes > UINT32_MAX) return hipErrorInvalidValue;
  return is_too_large(shape) ? hipErrorInvalidConfiguration : hipSuccess;
}

hipError_t launch(const Kernel& kernel, const Shape& shape, std::size_t shared_bytes, hipStream_t stream,
                  void** arguments, void** extra) {
  if (const hipError_t status = check_launch(kernel, shape, shared_bytes, stream)) return status;
  if (arguments && extra) return hipErrorInvalidValue;
  if (graph::Library* const library = capturing()) [[unlikely]]
    if (const auto verdict = capture(*library, kernel, shape, shared_bytes, stream, arguments, extra, false))
      return *verdict;
  const hipFunction_t function = kernel.function;
  LaunchExtra packed;
  if (const hipError_t status = packed.read(extra)) return status;
  if (shared_bytes > kPlainSharedBytes) [[unlikely]] {
    if (const hipError_t status = allow_shared(function, shared_bytes)) return status;
  }
  const auto run = [&] {
    return cu().LaunchKernel(function, shape.blocks.x, shape.blocks.y, shape.blocks.z, shape.threads.x,
                             shape.threads.y, shape.threads.z, static_cast<unsigned>(shared_bytes), stream,
                             arguments, packed.get());
  };
  driver::Result result = run();
  if (result == driver::Result::SUCCESS) [[likely]]
    return hipSuccess;
  // 48 KiB are the limit of static and dynamic memory together.
  const bool may_be_shared = result == driver::Result::INVALID_VALUE && shared_bytes != 0;
  if (may_be_shared && allow_shared(function, shared_bytes) == hipSuccess) result = run();
  return result == driver::Result::SUCCESS ? hipSuccess : explain(result, function, shape);
}

hipError_t launch_cooperative(const Kernel& kernel, const Shape& shape, std::size_t shared_bytes,
                              hipStream_t stream, void** arguments) {
  if (const hipError_t status = check_launch(kernel, shape, shared_bytes, stream)) return status;
  if (graph::Library* const library = capturing()) [[unlikely]]
    if (const auto verdict = capture(*library, kernel, shape, shared_bytes, stream, arguments, nullptr, true))
      return *verdict;
  const hipFunction_t function = kernel.function;
  if (shared_bytes > kPlainSharedBytes)
    if (const hipError_t status = allow_shared(function, shared_bytes)) return status;
  const driver::Result result = cu().LaunchCooperativeKernel(
      function, shape.blocks.x, shape.blocks.y, shape.blocks.z, shape.threads.x, shape.threads.y,
      shape.threads.z, static_cast<unsigned>(shared_bytes), stream, arguments);
  return result == driver::Result::SUCCESS ? hipSuccess : explain(result, function, shape);
}

// The same with packed arguments, which only the general form of the driver's launch takes.
hipError_t launch_cooperative_packed(hipFunction_t function, const Shape& shape, unsigned shared_bytes,
                                     hipStream_t stream, void** extra) {
  if (const hipError_t status = check_launch({function, function}, shape, shared_bytes, stream))
    return status;
  if (graph::Library* const library = capturing()) [[unlikely]] {
    const Kernel kernel{function, function};
    if (const auto verdict = capture(*library, kernel, shape, shared_bytes, stream, nullptr, extra, true))
      return *verdict;
  }
  LaunchExtra packed;
  if (const hipError_t status = packed.read(extra)) return status;
  if (shared_bytes > kPlainSharedBytes)
    if (const hipError_t status = allow_shared(function, shared_bytes)) return status;
  driver::LaunchAttribute cooperative{};
  cooperative.id = driver::kNodeAttributeCooperative;
  cooperative.value.cooperative = 1;
  const driver::LaunchConfig config{
      shape.blocks.x,  shape.blocks.y, shape.blocks.z, shape.threads.x, shape.threads.y,
      shape.threads.z, shared_bytes,   stream,         &cooperative,    1};
  const driver::Result result = cu().LaunchKernelEx(&config, function, nullptr, packed.get());
  return result == driver::Result::SUCCESS ? hipSuccess : explain(result, function, shape);
}

// With the events that the launch is recorded between, where there are any.
template <typename Launch>
hipError_t between(hipEvent_t start, hipEvent_t stop, hipStream_t stream, Launch&& run) {
  if (!is_stream(stream)) return kUnknownStream;
  if (start)
    if (const hipError_t status = record_event(start, stream)) return status;
  if (const hipError_t status = run()) return status;
  return stop ? record_event(stop, stream) : hipSuccess;
}

hipError_t find_host(const void* host, hipFunction_t& function) {
  return host ? programs().function(host, function) : hipErrorInvalidDeviceFunction;
}

hipError_t launch_host(const void* host, const Shape& shape, void** arguments, std::size_t shared_bytes,
                       hipStream_t stream) {
  hipFunction_t function = nullptr;
  if (const hipError_t status = find_host(host, function)) return status;
  return launch({function, host}, shape, shared_bytes, stream, arguments, nullptr);
}

// `global` counts threads, not blocks; the last block may not be partial here.
hipError_t blocks_of(const dim3& global, const dim3& local, Shape& shape) {
  if (local.x == 0 || local.y == 0 || local.z == 0) return hipErrorInvalidConfiguration;
  if (global.x % local.x || global.y % local.y || global.z % local.z) return hipErrorInvalidConfiguration;
  shape = {dim3(global.x / local.x, global.y / local.y, global.z / local.z), local};
  return hipSuccess;
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipModuleLaunchKernel(hipFunction_t function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                 hipStream_t stream, void** arguments, void** extra) {
  return api([&] {
    const Shape shape{dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z)};
    return launch({function, function}, shape, shared_bytes, stream, arguments, extra);
  });
}

TF_CUDA_EXPORT hipError_t hipModuleLaunchCooperativeKernel(hipFunction_t function, unsigned grid_x,
                                                           unsigned grid_y, unsigned grid_z, unsigned block_x,
                                                           unsigned block_y, unsigned block_z,
                                                           unsigned shared_bytes, hipStream_t stream,
                                                           void** arguments) {
  return api([&] {
    const Shape shape{dim3(grid_x, grid_y, grid_z), dim3(block_x, block_y, block_z)};
    return launch_cooperative({function, function}, shape, shared_bytes, stream, arguments);
  });
}

hipError_t hipLaunchKernel(const void* host, dim3 blocks, dim3 threads, void** arguments, size_t shared_bytes,
                           hipStream_t stream) {
  return api([&] { return launch_host(host, {blocks, threads}, arguments, shared_bytes, stream); });
}

hipError_t hipExtLaunchKernel(const void* host, dim3 blocks, dim3 threads, void** arguments,
                              size_t shared_bytes, hipStream_t stream, hipEvent_t start, hipEvent_t stop,
                              int) {
  return api([&] {
    return between(start, stop, stream, [&] {
      return launch_host(host, {blocks, threads}, arguments, shared_bytes, stream);
    });
  });
}

hipError_t hipLaunchCooperativeKernel(const void* host, dim3 blocks, dim3 threads, void** arguments,
                                      unsigned shared_bytes, hipStream_t stream) {
  return api([&] {
    hipFunction_t function = nullptr;
    if (const hipError_t status = find_host(host, function)) return status;
    return launch_cooperative({function, host}, {blocks, threads}, shared_bytes, stream, arguments);
  });
}

TF_CUDA_EXPORT hipError_t hipRemoteLaunchCooperative(hipFunction_t function, dim3 grid, dim3 block,
                                                     unsigned shared_bytes, hipStream_t stream,
                                                     void** extra) {
  return api([&] { return launch_cooperative_packed(function, {grid, block}, shared_bytes, stream, extra); });
}

}  // extern "C"

// C++ linkage, as in hip_ext.h.
TF_CUDA_EXPORT hipError_t hipExtModuleLaunchKernel(hipFunction_t function, uint32_t global_x,
                                                   uint32_t global_y, uint32_t global_z, uint32_t local_x,
                                                   uint32_t local_y, uint32_t local_z, size_t shared_bytes,
                                                   hipStream_t stream, void** arguments, void** extra,
                                                   hipEvent_t start, hipEvent_t stop, uint32_t) {
  return api([&] {
    Shape shape;
    const hipError_t status =
        blocks_of(dim3(global_x, global_y, global_z), dim3(local_x, local_y, local_z), shape);
    if (status != hipSuccess) return status;
    return between(start, stop, stream, [&] {
      return launch({function, function}, shape, shared_bytes, stream, arguments, extra);
    });
  });
}

TF_CUDA_EXPORT hipError_t hipHccModuleLaunchKernel(hipFunction_t function, uint32_t global_x,
                                                   uint32_t global_y, uint32_t global_z, uint32_t local_x,
                                                   uint32_t local_y, uint32_t local_z, size_t shared_bytes,
                                                   hipStream_t stream, void** arguments, void** extra,
                                                   hipEvent_t start, hipEvent_t stop) {
  return hipExtModuleLaunchKernel(function, global_x, global_y, global_z, local_x, local_y, local_z,
                                  shared_bytes, stream, arguments, extra, start, stop, 0);
}
