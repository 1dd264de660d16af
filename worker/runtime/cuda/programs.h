// SPDX-License-Identifier: Apache-2.0
// Programs: what compiled programs register before main: fat binaries, kernels and variables by host address.
//
// Registration only remembers; a fat binary is loaded on a device when its first kernel or variable is used
// there. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace tf::cuda {

class Programs {
 public:
  static constexpr std::size_t kMaxRegistrations = 1 << 22;  // fat binaries, kernels, variables, each

  // The handle, null when the table is full. `image` may be null: what is in it will not be found.
  void** add_binary(const void* image);
  void remove_binary(void** handle);
  void add_function(void** handle, const void* host, const char* name);
  void add_variable(void** handle, const void* host, const char* name);

  // REQUIRES: the thread is ready. The kernel on the current device; hipErrorInvalidDeviceFunction for an
  // address that was not registered. A few ns when this thread has asked for it before.
  hipError_t function(const void* host, hipFunction_t& found);
  hipError_t variable(const void* host, void*& address, std::size_t& bytes);
  bool is_registered(const void* host) const;
  // The registered name, null when unknown. Lives until its fat binary is unregistered.
  const char* name(const void* host) const;
  // The device's context is gone, and with it what was loaded there.
  void forget_modules(int device);

 private:
  struct Binary {
    const void* image = nullptr;
    std::mutex mutex;
    std::vector<hipModule_t> modules;  // by device; under mutex
  };
  struct Symbol {
    std::shared_ptr<Binary> binary;
    std::string name;
    std::vector<hipFunction_t> functions;  // by device, the resolved ones; under mutex_
  };

  hipError_t find(const void* host, int device, hipFunction_t& found);
  hipError_t load(Binary& binary, int device, hipModule_t& module);

  mutable std::shared_mutex mutex_;
  std::unordered_map<void**, std::shared_ptr<Binary>> binaries_;
  std::unordered_map<const void*, Symbol> functions_;
  std::unordered_map<const void*, Symbol> variables_;
  // Grows when something found before is no longer so. Release pairs with the acquire of who looks.
  std::atomic<std::uint64_t> version_{1};
};

// For the whole process, and apart from the Runtime: registering, before main, starts no driver. Never
// destroyed.
Programs& programs();

}  // namespace tf::cuda
