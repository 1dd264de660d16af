// SPDX-License-Identifier: Apache-2.0
// Programs: what compiled programs register before main(): fat binaries, and kernels and variables by host
// address.
//
// Registration only records; a fat binary is loaded on a device when its first kernel or variable is used
// there. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "transport/base/mutex.h"
#include "worker/runtime/common/backend.h"
#include "worker/runtime/common/managed_variables.h"

namespace tf::runtime {

class Programs {
 public:
  using Kernel = Backend::Kernel;
  using Module = Backend::ProgramModule;
  static constexpr std::size_t kMaxRegistrations = 1 << 22;  // fat binaries, kernels, variables, each

  // The handle; null if the table is full. `image` may be null: then nothing in it is found.
  void** add_binary(const void* image);
  void remove_binary(void** handle);
  void add_function(void** handle, const void* host, const char* name);
  void add_variable(void** handle, const void* host, const char* name);
  // Also sets the pointer that host code reads (managed_variables.h).
  void add_managed(void** handle, ManagedVariable variable);

  // REQUIRES for these two: called in api(), on this device. The kernel; hipErrorInvalidDeviceFunction for an
  // address that was not registered.
  hipError_t function(const void* host, int device, Kernel& found);
  // hipErrorInvalidSymbol for an address that was not registered.
  hipError_t variable(const void* host, int device, void*& address, std::size_t& bytes);
  bool is_registered(const void* host) const;
  // The registered name; null if unknown. Lives until its fat binary is unregistered.
  const char* name(const void* host) const;
  // What hipFuncSetAttribute allowed of dynamic shared memory, in bytes, until the kernel is unregistered or
  // the device forgotten. hipFuncGetAttributes tells; launches may have all that there is, as in AMD's
  // runtime.
  void limit_dynamic_bytes(const void* host, int device, int bytes);
  std::optional<int> dynamic_limit_bytes(const void* host, int device) const;
  // The device's context is gone, with everything loaded there.
  void forget_modules(int device);
  // Grows when a lookup may have become wrong. Acquire: what was found at this version is complete.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

 private:
  struct Binary {
    const void* image = nullptr;
    Mutex mutex;
    std::vector<Module> modules TF_GUARDED_BY(mutex);  // by device
    std::vector<std::shared_ptr<ManagedVariable>> managed TF_GUARDED_BY(mutex);
    // By device: how many of the managed variables the module there has been told of.
    std::vector<std::size_t> bound TF_GUARDED_BY(mutex);
  };
  struct Symbol {
    std::shared_ptr<Binary> binary;
    std::string name;
    // By device; under mutex_.
    std::vector<Kernel> functions;  // the resolved ones
    std::vector<std::optional<int>> dynamic_limits;
  };
  using Symbols = std::unordered_map<const void*, Symbol>;

  void add(Symbols& symbols, void** handle, const void* host, const char* name) TF_REQUIRES(mutex_);
  hipError_t load(Binary& binary, int device, Module& module);
  hipError_t bind_managed(Binary& binary, int device, const Module& module) TF_REQUIRES(binary.mutex);

  mutable SharedMutex mutex_;
  std::unordered_map<void**, std::shared_ptr<Binary>> binaries_ TF_GUARDED_BY(mutex_);
  Symbols functions_ TF_GUARDED_BY(mutex_);
  Symbols variables_ TF_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> version_{1};  // release pairs with version()
};

// One for the process, separate from the Backend: registration, before main(), starts no driver and reads no
// settings. Never destroyed.
Programs& programs();

// A variable of the program, on the thread's device. REQUIRES: called in api()
hipError_t find_variable(const void* host, void*& address, std::size_t& bytes);

}  // namespace tf::runtime
