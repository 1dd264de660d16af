// SPDX-License-Identifier: Apache-2.0
// Programs: what compiled programs register before main: fat binaries, kernels and variables by host address.
//
// Registration only remembers; a fat binary is loaded on a device when its first kernel or variable is used
// there. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>

#include "worker/runtime/cpu/module.h"
#include "worker/runtime/cpu/runtime.h"

namespace tf::cpu {

class Programs {
 public:
  static constexpr std::size_t kMaxRegistrations = 1 << 22;  // fat binaries, kernels, variables, each

  // The handle, null when the table is full. `image` may be null: what is in it will not be found.
  void** add_binary(const void* image);
  void remove_binary(void** handle);
  void add_function(void** handle, const void* host, const char* name);
  void add_variable(void** handle, const void* host, const char* name, std::size_t bytes);

  // The kernel on the stream's device (the current one for null).
  hipError_t function(const void* host, hipStream_t stream, std::shared_ptr<Function>& found);
  hipError_t variable(const void* host, void** address, std::size_t* bytes);
  // The registered name, null when unknown. Lives until its fat binary is unregistered.
  const char* name(const void* host);

 private:
  struct Binary {
    const void* image = nullptr;
    std::mutex mutex;
    std::array<std::shared_ptr<Module>, kMaxDevices> modules;  // as loaded; under mutex
  };
  struct Symbol {
    std::shared_ptr<Binary> binary;
    std::string name;
    std::size_t bytes = 0;
    std::array<std::shared_ptr<Function>, kMaxDevices> functions;  // resolved ones; under mutex_
  };

  hipError_t module(Binary& binary, int device, std::shared_ptr<Module>& loaded);

  mutable std::shared_mutex mutex_;
  std::unordered_map<void**, std::shared_ptr<Binary>> binaries_;
  std::unordered_map<const void*, Symbol> functions_;
  std::unordered_map<const void*, Symbol> variables_;
};

}  // namespace tf::cpu
