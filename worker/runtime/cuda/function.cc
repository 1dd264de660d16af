// SPDX-License-Identifier: Apache-2.0
// How much dynamic shared memory a kernel may have, and what else is known of kernels.
#include <atomic>
#include <cstring>

#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/module.h"

namespace tf::cuda {
namespace {

// Grows with forget_shared(). Relaxed: a program that launches a kernel while it unloads it has lost either
// way.
std::atomic<std::uint64_t> unloads{1};

struct Allowed {
  hipFunction_t function = nullptr;
  std::size_t bytes = 0;
  std::uint64_t unloads = 0;
};
constinit thread_local Allowed last_allowed{};

int attribute_of(hipFunction_t function, int attribute) {
  int value = 0;
  return cu().FuncGetAttribute(&value, attribute, function) == driver::Result::SUCCESS ? value : 0;
}

}  // namespace

hipError_t allow_shared(hipFunction_t function, std::size_t bytes) {
  const std::uint64_t now = unloads.load(std::memory_order_relaxed);
  Allowed& last = last_allowed;
  if (last.function == function && bytes <= last.bytes && last.unloads == now) return hipSuccess;
  int allowed = attribute_of(function, driver::kFunctionDynamicSharedBytesMax);
  if (allowed < 0 || static_cast<std::size_t>(allowed) < bytes) {
    const auto whole = static_cast<int>(current_device().properties.sharedMemPerBlock);
    allowed = whole - attribute_of(function, driver::kFunctionStaticSharedBytes);
    if (allowed < 0 || static_cast<std::size_t>(allowed) < bytes) return hipErrorInvalidValue;
    const driver::Result result =
        cu().FuncSetAttribute(function, driver::kFunctionDynamicSharedBytesMax, allowed);
    if (result != driver::Result::SUCCESS) return hip_error(result);
  }
  last = {function, static_cast<std::size_t>(allowed), now};
  return hipSuccess;
}

void forget_shared() { unloads.fetch_add(1, std::memory_order_relaxed); }

hipError_t check_shape(hipFunction_t function, const Shape& shape) {
  const hipDeviceProp_t& limit = current_device().properties;
  const unsigned blocks[] = {shape.blocks.x, shape.blocks.y, shape.blocks.z};
  const unsigned threads[] = {shape.threads.x, shape.threads.y, shape.threads.z};
  for (int axis = 0; axis < 3; ++axis) {
    if (blocks[axis] == 0 || blocks[axis] > static_cast<unsigned>(limit.maxGridSize[axis]) ||
        threads[axis] == 0 || threads[axis] > static_cast<unsigned>(limit.maxThreadsDim[axis]))
      return hipErrorInvalidConfiguration;
  }
  if (is_too_large(shape)) return hipErrorInvalidConfiguration;
  const std::uint64_t count = std::uint64_t{threads[0]} * threads[1] * threads[2];
  if (count > static_cast<std::uint64_t>(limit.maxThreadsPerBlock)) return hipErrorInvalidConfiguration;
  const int most = attribute_of(function, driver::kFunctionThreadsMax);
  return most > 0 && count > static_cast<std::uint64_t>(most) ? hipErrorLaunchFailure : hipSuccess;
}

hipError_t function_attributes(hipFunction_t function, hipFuncAttributes* attributes) {
  int threads = 0;
  const driver::Result result = cu().FuncGetAttribute(&threads, driver::kFunctionThreadsMax, function);
  if (result != driver::Result::SUCCESS) return hip_error(result);
  std::memset(attributes, 0, sizeof *attributes);
  attributes->maxThreadsPerBlock = threads;
  const auto bytes_of = [&](int attribute) {
    return static_cast<std::size_t>(attribute_of(function, attribute));
  };
  attributes->binaryVersion = attribute_of(function, driver::kFunctionBinaryVersion);
  attributes->ptxVersion = attribute_of(function, driver::kFunctionPtxVersion);
  attributes->cacheModeCA = attribute_of(function, driver::kFunctionCacheModeCa);
  attributes->numRegs = attribute_of(function, driver::kFunctionRegisters);
  attributes->preferredShmemCarveout = attribute_of(function, driver::kFunctionSharedCarveout);
  attributes->constSizeBytes = bytes_of(driver::kFunctionConstBytes);
  attributes->localSizeBytes = bytes_of(driver::kFunctionLocalBytes);
  attributes->sharedSizeBytes = bytes_of(driver::kFunctionStaticSharedBytes);
  // What it can have: the launch asks for it.
  attributes->maxDynamicSharedSizeBytes =
      static_cast<int>(current_device().properties.sharedMemPerBlock - attributes->sharedSizeBytes);
  return hipSuccess;
}

namespace {

hipError_t function_attribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  if (!value || attribute >= HIP_FUNC_ATTRIBUTE_MAX) return hipErrorInvalidValue;
  if (!function) return hipErrorInvalidDeviceFunction;
  const hipError_t status = check(cu().FuncGetAttribute(value, attribute, function));
  if (status == hipSuccess && attribute == HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    *value = static_cast<int>(current_device().properties.sharedMemPerBlock) -
             attribute_of(function, driver::kFunctionStaticSharedBytes);
  return status;
}

hipError_t set_attribute(const void* host, hipFuncAttribute attribute, int value) {
  if (attribute != hipFuncAttributeMaxDynamicSharedMemorySize &&
      attribute != hipFuncAttributePreferredSharedMemoryCarveout)
    return hipErrorInvalidValue;
  hipFunction_t function = nullptr;
  if (const hipError_t status = programs().function(host, function)) return status;
  forget_shared();
  return check(cu().FuncSetAttribute(function, attribute, value));
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  return api([&] { return function_attribute(value, attribute, function); });
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* host) {
  return api([&] {
    if (!attributes) return hipErrorInvalidValue;
    hipFunction_t function = nullptr;
    if (const hipError_t status = programs().function(host, function)) return status;
    return function_attributes(function, attributes);
  });
}

hipError_t hipFuncSetAttribute(const void* host, hipFuncAttribute attribute, int value) {
  return api([&] { return set_attribute(host, attribute, value); });
}

hipError_t hipFuncSetCacheConfig(const void* host, hipFuncCache_t config) {
  return api([&] {
    hipFunction_t function = nullptr;
    if (const hipError_t status = programs().function(host, function)) return status;
    return check(cu().FuncSetCacheConfig(function, config));
  });
}

hipError_t hipFuncSetSharedMemConfig(const void* host, hipSharedMemConfig) {
  return api([&] {
    hipFunction_t function = nullptr;
    return programs().function(host, function);
  });
}

const char* hipKernelNameRef(const hipFunction_t function) {
  const char* name = nullptr;
  const hipError_t status = api([&] { return check(cu().FuncGetName(&name, function)); });
  return status == hipSuccess ? name : nullptr;
}

const char* hipKernelNameRefByPtr(const void* host, hipStream_t) { return programs().name(host); }

}  // extern "C"
