// SPDX-License-Identifier: Apache-2.0
// What compiled programs call: registration before main, launch configurations, symbols by host address.
#include <cstdio>

#include "hipcore/codeobject/fat_binary.h"
#include "worker/runtime/common/call_configurations.h"
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/copy.h"

namespace tf::cuda {
namespace {

runtime::CallConfigurations& configurations() {
  static thread_local runtime::CallConfigurations mine;
  return mine;
}

hipError_t variable_of(const void* symbol, void*& address, std::size_t& bytes) {
  return programs().variable(symbol, address, bytes);
}

}  // namespace
}  // namespace tf::cuda

using namespace tf::cuda;

extern "C" {

// Before main: nothing of the driver is touched.
TF_CUDA_EXPORT void** __hipRegisterFatBinary(const void* data) {
  const auto image = tf::codeobject::wrapped_image(data);
  return programs().add_binary(image ? image.value() : nullptr);
}

TF_CUDA_EXPORT void __hipUnregisterFatBinary(void** handle) { programs().remove_binary(handle); }

TF_CUDA_EXPORT void __hipRegisterFunction(void** handle, const void* host, char*, const char* name, unsigned,
                                          void*, void*, dim3*, dim3*, int*) {
  programs().add_function(handle, host, name);
}

TF_CUDA_EXPORT void __hipRegisterVar(void** handle, void* host, char*, char* name, int, size_t, int, int) {
  programs().add_variable(handle, host, name);
}

// The three below have no way to say no: said once, loudly; using such a symbol then fails with its own
// error.
TF_CUDA_EXPORT void __hipRegisterManagedVar(void*, void**, void*, const char* name, size_t, unsigned) {
  std::fprintf(stderr, "hip-cuda: __managed__ variable %s is not supported\n", name ? name : "?");
}

TF_CUDA_EXPORT void __hipRegisterSurface(void**, void*, char*, char* name, int, int) {
  std::fprintf(stderr, "hip-cuda: surface reference %s is not supported\n", name ? name : "?");
}

TF_CUDA_EXPORT void __hipRegisterTexture(void**, void*, char*, char* name, int, int, int) {
  std::fprintf(stderr, "hip-cuda: texture reference %s is not supported\n", name ? name : "?");
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, hipStream_t stream) {
  return host_api([&] { return configurations().push({grid, block, shared_bytes, stream}); });
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream) {
  return host_api([&] { return configurations().pop(grid, block, shared_bytes, stream); });
}

#include "worker/runtime/common/symbol_functions.inc"

}  // extern "C"
