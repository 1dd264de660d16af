// SPDX-License-Identifier: Apache-2.0
// Module: a loaded code object on a device, its functions and variables; and running a kernel.
// Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "transport/base/mutex.h"
#include "worker/runtime/cpu/kernel_api.h"

namespace tf::cpu {

class Device;
class Module;

// The target of a hipFunction_t. Owned by its module and by the table of live handles.
class Function {
 public:
  Function(const Kernel& kernel, int device) : kernel_(kernel), device_(device) {}

  const Kernel& kernel() const { return kernel_; }
  int device() const { return device_; }
  std::uint32_t max_dynamic_shared_bytes() const { return kMaxSharedBytes - kernel_.static_shared_bytes; }

 private:
  const Kernel& kernel_;  // part of the module's code object
  const int device_;
};

class Module {
 public:
  // See CodeObject::load() for the errors.
  static hipError_t load(const void* image, int device, std::shared_ptr<Module>& loaded);
  Module(std::unique_ptr<CodeObject> object, int device) : object_(std::move(object)), device_(device) {}
  // REQUIRES: the device is idle, so nothing of the module runs.
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  int device() const { return device_; }
  // Null if there is no such kernel, or no room for another handle.
  hipFunction_t function(std::string_view name);
  std::size_t function_count() const { return object_->kernel_count(); }
  // Adds the variable to known memory, so that copies and fills check it.
  void* global(std::string_view name, std::size_t& bytes);
  // As CodeObject::bind_managed().
  bool bind_managed(std::string_view name, void* memory);

 private:
  std::unique_ptr<CodeObject> object_;
  const int device_;
  Mutex mutex_;
  std::map<std::string, std::shared_ptr<Function>, std::less<>> functions_ TF_GUARDED_BY(mutex_);
  std::map<std::string, void*, std::less<>> globals_ TF_GUARDED_BY(mutex_);  // those added to known memory
  std::set<std::string, std::less<>> bound_ TF_GUARDED_BY(mutex_);  // managed variables that lie elsewhere
};

// Runs a kernel, unless the device has failed. If the kernel fails, so does the device.
hipError_t run_kernel(Device& device, const Kernel& kernel, const Grid& grid, const void* arguments);
// Whether this kernel supports this shape; errors as in HIP 5.
hipError_t check_shape(const Kernel& kernel, const Grid& grid);

}  // namespace tf::cpu
