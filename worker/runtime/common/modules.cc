// SPDX-License-Identifier: Apache-2.0
// Modules: loading code, and what is in it.
#include <fstream>
#include <iterator>
#include <vector>

#include "worker/runtime/common/api.h"
#include "worker/runtime/common/extensions.h"
#include "worker/runtime/common/texture_references.h"

namespace tf::runtime {
namespace {

hipError_t load_data(hipModule_t* module, const void* image, unsigned count = 0,
                     hipJitOption* options = nullptr, void** values = nullptr) {
  if (!module || !image) return hipErrorInvalidValue;
  if (const hipError_t status = Backend::require_device()) return status;
  return Backend::load_module(*module, image, count, options, values);
}

hipError_t load_file(hipModule_t* module, const char* path) {
  if (!module || !path) return hipErrorInvalidValue;
  std::ifstream file(path, std::ios::binary);
  if (!file) return hipErrorFileNotFound;
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (bytes.empty()) return hipErrorInvalidImage;
  // The image states its own length, which may be a lie: zeros behind a short file keep header reads inside,
  // and end PTX.
  constexpr std::size_t kSlack_bytes = 4096;
  bytes.resize(bytes.size() + kSlack_bytes);
  return load_data(module, bytes.data());
}

hipError_t get_function(hipFunction_t* function, hipModule_t module, const char* name) {
  if (!function || !name || !*name) return hipErrorInvalidValue;
  return Backend::module_function(module, name, *function);
}

hipError_t get_global(hipDeviceptr_t* pointer, std::size_t* bytes, hipModule_t module, const char* name) {
  if ((!pointer && !bytes) || !name || !*name) return hipErrorInvalidValue;
  void* address = nullptr;
  std::size_t size = 0;
  if (const hipError_t status = Backend::module_variable(module, name, address, size)) return status;
  if (pointer) *pointer = address;
  if (bytes) *bytes = size;
  return hipSuccess;
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  return api([&] { return load_file(module, path); });
}

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return api([&] { return load_data(module, image); });
}

hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned count, hipJitOption* options,
                               void** values) {
  return api([&] { return load_data(module, image, count, options, values); });
}

hipError_t hipModuleUnload(hipModule_t module) {
  return api([&] {
    references().forget_module(tf::graph::address_of(module));
    return Backend::unload_module(module);
  });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return api([&] { return get_function(function, module, name); });
}

TF_EXPORT hipError_t hipModuleGetFunctionCount(unsigned* count, hipModule_t module) {
  return api([&] { return count ? Backend::module_function_count(module, *count) : hipErrorInvalidValue; });
}

TF_EXPORT hipError_t hipRemoteBindManaged(hipModule_t module, const char* name, void* memory) {
  return quiet_api([&] {
    return name && *name && memory ? Backend::bind_in_module(module, name, memory) : hipErrorInvalidValue;
  });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* pointer, size_t* bytes, hipModule_t module, const char* name) {
  return api([&] { return get_global(pointer, bytes, module, name); });
}

}  // extern "C"
