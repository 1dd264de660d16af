// SPDX-License-Identifier: Apache-2.0
// Launches on several devices at once, and those that older compilers generate.
#include <vector>

#include "hipcore/launch/multi_device.h"
#include "hipcore/newer/hip_types.h"
#include "proxy/exported/launch.h"
#include "proxy/exported/launch_configuration.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"

namespace tf::proxy {
namespace {

using protocol::HandleKind;

// Of the stream; false: there is no such stream.
bool find_device(ApiCall& call, hipStream_t stream, int& device) {
  std::uint64_t handle = 0;
  if (!call.translate(HandleKind::kStream, stream, handle)) return false;
  device = call.client().streams().device_of(call.device(), handle);
  return true;
}

// What launch_on_devices() does with hipLaunchParams.
struct HostLaunches {
  ApiCall& call;
  bool cooperative;

  int device_count() const { return call.client().device_count(); }
  static hipStream_t stream_of(const hipLaunchParams& launch) { return launch.stream; }
  static bool is_empty(const hipLaunchParams& launch) {
    return launch.blockDim.x == 0 || launch.blockDim.y == 0 || launch.blockDim.z == 0;
  }
  bool find_device(hipStream_t stream, int& device) const { return proxy::find_device(call, stream, device); }
  hipError_t find_kernel(const hipLaunchParams& launch, int device) const {
    std::uint64_t function = 0;
    if (launch.func == nullptr) return hipErrorInvalidDeviceFunction;
    return call.client().modules().registered_function(device, launch.func, function);
  }
  hipError_t start(const hipLaunchParams& launch) const {
    Launch what;
    set_shape(what.shape, launch.gridDim, launch.blockDim, launch.sharedMem);
    what.stream = launch.stream;
    what.arguments = launch.args;
    what.cooperative = cooperative;
    int device = 0;
    return find_device(launch.stream, device) ? launch_on(call, device, launch.func, what)
                                              : hipErrorInvalidValue;
  }
  static hipError_t synchronize(hipStream_t stream) { return ::hipStreamSynchronize(stream); }
};

hipError_t launch_all(ApiCall& call, const hipLaunchParams* launches, int count, unsigned flags,
                      bool cooperative) {
  if (!call.connected()) return call.finish();
  HostLaunches work{call, cooperative};
  return call.finish(hipcore::launch_on_devices(launches, count, flags, work));
}

// The same with handles of functions.
struct FunctionLaunches {
  ApiCall& call;

  int device_count() const { return call.client().device_count(); }
  static hipStream_t stream_of(const hipFunctionLaunchParams& launch) { return launch.hStream; }
  static bool is_empty(const hipFunctionLaunchParams& launch) {
    return launch.blockDimX == 0 || launch.blockDimY == 0 || launch.blockDimZ == 0;
  }
  bool find_device(hipStream_t stream, int& device) const { return proxy::find_device(call, stream, device); }
  hipError_t find_kernel(const hipFunctionLaunchParams& launch, int device) const {
    const FunctionFacts* const facts = call.client().modules().borrow_facts(to_raw(launch.function));
    if (facts == nullptr) return hipErrorInvalidHandle;
    return facts->device == device ? hipSuccess : hipErrorInvalidDevice;
  }
  hipError_t start(const hipFunctionLaunchParams& launch) const {
    Launch what;
    what.shape = {{launch.gridDimX, launch.gridDimY, launch.gridDimZ},
                  {launch.blockDimX, launch.blockDimY, launch.blockDimZ},
                  launch.sharedMemBytes};
    what.stream = launch.hStream;
    what.arguments = launch.kernelParams;
    what.cooperative = true;
    return launch_function(call, launch.function, what);
  }
  static hipError_t synchronize(hipStream_t stream) { return ::hipStreamSynchronize(stream); }
};

// A launch whose arguments are packed.
hipError_t launch_packed(ApiCall& call, const void* function, const CallConfiguration& shape, void** extra) {
  if (function == nullptr) return call.finish(hipErrorInvalidDeviceFunction);
  if (!call.connected()) return call.finish();
  Launch what;
  set_shape(what.shape, shape.grid, shape.block, shape.shared_bytes);
  what.stream = shape.stream;
  what.extra = extra;
  int device = 0;
  if (!find_device(call, shape.stream, device)) return call.finish();
  return launch_on(call, device, function, what);
}

}  // namespace
}  // namespace tf::proxy

namespace tf::proxy::custom {

hipError_t hipLaunchCooperativeKernelMultiDevice(ApiCall& call, hipLaunchParams* launches, int count,
                                                 unsigned int flags) {
  return launch_all(call, launches, count, flags, true);
}

hipError_t hipExtLaunchMultiKernelMultiDevice(ApiCall& call, hipLaunchParams* launches, int count,
                                              unsigned int flags) {
  return launch_all(call, launches, count, flags, false);
}

hipError_t hipModuleLaunchCooperativeKernelMultiDevice(ApiCall& call, hipFunctionLaunchParams* launches,
                                                       unsigned int count, unsigned int flags) {
  if (!call.connected()) return call.finish();
  if (count > protocol::kDevicesMax) return call.finish(hipErrorInvalidValue);
  FunctionLaunches work{call};
  return call.finish(hipcore::launch_on_devices(launches, static_cast<int>(count), flags, work));
}

hipError_t hipLaunchByPtr(ApiCall& call, const void* function) {
  CallConfiguration shape;
  std::vector<std::byte> arguments;
  if (const hipError_t error = pop_configuration(shape, arguments); error != hipSuccess)
    return call.finish(error);
  std::size_t bytes = arguments.size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, arguments.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   HIP_LAUNCH_PARAM_END};
  return launch_packed(call, function, shape, extra);
}

void hipLaunchKernelGGLImpl(ApiCall& call, uintptr_t function, const dim3& grid, const dim3& block,
                            uint32_t shared_bytes, hipStream_t stream, void** arguments) {
  const CallConfiguration shape{grid, block, shared_bytes, stream, 0};
  static_cast<void>(launch_packed(call, reinterpret_cast<const void*>(function), shape, arguments));
}

}  // namespace tf::proxy::custom
