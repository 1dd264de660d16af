// SPDX-License-Identifier: Apache-2.0
// Launches on several devices at once, and those that older compilers generate.
#include "hipcore/launch/multi_device.h"
#include "hipcore/newer/hip_types.h"
#include "worker/runtime/common/call_configurations.h"
#include "worker/runtime/common/device.h"
#include "worker/runtime/common/launch.h"

namespace tf::runtime {
namespace {

// Makes another device the thread's, for a while.
class OnDevice {
 public:
  explicit OnDevice(int device) : before_(thread().device) { Backend::select_device(device); }
  ~OnDevice() { Backend::select_device(before_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  const int before_;
};

bool find_device(hipStream_t handle, int& device) {
  return quiet_api([&] {
           Backend::Stream stream{};
           const hipError_t status = Backend::find_stream(handle, stream);
           if (status == hipSuccess) device = Backend::reference(stream).device;
           return status;
         }) == hipSuccess;
}

// What launch_on_devices() does with hipLaunchParams.
struct HostLaunches {
  bool cooperative;

  static int device_count() { return Backend::device_count(); }
  static hipStream_t stream_of(const hipLaunchParams& launch) { return launch.stream; }
  static bool is_empty(const hipLaunchParams& launch) {
    return launch.blockDim.x == 0 || launch.blockDim.y == 0 || launch.blockDim.z == 0;
  }
  static bool find_device(hipStream_t stream, int& device) { return runtime::find_device(stream, device); }
  static hipError_t find_kernel(const hipLaunchParams& launch, int device) {
    if (!launch.func) return hipErrorInvalidDeviceFunction;
    const OnDevice there(device);
    return quiet_api([&] {
      Backend::Kernel kernel{};
      return Backend::host_kernel(launch.func, launch.stream, kernel);
    });
  }
  hipError_t start(const hipLaunchParams& launch) const {
    int device = 0;
    if (!find_device(launch.stream, device)) return hipErrorInvalidValue;
    const OnDevice there(device);
    return quiet_api([&] {
      LaunchRequest request{launch.gridDim, launch.blockDim, launch.sharedMem, cooperative};
      request.arguments = launch.args;
      request.stream = launch.stream;
      return launch_host(launch.func, request);
    });
  }
  static hipError_t synchronize(hipStream_t stream) { return hipStreamSynchronize(stream); }
};

hipError_t launch_all(const hipLaunchParams* launches, int count, unsigned flags, bool cooperative) {
  return host_api([&] {
    if (const hipError_t status = Backend::status()) return status;
    HostLaunches work{cooperative};
    return hipcore::launch_on_devices(launches, count, flags, work);
  });
}

// The same with handles of functions.
struct FunctionLaunches {
  static int device_count() { return Backend::device_count(); }
  static hipStream_t stream_of(const hipFunctionLaunchParams& launch) { return launch.hStream; }
  static bool is_empty(const hipFunctionLaunchParams& launch) {
    return launch.blockDimX == 0 || launch.blockDimY == 0 || launch.blockDimZ == 0;
  }
  static bool find_device(hipStream_t stream, int& device) { return runtime::find_device(stream, device); }
  static hipError_t find_kernel(const hipFunctionLaunchParams& launch, int device) {
    const OnDevice there(device);
    return quiet_api(
        [&] { return Backend::find_function(launch.function) ? hipSuccess : hipErrorInvalidHandle; });
  }
  static hipError_t start(const hipFunctionLaunchParams& launch) {
    int device = 0;
    if (!find_device(launch.hStream, device)) return hipErrorInvalidValue;
    const OnDevice there(device);
    return quiet_api([&] {
      LaunchRequest request{dim3(launch.gridDimX, launch.gridDimY, launch.gridDimZ),
                            dim3(launch.blockDimX, launch.blockDimY, launch.blockDimZ), launch.sharedMemBytes,
                            true};
      request.arguments = launch.kernelParams;
      request.stream = launch.hStream;
      return tf::runtime::launch(launch.function, request);
    });
  }
  static hipError_t synchronize(hipStream_t stream) { return hipStreamSynchronize(stream); }
};

hipError_t launch_all(const hipFunctionLaunchParams* launches, unsigned count, unsigned flags) {
  return host_api([&] {
    if (const hipError_t status = Backend::status()) return status;
    if (count > static_cast<unsigned>(Backend::device_count())) return hipErrorInvalidValue;
    FunctionLaunches work;
    return hipcore::launch_on_devices(launches, static_cast<int>(count), flags, work);
  });
}

// A launch whose arguments are packed.
hipError_t launch_packed(const void* host, const CallConfiguration& shape, void** extra) {
  if (!host) return hipErrorInvalidDeviceFunction;
  int device = 0;
  if (!find_device(shape.stream, device)) return hipErrorContextIsDestroyed;
  const OnDevice there(device);
  return quiet_api([&] {
    LaunchRequest request{shape.grid, shape.block, shape.shared_bytes};
    request.extra = extra;
    request.stream = shape.stream;
    return launch_host(host, request);
  });
}

hipError_t launch_configured(const void* host) {
  CallConfiguration shape;
  if (const hipError_t status = call_configurations().pop(shape)) return status;
  std::size_t bytes = shape.arguments.size();
  void* extra[] = {HIP_LAUNCH_PARAM_BUFFER_POINTER, shape.arguments.data(), HIP_LAUNCH_PARAM_BUFFER_SIZE,
                   &bytes, HIP_LAUNCH_PARAM_END};
  return launch_packed(host, shape, extra);
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipLaunchCooperativeKernelMultiDevice(hipLaunchParams* launches, int count, unsigned flags) {
  return launch_all(launches, count, flags, true);
}

hipError_t hipExtLaunchMultiKernelMultiDevice(hipLaunchParams* launches, int count, unsigned flags) {
  return launch_all(launches, count, flags, false);
}

// HIP 5.5; an array of hipFunctionLaunchParams.
TF_EXPORT hipError_t hipModuleLaunchCooperativeKernelMultiDevice(const hipFunctionLaunchParams* launches,
                                                                 unsigned count, unsigned flags) {
  return launch_all(launches, count, flags);
}

hipError_t hipConfigureCall(dim3 grid, dim3 block, size_t shared_bytes, hipStream_t stream) {
  return host_api([&] { return call_configurations().push({grid, block, shared_bytes, stream}); });
}

hipError_t hipSetupArgument(const void* argument, size_t bytes, size_t offset) {
  return host_api([&] { return call_configurations().add_argument(argument, bytes, offset); });
}

hipError_t hipLaunchByPtr(const void* host) {
  return host_api([&] { return launch_configured(host); });
}

}  // extern "C"

// Called by functional_grid_launch.hpp of older releases. `arguments`: as `extra` of hipModuleLaunchKernel.
namespace hip_impl {

TF_EXPORT void hipLaunchKernelGGLImpl(std::uintptr_t function, const dim3& grid, const dim3& block,
                                      std::uint32_t shared_bytes, hipStream_t stream, void** arguments);

void hipLaunchKernelGGLImpl(std::uintptr_t function, const dim3& grid, const dim3& block,
                            std::uint32_t shared_bytes, hipStream_t stream, void** arguments) {
  static_cast<void>(host_api([&] {
    const CallConfiguration shape{grid, block, shared_bytes, stream};
    return launch_packed(reinterpret_cast<const void*>(function), shape, arguments);
  }));
}

}  // namespace hip_impl
