// SPDX-License-Identifier: Apache-2.0
// What compiled programs call: registration before main, launch configurations, symbols by host address.
#include <cstdint>
#include <cstdio>

#include "hipcore/codeobject/fat_binary.h"
#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/copy.h"
#include "worker/runtime/cpu/programs.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {
namespace {

hipError_t variable_of(const void* symbol, void*& address, std::size_t& bytes) {
  return Runtime::get().programs().variable(symbol, &address, &bytes);
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

TF_CPU_EXPORT void** __hipRegisterFatBinary(const void* data) {
  const auto image = tf::codeobject::wrapped_image(data);
  return Runtime::get().programs().add_binary(image ? image.value() : nullptr);
}

TF_CPU_EXPORT void __hipUnregisterFatBinary(void** handle) {
  Runtime::get().programs().remove_binary(handle);
}

TF_CPU_EXPORT void __hipRegisterFunction(void** handle, const void* host, char*, const char* name, unsigned,
                                         void*, void*, dim3*, dim3*, int*) {
  Runtime::get().programs().add_function(handle, host, name);
}

TF_CPU_EXPORT void __hipRegisterVar(void** handle, void* host, char*, char* name, int, size_t bytes, int,
                                    int) {
  Runtime::get().programs().add_variable(handle, host, name, bytes);
}

// The three below have no way to say no: said once, loudly; using such a symbol then fails with its own
// error.
TF_CPU_EXPORT void __hipRegisterManagedVar(void*, void**, void*, const char* name, size_t, unsigned) {
  std::fprintf(stderr, "hip-cpu: __managed__ variable %s is not supported\n", name ? name : "?");
}

TF_CPU_EXPORT void __hipRegisterSurface(void**, void*, char*, char* name, int, int) {
  std::fprintf(stderr, "hip-cpu: surface reference %s is not supported\n", name ? name : "?");
}

TF_CPU_EXPORT void __hipRegisterTexture(void**, void*, char*, char* name, int, int, int) {
  std::fprintf(stderr, "hip-cpu: texture reference %s is not supported\n", name ? name : "?");
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, hipStream_t stream) {
  return api([&] { return thread_owned().configurations.push({grid, block, shared_bytes, stream}); });
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream) {
  return api([&] { return thread_owned().configurations.pop(grid, block, shared_bytes, stream); });
}

#include "worker/runtime/common/symbol_functions.inc"

hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, const void* host) {
  return api([&] {
    if (!attributes) return hipErrorInvalidValue;
    std::shared_ptr<Function> function;
    if (const hipError_t status = Runtime::get().programs().function(host, nullptr, function)) return status;
    return function_attributes(*function, attributes);
  });
}

hipError_t hipFuncSetAttribute(const void* host, hipFuncAttribute attribute, int value) {
  return api([&] {
    std::shared_ptr<Function> function;
    if (const hipError_t status = Runtime::get().programs().function(host, nullptr, function)) return status;
    if (attribute != hipFuncAttributeMaxDynamicSharedMemorySize)
      return attribute == hipFuncAttributePreferredSharedMemoryCarveout ? hipSuccess : hipErrorInvalidValue;
    // The limit is the device's whole shared memory already.
    const bool fits = value >= 0 && static_cast<unsigned>(value) <= function->max_dynamic_shared_bytes();
    return fits ? hipSuccess : hipErrorInvalidValue;
  });
}

// Hints, which may be ignored; but the function must be one.
hipError_t hipFuncSetCacheConfig(const void* host, hipFuncCache_t) {
  return api([&] {
    std::shared_ptr<Function> function;
    return Runtime::get().programs().function(host, nullptr, function);
  });
}

hipError_t hipFuncSetSharedMemConfig(const void* host, hipSharedMemConfig) {
  return api([&] {
    std::shared_ptr<Function> function;
    return Runtime::get().programs().function(host, nullptr, function);
  });
}

const char* hipKernelNameRefByPtr(const void* host, hipStream_t) {
  return Runtime::get().programs().name(host);
}

}  // extern "C"
