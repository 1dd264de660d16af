// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cpu/module.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>
#include <vector>

#include "worker/runtime/cpu/api.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {

hipError_t Module::load(const void* image, int device, std::shared_ptr<Module>& loaded) {
  std::unique_ptr<CodeObject> object;
  if (const hipError_t status = CodeObject::load(image, object)) return status;
  loaded = std::make_shared<Module>(std::move(object), device);
  return hipSuccess;
}

Module::~Module() {
  Runtime& runtime = Runtime::get();
  for (const auto& entry : functions_)
    runtime.functions.remove(reinterpret_cast<hipFunction_t>(entry.second.get()));
  for (const auto& entry : globals_) runtime.memory.remove(entry.second);
}

hipFunction_t Module::function(std::string_view name) {
  const std::lock_guard lock(mutex_);
  const auto known = functions_.find(name);
  if (known != functions_.end()) return reinterpret_cast<hipFunction_t>(known->second.get());
  const Kernel* const kernel = object_->find(name);
  if (!kernel) return nullptr;
  const auto function = std::make_shared<Function>(*kernel, device_);
  const hipFunction_t handle = Runtime::get().functions.add(function);
  if (handle) functions_.emplace(name, function);
  return handle;
}

void* Module::global(std::string_view name, std::size_t& bytes) {
  void* const address = object_->global(name, bytes);
  if (!address || bytes == 0) return address;
  const std::lock_guard lock(mutex_);
  if (globals_.find(name) != globals_.end()) return address;
  Allocation variable;
  variable.base = reinterpret_cast<std::uintptr_t>(address);
  variable.bytes = bytes;
  variable.kind = MemoryKind::kGlobal;
  variable.device = device_;
  if (Runtime::get().memory.add(variable)) globals_.emplace(name, address);
  return address;
}

hipError_t function_attributes(const Function& function, hipFuncAttributes* attributes) {
  const Kernel& kernel = function.kernel();
  std::memset(attributes, 0, sizeof *attributes);
  attributes->binaryVersion = 90;
  attributes->ptxVersion = 90;
  attributes->localSizeBytes = kernel.private_bytes;
  attributes->sharedSizeBytes = kernel.static_shared_bytes;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(function.max_dynamic_shared_bytes());
  attributes->maxThreadsPerBlock = static_cast<int>(kernel.max_threads_per_block);
  attributes->numRegs = 0;
  return hipSuccess;
}

namespace {

hipError_t load_data(hipModule_t* handle, const void* image) {
  if (!handle || !image) return hipErrorInvalidValue;
  Runtime& runtime = Runtime::get();
  if (runtime.device_count() == 0) return hipErrorNoDevice;
  std::shared_ptr<Module> module;
  if (const hipError_t status = Module::load(image, thread_state().device, module)) return status;
  *handle = runtime.modules.add(std::move(module));
  return *handle ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t load_file(hipModule_t* handle, const char* path) {
  if (!handle || !path) return hipErrorInvalidValue;
  std::ifstream file(path, std::ios::binary);
  if (!file) return hipErrorFileNotFound;
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (bytes.empty()) return hipErrorInvalidValue;
  // The image tells its own length, which may be a lie: zeros behind a short file keep header reads inside.
  constexpr std::size_t kSlack_bytes = 4096;
  bytes.resize(bytes.size() + kSlack_bytes);
  return load_data(handle, bytes.data());
}

hipError_t unload(hipModule_t handle) {
  Runtime& runtime = Runtime::get();
  const auto module = runtime.modules.remove(handle);
  if (!module) return hipErrorInvalidValue;
  static_cast<void>(runtime.device(module->device()).synchronize());  // what has failed uses it no more
  return hipSuccess;                                                  // the last owner, here, unloads it
}

hipError_t get_function(hipFunction_t* function, hipModule_t handle, const char* name) {
  if (!function || !name || !*name) return hipErrorInvalidValue;
  const auto module = Runtime::get().modules.find(handle);
  if (!module) return hipErrorInvalidValue;
  const hipFunction_t found = module->function(name);
  if (!found) return hipErrorNotFound;
  *function = found;
  return hipSuccess;
}

hipError_t get_global(hipDeviceptr_t* pointer, std::size_t* bytes, hipModule_t handle, const char* name) {
  if ((!pointer && !bytes) || !name || !*name) return hipErrorInvalidValue;
  const auto module = Runtime::get().modules.find(handle);
  if (!module) return hipErrorInvalidValue;
  std::size_t size = 0;
  void* const address = module->global(name, size);
  if (!address) return hipErrorNotFound;
  if (pointer) *pointer = address;
  if (bytes) *bytes = size;
  return hipSuccess;
}

hipError_t function_attribute(int* value, hipFunction_attribute attribute, hipFunction_t handle) {
  const auto function = Runtime::get().functions.find(handle);
  if (!value) return hipErrorInvalidValue;
  if (!function) return hipErrorInvalidDeviceFunction;
  const Kernel& kernel = function->kernel();
  switch (attribute) {
    case HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = static_cast<int>(kernel.max_threads_per_block);
      break;
    case HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: *value = static_cast<int>(kernel.static_shared_bytes); break;
    case HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: *value = static_cast<int>(kernel.private_bytes); break;
    case HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      *value = static_cast<int>(function->max_dynamic_shared_bytes());
      break;
    case HIP_FUNC_ATTRIBUTE_PTX_VERSION:
    case HIP_FUNC_ATTRIBUTE_BINARY_VERSION: *value = 90; break;
    case HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    case HIP_FUNC_ATTRIBUTE_NUM_REGS:
    case HIP_FUNC_ATTRIBUTE_CACHE_MODE_CA:
    case HIP_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: *value = 0; break;
    default: return hipErrorInvalidValue;
  }
  return hipSuccess;
}

}  // namespace
}  // namespace tf::cpu

using namespace tf::cpu;

extern "C" {

hipError_t hipModuleLoad(hipModule_t* module, const char* path) {
  return api([&] { return load_file(module, path); });
}

hipError_t hipModuleLoadData(hipModule_t* module, const void* image) {
  return api([&] { return load_data(module, image); });
}

// The options steer a compiler; a code object is compiled already.
hipError_t hipModuleLoadDataEx(hipModule_t* module, const void* image, unsigned, hipJitOption*, void**) {
  return api([&] { return load_data(module, image); });
}

hipError_t hipModuleUnload(hipModule_t module) {
  return api([&] { return unload(module); });
}

hipError_t hipModuleGetFunction(hipFunction_t* function, hipModule_t module, const char* name) {
  return api([&] { return get_function(function, module, name); });
}

hipError_t hipModuleGetGlobal(hipDeviceptr_t* pointer, size_t* bytes, hipModule_t module, const char* name) {
  return api([&] { return get_global(pointer, bytes, module, name); });
}

hipError_t hipFuncGetAttribute(int* value, hipFunction_attribute attribute, hipFunction_t function) {
  return api([&] { return function_attribute(value, attribute, function); });
}

const char* hipKernelNameRef(const hipFunction_t handle) {
  const auto function = Runtime::get().functions.find(handle);
  return function ? function->kernel().name.c_str() : nullptr;
}

}  // extern "C"
