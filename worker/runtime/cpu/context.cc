// SPDX-License-Identifier: Apache-2.0
// Contexts: each device has one, whose handle is the Device; making one current makes its device current.
#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/runtime.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace tf::cpu {
namespace {

constexpr std::size_t kMaxContextDepth = 1024;
constexpr int kApiVersion = 4;  // what AMD's runtime answers

hipCtx_t context_of(int ordinal) { return reinterpret_cast<hipCtx_t>(&Runtime::get().device(ordinal)); }

// -1 when it is no context.
int ordinal_of(hipCtx_t context) {
  for (int ordinal = 0; ordinal < Runtime::get().device_count(); ++ordinal)
    if (context_of(ordinal) == context) return ordinal;
  return -1;
}

hipError_t push(int ordinal) {
  auto& stack = thread_owned().contexts;
  if (stack.size() >= kMaxContextDepth) return hipErrorOutOfMemory;
  stack.push_back(thread_state().device);
  thread_state().device = ordinal;
  return hipSuccess;
}

hipError_t pop(hipCtx_t* context) {
  auto& stack = thread_owned().contexts;
  if (stack.empty()) return hipErrorInvalidContext;
  if (context) *context = context_of(thread_state().device);
  thread_state().device = stack.back();
  stack.pop_back();
  return hipSuccess;
}

hipError_t check_device(int ordinal) {
  return Runtime::get().valid_device(ordinal) ? hipSuccess : hipErrorInvalidDevice;
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipCtxCreate(hipCtx_t* context, unsigned, hipDevice_t device) {
  return api([&] {
    if (!context) return hipErrorInvalidValue;
    if (const hipError_t status = check_device(device)) return status;
    *context = context_of(device);
    return push(device);
  });
}

hipError_t hipCtxDestroy(hipCtx_t context) {
  return api([&] {
    const int ordinal = ordinal_of(context);
    if (ordinal < 0) return hipErrorInvalidValue;
    if (thread_state().device == ordinal && !thread_owned().contexts.empty()) return pop(nullptr);
    return hipSuccess;
  });
}

hipError_t hipCtxPushCurrent(hipCtx_t context) {
  return api([&] {
    const int ordinal = ordinal_of(context);
    return ordinal < 0 ? hipErrorInvalidContext : push(ordinal);
  });
}

hipError_t hipCtxPopCurrent(hipCtx_t* context) {
  return api([&] { return pop(context); });
}

hipError_t hipCtxSetCurrent(hipCtx_t context) {
  return api([&] {
    if (!context) return hipSuccess;  // "no context": the current device stays
    const int ordinal = ordinal_of(context);
    if (ordinal < 0) return hipErrorInvalidContext;
    thread_state().device = ordinal;
    return hipSuccess;
  });
}

hipError_t hipCtxGetCurrent(hipCtx_t* context) {
  return api([&] {
    if (!context) return hipErrorInvalidValue;
    if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
    *context = context_of(thread_state().device);
    return hipSuccess;
  });
}

hipError_t hipCtxGetDevice(hipDevice_t* device) {
  return api([&] { return device ? (*device = thread_state().device, hipSuccess) : hipErrorInvalidValue; });
}

hipError_t hipCtxGetApiVersion(hipCtx_t, int* version) {
  return api([&] { return version ? (*version = kApiVersion, hipSuccess) : hipErrorInvalidValue; });
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
  return api([&] {
    if (const hipError_t status = check_device(device)) return status;
    if (!flags || !active) return hipErrorInvalidValue;
    Device& found = Runtime::get().device(device);
    *flags = found.flags.load(std::memory_order_relaxed);
    *active =
        found.primary_context_retained.load(std::memory_order_relaxed) || thread_state().device == device;
    return hipSuccess;
  });
}

hipError_t hipDevicePrimaryCtxRetain(hipCtx_t* context, hipDevice_t device) {
  return api([&] {
    if (const hipError_t status = check_device(device)) return status;
    if (!context) return hipErrorInvalidValue;
    Runtime::get().device(device).primary_context_retained.store(true, std::memory_order_relaxed);
    *context = context_of(device);
    return hipSuccess;
  });
}

hipError_t hipDevicePrimaryCtxRelease(hipDevice_t device) {
  return api([&] { return check_device(device); });
}

hipError_t hipDevicePrimaryCtxReset(hipDevice_t device) {
  return api([&] { return check_device(device); });
}

hipError_t hipDevicePrimaryCtxSetFlags(hipDevice_t device, unsigned) {
  return api([&] {
    const hipError_t status = check_device(device);
    return status == hipSuccess ? hipErrorContextAlreadyInUse : status;
  });
}

}  // extern "C"
