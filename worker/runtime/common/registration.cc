// SPDX-License-Identifier: Apache-2.0
// The functions that compiled programs call: registration before main(), launch configurations, variables by
// host address.
#include <cstdio>
#include <utility>

#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/memory/copy_kind.h"
#include "worker/runtime/common/api.h"
#include "worker/runtime/common/call_configurations.h"
#include "worker/runtime/common/copies.h"
#include "worker/runtime/common/programs.h"

namespace tf::runtime {
namespace {

// Registration cannot return an error. It prints one, once; later use of such a symbol fails with its own
// error.
void refuse(const char* what, const char* name) {
  std::fprintf(stderr, "%s: %s %s is not supported\n", Backend::kName, what, name ? name : "?");
}

// The part of the variable that a copy touches.
hipError_t symbol_range(const void* symbol, std::size_t bytes, std::size_t offset, std::byte*& start) {
  void* address = nullptr;
  std::size_t size = 0;
  if (!symbol) return hipErrorInvalidSymbol;
  if (const hipError_t status = find_variable(symbol, address, size)) return status;
  if (offset > size || bytes > size - offset) return hipErrorInvalidValue;
  start = static_cast<std::byte*>(address) + offset;
  return hipSuccess;
}

hipError_t copy_to_symbol(const void* symbol, const void* source, std::size_t bytes, std::size_t offset,
                          hipMemcpyKind kind, hipStream_t stream, Wait wait) {
  if (kind != hipMemcpyHostToDevice && !hipdata::is_within_devices(kind) && kind != hipMemcpyDefault)
    return hipErrorInvalidMemcpyDirection;
  std::byte* start = nullptr;
  if (const hipError_t status = symbol_range(symbol, bytes, offset, start)) return status;
  return copy_linear(start, source, bytes, kind, stream, wait);
}

hipError_t copy_from_symbol(void* target, const void* symbol, std::size_t bytes, std::size_t offset,
                            hipMemcpyKind kind, hipStream_t stream, Wait wait) {
  if (kind != hipMemcpyDeviceToHost && !hipdata::is_within_devices(kind) && kind != hipMemcpyDefault)
    return hipErrorInvalidMemcpyDirection;
  std::byte* start = nullptr;
  if (const hipError_t status = symbol_range(symbol, bytes, offset, start)) return status;
  return copy_linear(target, start, bytes, kind, stream, wait);
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

TF_EXPORT void** __hipRegisterFatBinary(const void* data) {
  const auto image = tf::codeobject::wrapped_image(data);
  return programs().add_binary(image ? image.value() : nullptr);
}

TF_EXPORT void __hipUnregisterFatBinary(void** handle) { programs().remove_binary(handle); }

TF_EXPORT void __hipRegisterFunction(void** handle, const void* host, char*, const char* name, unsigned,
                                     void*, void*, dim3*, dim3*, int*) {
  programs().add_function(handle, host, name);
}

TF_EXPORT void __hipRegisterVar(void** handle, void* host, char*, char* name, int, size_t, int, int) {
  programs().add_variable(handle, host, name);
}

TF_EXPORT void __hipRegisterManagedVar(void* handle, void** pointer, void* initial, const char* name,
                                       size_t bytes, unsigned) {
  if (!pointer || !initial || !name || bytes == 0) return;
  ManagedVariable variable;
  variable.pointer = pointer;
  variable.initial = initial;
  variable.name = name;
  variable.bytes = bytes;
  programs().add_managed(static_cast<void**>(handle), std::move(variable));
}

TF_EXPORT void __hipRegisterSurface(void**, void*, char*, char* name, int, int) {
  refuse("surface reference", name);
}

// To kernels it is a variable like others.
TF_EXPORT void __hipRegisterTexture(void** handle, void* host, char*, char* name, int, int, int) {
  programs().add_variable(handle, host, name);
}

hipError_t __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared_bytes, hipStream_t stream) {
  return host_api([&] { return call_configurations().push({grid, block, shared_bytes, stream}); });
}

hipError_t __hipPopCallConfiguration(dim3* grid, dim3* block, size_t* shared_bytes, hipStream_t* stream) {
  return host_api([&] { return call_configurations().pop(grid, block, shared_bytes, stream); });
}

hipError_t hipGetSymbolAddress(void** address, const void* symbol) {
  return api([&] {
    std::size_t bytes = 0;
    return address ? find_variable(symbol, *address, bytes) : hipErrorInvalidValue;
  });
}

hipError_t hipGetSymbolSize(size_t* bytes, const void* symbol) {
  return api([&] {
    void* address = nullptr;
    return bytes ? find_variable(symbol, address, *bytes) : hipErrorInvalidValue;
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
