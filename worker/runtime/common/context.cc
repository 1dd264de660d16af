// SPDX-License-Identifier: Apache-2.0
// Contexts: each device has one; making it current makes its device current.
#include <vector>

#include "worker/runtime/common/device.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tf::runtime {
namespace {

constexpr std::size_t kContextDepthMax = 1024;
constexpr int kApiVersion = 4;  // what AMD's runtime answers

// hipCtxPushCurrent: the devices below the current one.
std::vector<int>& pushed_devices() {
  static thread_local std::vector<int> devices;
  return devices;
}

hipError_t push(int ordinal) {
  auto& stack = pushed_devices();
  if (stack.size() >= kContextDepthMax) return hipErrorOutOfMemory;
  stack.push_back(thread().device);
  Backend::select_device(ordinal);
  return hipSuccess;
}

hipError_t pop(hipCtx_t* context) {
  auto& stack = pushed_devices();
  if (stack.empty()) return hipErrorInvalidContext;
  if (context)
    if (const hipError_t status = Backend::context(thread().device, *context)) return status;
  Backend::select_device(stack.back());
  stack.pop_back();
  return hipSuccess;
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipCtxCreate(hipCtx_t* context, unsigned, hipDevice_t device) {
  return with_device(device, [&] {
    if (!context) return hipErrorInvalidValue;
    const hipError_t status = Backend::context(device, *context);
    return status == hipSuccess ? push(device) : status;
  });
}

hipError_t hipCtxDestroy(hipCtx_t context) {
  return host_api([&] {
    const int ordinal = Backend::ordinal_of(context);
    if (ordinal < 0) return hipErrorInvalidValue;
    return thread().device == ordinal && !pushed_devices().empty() ? pop(nullptr) : hipSuccess;
  });
}

hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return host_api([&] {
    const int ordinal = Backend::ordinal_of(context);
    return ordinal < 0 ? hipErrorInvalidContext : push(ordinal);
  });
}

hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  return host_api([&] { return pop(context); });
}

hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return host_api([&] {
    if (!context) return hipSuccess;  // "no context": the current device stays
    const int ordinal = Backend::ordinal_of(context);
    if (ordinal < 0) return hipErrorInvalidContext;
    Backend::select_device(ordinal);
    return hipSuccess;
  });
}

hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return host_api([&] {
    if (!context) return hipErrorInvalidValue;
    if (const hipError_t status = Backend::status()) return status;
    return Backend::context(thread().device, *context);
  });
}

hipError_t hipCtxGetDevice(hipDevice_t* device) {
  return host_api([&] { return device ? (*device = thread().device, hipSuccess) : hipErrorInvalidValue; });
}

hipError_t hipCtxGetApiVersion(hipCtx_t, int* version) {
  return host_api([&] { return version ? (*version = kApiVersion, hipSuccess) : hipErrorInvalidValue; });
}

hipError_t hipCtxGetFlags(unsigned* flags) { return hipGetDeviceFlags(flags); }
hipError_t hipCtxSynchronize() { return hipDeviceSynchronize(); }
hipError_t hipCtxGetCacheConfig(hipFuncCache_t* config) { return hipDeviceGetCacheConfig(config); }
hipError_t hipCtxSetCacheConfig(hipFuncCache_t config) { return hipDeviceSetCacheConfig(config); }
hipError_t hipCtxGetSharedMemConfig(hipSharedMemConfig* config) {
  return hipDeviceGetSharedMemConfig(config);
}
hipError_t hipCtxSetSharedMemConfig(hipSharedMemConfig config) { return hipDeviceSetSharedMemConfig(config); }

hipError_t hipDevicePrimaryCtxGetState(hipDevice_t device, unsigned* flags, int* active) {
  return with_device(device, [&] {
    if (!flags || !active) return hipErrorInvalidValue;
    *flags = Backend::device_flags(device);
    *active = Backend::has_context(device) || thread().device == device;
    return hipSuccess;
  });
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  return with_device(
      device, [&] { return context ? Backend::retain_context(device, *context) : hipErrorInvalidValue; });
}

// The runtime keeps its own reference as long as it lives.
hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return with_device(device, [] { return hipSuccess; });
}

hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  return with_device(device, [&] { return Backend::reset_context(device); });
}

hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned) {
  return with_device(device, [] { return hipErrorContextAlreadyInUse; });
}

}  // extern "C"
