// SPDX-License-Identifier: Apache-2.0
// What compiled programs call: registration before main, launch configurations, symbols by host address.
#include <cstdio>

#include "codeobject/fat_binary.h"
#include "worker/runtime/common/call_configurations.h"
#include "worker/runtime/cuda/api.h"
#include "worker/runtime/cuda/copy.h"

namespace tf::cuda {
namespace {

runtime::CallConfigurations& configurations() {
  static thread_local runtime::CallConfigurations mine;
  return mine;
}

// The part of the variable that a copy touches.
hipError_t symbol_range(const void* symbol, std::size_t bytes, std::size_t offset, std::byte*& start) {
  void* address = nullptr;
  std::size_t size = 0;
  if (!symbol) return hipErrorInvalidSymbol;
  if (const hipError_t status = programs().variable(symbol, address, size)) return status;
  if (offset > size || bytes > size - offset) return hipErrorInvalidValue;
  start = static_cast<std::byte*>(address) + offset;
  return hipSuccess;
}

hipError_t copy_to_symbol(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                          hipMemcpyKind kind, hipStream_t stream, Wait wait) {
  if (kind != hipMemcpyHostToDevice && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault)
    return hipErrorInvalidMemcpyDirection;
  std::byte* start = nullptr;
  if (const hipError_t status = symbol_range(symbol, bytes, offset, start)) return status;
  return copy_linear(start, source, bytes, kind, stream, wait);
}

hipError_t copy_from_symbol(void* target, const void* symbol, std::size_t bytes, std::size_t offset,
                            hipMemcpyKind kind, hipStream_t stream, Wait wait) {
  if (kind != hipMemcpyDeviceToHost && kind != hipMemcpyDeviceToDevice && kind != hipMemcpyDefault)
    return hipErrorInvalidMemcpyDirection;
  std::byte* start = nullptr;
  if (const hipError_t status = symbol_range(symbol, bytes, offset, start)) return status;
  return copy_linear(target, start, bytes, kind, stream, wait);
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

hipError_t hipGetSymbolAddress(void** address, const void* symbol) {
  return api([&] {
    std::size_t bytes = 0;
    return address ? programs().variable(symbol, *address, bytes) : hipErrorInvalidValue;
  });
}

hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol) {
  return api([&] {
    void* address = nullptr;
    return bytes ? programs().variable(symbol, address, *bytes) : hipErrorInvalidValue;
  });
}

hipError_t hipMemcpyToSymbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                             hipMemcpyKind kind) {
  return api([&] { return copy_to_symbol(symbol, source, bytes, offset, kind, nullptr, Wait::kYes); });
}

hipError_t hipMemcpyToSymbolAsync(const void* symbol, const void* source, size_t bytes, size_t offset,
                                  hipMemcpyKind kind, hipStream_t stream) {
  return api([&] { return copy_to_symbol(symbol, source, bytes, offset, kind, stream, Wait::kNo); });
}

hipError_t hipMemcpyFromSymbol(void* target, const void* symbol, size_t bytes, size_t offset,
                               hipMemcpyKind kind) {
  return api([&] { return copy_from_symbol(target, symbol, bytes, offset, kind, nullptr, Wait::kYes); });
}

hipError_t hipMemcpyFromSymbolAsync(void* target, const void* symbol, size_t bytes, size_t offset,
                                    hipMemcpyKind kind, hipStream_t stream) {
  return api([&] { return copy_from_symbol(target, symbol, bytes, offset, kind, stream, Wait::kNo); });
}

}  // extern "C"
