// SPDX-License-Identifier: Apache-2.0
// Modules, their functions and variables, and the program's own __device__ variables.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <new>
#include <span>

#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/memory/copy_kind.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "transport/net/fd.h"

namespace tf::proxy::custom {

using protocol::HandleKind;

namespace {

// `image`: a pointer, or all bytes of a file.
template <typename Image>
hipError_t load(ApiCall& call, hipModule_t* module, Image image) {
  std::uint64_t handle = 0;
  hipError_t error = call.client().modules().load(call.device(), image, handle);
  if (error == hipSuccess) *module = reinterpret_cast<hipModule_t>(handle);
  return call.finish(error);
}

// The bytes of a file. Read, not mapped: if a mapped file shrinks, the process that reads it dies.
class FileBytes {
 public:
  hipError_t open(const char* path) {
    net::OwnedFd fd(::open(path, O_RDONLY | O_CLOEXEC));
    struct stat facts {};
    if (!fd || ::fstat(fd.get(), &facts) != 0) return hipErrorFileNotFound;
    const auto size = static_cast<std::uint64_t>(facts.st_size);
    if (!S_ISREG(facts.st_mode) || size == 0 || size > codeobject::kMaxImageBytes)
      return hipErrorInvalidImage;
    data_.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(size)]);
    if (data_ == nullptr) return hipErrorOutOfMemory;
    while (bytes_ < size) {
      const ssize_t got = ::read(fd.get(), data_.get() + bytes_, static_cast<std::size_t>(size) - bytes_);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return hipErrorFileNotFound;
      if (got == 0) break;  // the file has shrunk
      bytes_ += static_cast<std::size_t>(got);
    }
    return hipSuccess;
  }
  std::span<const std::byte> bytes() const { return {data_.get(), bytes_}; }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t bytes_ = 0;
};

hipError_t copy_symbol(ApiCall& call, const void* symbol, std::size_t bytes, std::size_t offset,
                       hipStream_t stream, bool wait, DeviceVariable& variable, CopyMode& mode) {
  if (!call.connected()) return call.finish();
  if (symbol == nullptr) return call.finish(hipErrorInvalidSymbol);
  if (!copy_mode(call, stream, wait, mode)) return call.finish();
  hipError_t error = call.client().modules().registered_variable(call.device(), symbol, variable);
  if (error != hipSuccess) return call.finish(error);
  if (offset > variable.bytes || bytes > variable.bytes - offset) return call.finish(hipErrorInvalidValue);
  variable.address += offset;
  return hipSuccess;
}

hipError_t to_symbol(ApiCall& call, const void* symbol, const void* source, std::size_t bytes,
                     std::size_t offset, hipMemcpyKind kind, hipStream_t stream, bool wait) {
  if (kind != hipMemcpyHostToDevice && !hipdata::is_within_devices(kind) && kind != hipMemcpyDefault)
    return call.finish(hipErrorInvalidMemcpyDirection);
  DeviceVariable variable;
  CopyMode mode;
  hipError_t error = copy_symbol(call, symbol, bytes, offset, stream, wait, variable, mode);
  if (error != hipSuccess) return error;
  return call.finish(
      copy(call.client().copies(), mode, reinterpret_cast<void*>(variable.address), source, bytes, kind));
}

hipError_t from_symbol(ApiCall& call, void* target, const void* symbol, std::size_t bytes, std::size_t offset,
                       hipMemcpyKind kind, hipStream_t stream, bool wait) {
  if (kind != hipMemcpyDeviceToHost && !hipdata::is_within_devices(kind) && kind != hipMemcpyDefault)
    return call.finish(hipErrorInvalidMemcpyDirection);
  DeviceVariable variable;
  CopyMode mode;
  hipError_t error = copy_symbol(call, symbol, bytes, offset, stream, wait, variable, mode);
  if (error != hipSuccess) return error;
  return call.finish(copy(call.client().copies(), mode, target,
                          reinterpret_cast<const void*>(variable.address), bytes, kind));
}

}  // namespace

hipError_t hipModuleLoad(ApiCall& call, hipModule_t* module, const char* path) {
  if (module == nullptr || path == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  FileBytes file;
  if (hipError_t error = file.open(path); error != hipSuccess) return call.finish(error);
  return load(call, module, file.bytes());
}

hipError_t hipModuleLoadData(ApiCall& call, hipModule_t* module, const void* image) {
  if (module == nullptr || image == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  return load(call, module, image);
}

// The options steer a just-in-time compiler that AMD's runtime does not have either.
hipError_t hipModuleLoadDataEx(ApiCall& call, hipModule_t* module, const void* image, unsigned int,
                               hipJitOption*, void**) {
  return custom::hipModuleLoadData(call, module, image);
}

hipError_t hipModuleUnload(ApiCall& call, hipModule_t module) {
  if (!call.connected()) return call.finish();
  return call.finish(call.client().modules().unload(to_raw(module)));
}

hipError_t hipModuleGetFunction(ApiCall& call, hipFunction_t* function, hipModule_t module,
                                const char* name) {
  if (function == nullptr || name == nullptr || *name == '\0') return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  std::uint64_t handle = 0;
  hipError_t error = call.client().modules().function(to_raw(module), name, handle);
  if (error == hipSuccess) *function = reinterpret_cast<hipFunction_t>(handle);
  return call.finish(error);
}

hipError_t hipModuleGetFunctionCount(ApiCall& call, unsigned int* count, hipModule_t module) {
  if (count == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  return call.finish(call.client().modules().function_count(to_raw(module), *count));
}

hipError_t hipGetFuncBySymbol(ApiCall& call, hipFunction_t* function, const void* host) {
  if (function == nullptr || host == nullptr) return call.finish(hipErrorInvalidDeviceFunction);
  if (!call.connected()) return call.finish();
  std::uint64_t handle = 0;
  const hipError_t error = call.client().modules().registered_function(call.device(), host, handle);
  if (error == hipSuccess) *function = reinterpret_cast<hipFunction_t>(handle);
  const bool is_no_function = error != hipSuccess && !call.client().connection().lost();
  return call.finish(is_no_function ? hipErrorInvalidDeviceFunction : error);
}

hipError_t hipModuleGetGlobal(ApiCall& call, hipDeviceptr_t* pointer, size_t* bytes, hipModule_t module,
                              const char* name) {
  if (name == nullptr || (pointer == nullptr && bytes == nullptr)) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  DeviceVariable variable;
  hipError_t error = call.client().modules().variable(to_raw(module), name, variable);
  if (error != hipSuccess) return call.finish(error);
  if (pointer != nullptr) *pointer = reinterpret_cast<hipDeviceptr_t>(variable.address);
  if (bytes != nullptr) *bytes = variable.bytes;
  return call.finish(hipSuccess);
}

hipError_t hipGetSymbolAddress(ApiCall& call, void** pointer, const void* symbol) {
  if (pointer == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  DeviceVariable variable;
  hipError_t error = call.client().modules().registered_variable(call.device(), symbol, variable);
  if (error == hipSuccess) *pointer = reinterpret_cast<void*>(variable.address);
  return call.finish(error);
}

hipError_t hipGetSymbolSize(ApiCall& call, size_t* bytes, const void* symbol) {
  if (bytes == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  DeviceVariable variable;
  hipError_t error = call.client().modules().registered_variable(call.device(), symbol, variable);
  if (error == hipSuccess) *bytes = variable.bytes;
  return call.finish(error);
}

hipError_t hipMemcpyToSymbol(ApiCall& call, const void* symbol, const void* source, size_t bytes,
                             size_t offset, hipMemcpyKind kind) {
  return to_symbol(call, symbol, source, bytes, offset, kind, nullptr, true);
}

hipError_t hipMemcpyToSymbolAsync(ApiCall& call, const void* symbol, const void* source, size_t bytes,
                                  size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return to_symbol(call, symbol, source, bytes, offset, kind, stream, false);
}

hipError_t hipMemcpyFromSymbol(ApiCall& call, void* target, const void* symbol, size_t bytes, size_t offset,
                               hipMemcpyKind kind) {
  return from_symbol(call, target, symbol, bytes, offset, kind, nullptr, true);
}

hipError_t hipMemcpyFromSymbolAsync(ApiCall& call, void* target, const void* symbol, size_t bytes,
                                    size_t offset, hipMemcpyKind kind, hipStream_t stream) {
  return from_symbol(call, target, symbol, bytes, offset, kind, stream, false);
}

}  // namespace tf::proxy::custom
