// SPDX-License-Identifier: Apache-2.0
// The libraries of the process (HIP 7) and their kernels: a library is a module for each device that uses it,
// and a kernel is the function of the module of the device that was current when it was asked for.
// hipKernel_t and hipFunction_t are the same handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "hipcore/codeobject/fat_binary.h"
#include "hipcore/codeobject/managed.h"
#include "hipcore/codeobject/metadata.h"
#include "hipcore/composed/composed.h"
#include "transport/base/mutex.h"

namespace tf::composed {

inline constexpr std::uint64_t kImageMax_bytes = std::uint64_t{1} << 32;

struct Library {
  std::vector<std::byte> image;        // a copy: the program may free its own
  std::string path;                    // of its file, if it came from one
  std::map<int, hipModule_t> modules;  // by device
};

struct Kernel {
  hipLibrary_t library = nullptr;
  std::string name;
  int device = 0;                      // whose function it is
  std::map<int, int> dynamic_bytes{};  // by device: shared memory that hipKernelSetAttribute allowed
};

// All libraries, and the kernels that were asked for. The mutex is held during calls of HIP, which call
// nothing here. Thread-safe; throws std::bad_alloc.
class Libraries {
 public:
  static constexpr std::size_t kMax = 1 << 16;

  // Loads the library on the thread's device: what cannot be is refused now.
  hipError_t add(Library library, hipLibrary_t& handle) {
    const MutexLock lock(mutex_);
    if (all_.size() >= kMax) return refuse(hipErrorOutOfMemory);
    const auto made = reinterpret_cast<hipLibrary_t>((last_ + 1) << 4);
    const auto entry = all_.emplace(made, std::move(library)).first;
    hipModule_t module = nullptr;
    const hipError_t error = load(entry->second, module);
    if (error != hipSuccess) {
      all_.erase(entry);
      return error;
    }
    ++last_;
    handle = made;
    return hipSuccess;
  }

  // Kernels end with their library. Of several failures the first is answered.
  hipError_t remove(hipLibrary_t handle) {
    const MutexLock lock(mutex_);
    const auto found = all_.find(handle);
    if (found == all_.end()) return refuse(hipErrorInvalidHandle);
    hipError_t first = hipSuccess;
    for (const auto& [device, module] : found->second.modules) {
      const hipError_t error = hipModuleUnload(module);
      if (first == hipSuccess) first = error;
    }
    std::erase_if(kernels_, [&](const auto& entry) { return entry.second.library == handle; });
    all_.erase(found);
    return first;
  }

  // For the thread's device.
  hipError_t get_kernel(hipLibrary_t handle, const char* name, hipKernel_t& kernel) {
    const MutexLock lock(mutex_);
    const auto found = all_.find(handle);
    if (found == all_.end()) return refuse(hipErrorInvalidHandle);
    hipModule_t module = nullptr;
    if (const hipError_t error = load(found->second, module)) return error;
    hipFunction_t function = nullptr;
    if (const hipError_t error = hipModuleGetFunction(&function, module, name)) return error;
    int device = 0;
    if (const hipError_t error = hipGetDevice(&device)) return error;
    const auto made = reinterpret_cast<hipKernel_t>(function);
    kernels_.try_emplace(made, Kernel{.library = handle, .name = name, .device = device});
    kernel = made;
    return hipSuccess;
  }

  // The variable's address and size on the thread's device.
  hipError_t get_global(hipLibrary_t handle, const char* name, hipDeviceptr_t& address, size_t& bytes) {
    const MutexLock lock(mutex_);
    const auto found = all_.find(handle);
    if (found == all_.end()) return refuse(hipErrorInvalidHandle);
    hipModule_t module = nullptr;
    if (const hipError_t error = load(found->second, module)) return error;
    return hipModuleGetGlobal(&address, &bytes, module, name);
  }

  // The kernel on the thread's device. `unknown`: what HIP answers for a kernel of no library.
  hipError_t get_function(hipKernel_t kernel, hipFunction_t& function, hipError_t unknown) {
    const MutexLock lock(mutex_);
    const auto found = kernels_.find(kernel);
    if (found == kernels_.end()) return refuse(unknown);
    int device = 0;
    if (const hipError_t error = hipGetDevice(&device)) return error;
    function = reinterpret_cast<hipFunction_t>(kernel);
    if (device == found->second.device) return hipSuccess;
    const auto library = all_.find(found->second.library);
    if (library == all_.end()) return refuse(unknown);
    hipModule_t module = nullptr;
    if (const hipError_t error = load(library->second, module)) return error;
    return hipModuleGetFunction(&function, module, found->second.name.c_str());
  }

  // What hipKernelSetAttribute allowed on that device; negative: nothing.
  int dynamic_bytes(hipKernel_t kernel, int device) const {
    const MutexLock lock(mutex_);
    const auto found = kernels_.find(kernel);
    if (found == kernels_.end()) return -1;
    const auto allowed = found->second.dynamic_bytes.find(device);
    return allowed == found->second.dynamic_bytes.end() ? -1 : allowed->second;
  }
  void allow_dynamic_bytes(hipKernel_t kernel, int device, int bytes) {
    const MutexLock lock(mutex_);
    const auto found = kernels_.find(kernel);
    if (found != kernels_.end()) found->second.dynamic_bytes[device] = bytes;
  }

  // The kernels that the code for the thread's device describes, in its order. hipErrorNotSupported for code
  // that names none in a form that is read here (NVIDIA's).
  hipError_t get_names(hipLibrary_t handle, std::vector<std::string>& names) const {
    const MutexLock lock(mutex_);
    const auto found = all_.find(handle);
    if (found == all_.end()) return refuse(hipErrorInvalidHandle);
    int device = 0;
    if (const hipError_t error = hipGetDevice(&device)) return error;
    hipDeviceProp_t properties{};
    if (const hipError_t error = hipGetDeviceProperties(&properties, device)) return error;
    auto code = codeobject::select_code_object(found->second.image, properties.gcnArchName);
    if (!code) return refuse(hipErrorNoBinaryForGpu);
    auto kernels = codeobject::read_metadata(code->image);
    if (!kernels) return refuse(hipErrorNotSupported);
    for (const codeobject::KernelInfo& kernel : *kernels) names.push_back(kernel.name);
    return hipSuccess;
  }

  // Null: `kernel` is of no library. Lives until its library is unloaded.
  const Kernel* find(hipKernel_t kernel) const {
    const MutexLock lock(mutex_);
    const auto found = kernels_.find(kernel);
    return found == kernels_.end() ? nullptr : &found->second;
  }

 private:
  // The module of the thread's device.
  static hipError_t load(Library& library, hipModule_t& module) {
    int device = 0;
    if (const hipError_t error = hipGetDevice(&device)) return error;
    const auto [entry, is_new] = library.modules.try_emplace(device, nullptr);
    if (is_new) {
      const hipError_t error = library.path.empty() ? hipModuleLoadData(&entry->second, library.image.data())
                                                    : hipModuleLoad(&entry->second, library.path.c_str());
      if (error != hipSuccess) {
        library.modules.erase(entry);
        return error;
      }
    }
    module = entry->second;
    return hipSuccess;
  }

  mutable Mutex mutex_;
  std::map<hipLibrary_t, Library> all_ TF_GUARDED_BY(mutex_);
  std::map<hipKernel_t, Kernel> kernels_ TF_GUARDED_BY(mutex_);
  std::uintptr_t last_ TF_GUARDED_BY(mutex_) = 0;
};

// Never destroyed: programs call until the process ends.
inline Libraries& libraries() {
  static Libraries& libraries = *new Libraries;
  return libraries;
}

}  // namespace tf::composed
