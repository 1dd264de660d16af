// SPDX-License-Identifier: Apache-2.0
// Queries and settings of kernels, by handle and by host address; and occupancy.
#include "hipcore/launch/function_attributes.h"
#include "worker/runtime/common/api.h"
#include "worker/runtime/common/programs.h"

namespace tf::runtime {
namespace {

using Kernel = Backend::Kernel;

// The frame of queries of a program's kernel, on the thread's device.
template <typename Body>
hipError_t with_host(const void* host, Body&& body) {
  return api([&]() -> hipError_t {
    Kernel kernel{};
    if (const hipError_t status = Backend::host_kernel(host, nullptr, kernel)) return status;
    return body(kernel);
  });
}

// The same by handle; the kernel is null for an invalid handle.
template <typename Body>
hipError_t with_handle(hipFunction_t handle, Body&& body) {
  return api([&]() -> hipError_t { return body(Backend::find_function(handle)); });
}

hipError_t attribute_of(int* value, hipFunction_attribute attribute, const Kernel& kernel) {
  if (!value || attribute >= HIP_FUNC_ATTRIBUTE_MAX) return hipErrorInvalidValue;
  return kernel ? Backend::function_attribute(kernel, attribute, *value) : hipErrorInvalidDeviceFunction;
}

hipError_t max_active(int* blocks, const Kernel& kernel, int threads, std::size_t dynamic_bytes,
                      unsigned flags) {
  if (!kernel) return hipErrorInvalidDeviceFunction;
  if (!blocks || threads <= 0 || flags > 1) return hipErrorInvalidValue;
  return Backend::active_blocks(kernel, threads, dynamic_bytes, flags, *blocks);
}

hipError_t best_block(int* grid, int* block, const Kernel& kernel, std::size_t dynamic_bytes, int limit,
                      unsigned flags) {
  if (!kernel) return hipErrorInvalidDeviceFunction;
  if (!grid || !block || flags > 1) return hipErrorInvalidValue;
  return Backend::best_block(kernel, dynamic_bytes, limit > 0 ? limit : 0, flags, *grid, *block);
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  return with_handle(function, [&](const Kernel& kernel) { return attribute_of(value, attribute, kernel); });
}

TF_EXPORT hipError_t hipGetFuncBySymbol(hipFunction_t* function, const void* host) {
  return api([&]() -> hipError_t {
    Kernel kernel{};
    if (!function || Backend::host_kernel(host, nullptr, kernel)) return hipErrorInvalidDeviceFunction;
    *function = Backend::handle_of(kernel);
    return hipSuccess;
  });
}

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* host) {
  if (!attributes) return api([] { return hipErrorInvalidValue; });
  return with_host(host, [&](const Kernel& kernel) -> hipError_t {
    if (const hipError_t status = Backend::function_attributes(kernel, *attributes)) return status;
    const auto limit = programs().dynamic_limit_bytes(host, Backend::thread().device);
    if (limit) attributes->maxDynamicSharedSizeBytes = *limit;
    return hipSuccess;
  });
}

hipError_t hipFuncSetAttribute(const void* host, hipFuncAttribute attribute, int value) {
  if (!tf::hipcore::takes_attribute(attribute, value)) return api([] { return hipErrorInvalidValue; });
  return with_host(host, [&](const Kernel& kernel) -> hipError_t {
    if (const hipError_t status = Backend::set_function_attribute(kernel, attribute, value)) return status;
    if (attribute == hipFuncAttributeMaxDynamicSharedMemorySize)
      programs().limit_dynamic_bytes(host, Backend::thread().device, value);
    return hipSuccess;
  });
}

hipError_t hipFuncSetCacheConfig(const void* host, hipFuncCache_t config) {
  if (!tf::hipcore::is_cache_config(config)) return api([] { return hipErrorInvalidValue; });
  return with_host(host, [&](const Kernel& kernel) { return Backend::set_function_cache(kernel, config); });
}

// A hint, which may be ignored; but the function must be valid.
hipError_t hipFuncSetSharedMemConfig(const void* host, hipSharedMemConfig config) {
  if (!tf::hipcore::is_shared_config(config)) return api([] { return hipErrorInvalidValue; });
  return with_host(host, [](const Kernel&) { return hipSuccess; });
}

const char* hipKernelNameRef(const hipFunction_t function) {
  const char* name = nullptr;
  const hipError_t status = quiet_api([&] {
    const Backend::Kernel kernel = Backend::find_function(function);
    return kernel ? Backend::function_name(kernel, name) : hipErrorInvalidHandle;
  });
  return status == hipSuccess ? name : nullptr;
}

const char* hipKernelNameRefByPtr(const void* host, hipStream_t) { return programs().name(host); }

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host, int threads,
                                                        size_t dynamic) {
  return with_host(host,
                   [&](const Kernel& kernel) { return max_active(blocks, kernel, threads, dynamic, 0); });
}

hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads,
                                                                 size_t dynamic, unsigned flags) {
  return with_host(host,
                   [&](const Kernel& kernel) { return max_active(blocks, kernel, threads, dynamic, flags); });
}

hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, const void* host, size_t dynamic,
                                             int limit) {
  return with_host(host,
                   [&](const Kernel& kernel) { return best_block(grid, block, kernel, dynamic, limit, 0); });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hipFunction_t function,
                                                              int threads, size_t dynamic) {
  return with_handle(function,
                     [&](const Kernel& kernel) { return max_active(blocks, kernel, threads, dynamic, 0); });
}

hipError_t hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, hipFunction_t function,
                                                                       int threads, size_t dynamic,
                                                                       unsigned flags) {
  return with_handle(
      function, [&](const Kernel& kernel) { return max_active(blocks, kernel, threads, dynamic, flags); });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSize(int* grid, int* block, hipFunction_t function,
                                                   size_t dynamic, int limit) {
  return with_handle(
      function, [&](const Kernel& kernel) { return best_block(grid, block, kernel, dynamic, limit, 0); });
}

hipError_t hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, hipFunction_t function,
                                                            size_t dynamic, int limit, unsigned flags) {
  return with_handle(
      function, [&](const Kernel& kernel) { return best_block(grid, block, kernel, dynamic, limit, flags); });
}

}  // extern "C"
