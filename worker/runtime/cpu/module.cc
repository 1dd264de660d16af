// SPDX-License-Identifier: Apache-2.0
// Modules: code objects on a device, their content, and their handles.
#include "worker/runtime/cpu/module.h"

#include <utility>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/backend.h"

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
  for (const auto& entry : globals_) runtime.end_memory(entry.second);
}

hipFunction_t Module::function(std::string_view name) {
  const MutexLock lock(mutex_);
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
  const MutexLock lock(mutex_);
  const bool elsewhere = bound_.find(name) != bound_.end();  // and known to who has it
  if (elsewhere || globals_.find(name) != globals_.end()) return address;
  Allocation variable;
  variable.base = reinterpret_cast<std::uintptr_t>(address);
  variable.bytes = bytes;
  variable.kind = object_->has_managed(name) ? MemoryKind::kManaged : MemoryKind::kGlobal;
  variable.is_variable = true;
  variable.device = device_;
  if (Runtime::get().begin_memory(variable)) globals_.emplace(name, address);
  return address;
}

bool Module::bind_managed(std::string_view name, void* memory) {
  const MutexLock lock(mutex_);
  if (!object_->bind_managed(name, memory)) return false;
  bound_.emplace(name);
  return true;
}

hipError_t Backend::load_program(const void* image, int device, ProgramModule& module) {
  return Module::load(image, device, module);
}

bool Backend::find_in_program(const ProgramModule& module, const char* name, Kernel& kernel) {
  kernel = Kernel(Runtime::get().functions.find(module->function(name)));
  return static_cast<bool>(kernel);
}

hipError_t Backend::variable_in_program(const ProgramModule& module, const char* name, void*& address,
                                        std::size_t& bytes) {
  std::size_t size = 0;
  void* const found = module->global(name, size);
  if (!found) return hipErrorInvalidSymbol;
  address = found;
  bytes = size;
  return hipSuccess;
}

hipError_t Backend::bind_in_program(const ProgramModule& module, const char* name, void* memory) {
  return module->bind_managed(name, memory) ? hipSuccess : hipErrorInvalidSymbol;
}

// REQUIRES: nothing of the image runs when its last owner goes.
void Backend::unload_program(const ProgramModule& module) {
  static_cast<void>(Runtime::get().device(module->device()).synchronize());
}

// The options are for a compiler; a code object is compiled already.
hipError_t Backend::load_module(hipModule_t& handle, const void* image, unsigned, hipJitOption*, void**) {
  std::shared_ptr<Module> module;
  if (const hipError_t status = Module::load(image, thread_state().device, module)) return status;
  handle = Runtime::get().modules.add(std::move(module));
  return handle ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t Backend::unload_module(hipModule_t handle) {
  Runtime& runtime = Runtime::get();
  const auto module = runtime.modules.remove(handle);
  if (!module) return hipErrorInvalidValue;
  static_cast<void>(runtime.device(module->device()).synchronize());  // what has failed uses it no more
  return hipSuccess;                                                  // the last owner, here, unloads it
}

hipError_t Backend::module_function(hipModule_t handle, const char* name, hipFunction_t& function) {
  const auto module = Runtime::get().modules.find(handle);
  if (!module) return hipErrorInvalidValue;
  const hipFunction_t found = module->function(name);
  if (!found) return hipErrorNotFound;
  function = found;
  return hipSuccess;
}

hipError_t Backend::module_function_count(hipModule_t handle, unsigned& count) {
  const auto module = Runtime::get().modules.find(handle);
  if (!module) return hipErrorInvalidHandle;
  count = static_cast<unsigned>(module->function_count());
  return hipSuccess;
}

hipError_t Backend::module_variable(hipModule_t handle, const char* name, void*& address,
                                    std::size_t& bytes) {
  const auto module = Runtime::get().modules.find(handle);
  if (!module) return hipErrorInvalidValue;
  address = module->global(name, bytes);
  return address ? hipSuccess : hipErrorNotFound;
}

hipError_t Backend::bind_in_module(hipModule_t handle, const char* name, void* memory) {
  const auto module = Runtime::get().modules.find(handle);
  if (!module) return hipErrorInvalidHandle;
  return module->bind_managed(name, memory) ? hipSuccess : hipErrorNotFound;
}

}  // namespace tf::cpu
