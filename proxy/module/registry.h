// SPDX-License-Identifier: Apache-2.0
// Registry: the fat binaries, kernels and variables that compiled programs register before main().
//
// Only records: a large library registers thousands, and nothing may be read or sent at that time. One per
// process, usable from static constructors on, never destroyed. Any thread.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>

#include "transport/base/mutex.h"

namespace tf::proxy {

struct FatBinary {
  const void* wrapper = nullptr;  // __CudaFatBinaryWrapper: magic, version, pointer to the bundle
  std::size_t index = 0;          // names it permanently, even after it was unregistered
  bool registered = true;
};

struct RegisteredSymbol {
  const FatBinary* binary = nullptr;
  std::string name;       // in the code object
  std::size_t bytes = 0;  // of a variable
};

class Registry {
 public:
  static Registry& instance();

  FatBinary* add_binary(const void* wrapper);
  void remove_binary(const void* binary);
  // Ignored for binaries we do not know.
  void add_function(const void* binary, const void* host_function, const char* device_name);
  void add_variable(const void* binary, const void* variable, const char* device_name, std::size_t bytes);

  std::optional<RegisteredSymbol> function(const void* host_function) const;
  // The kernel's name in the code object; null if unknown. Lives until its fat binary is unregistered.
  const char* function_name(const void* host_function) const;
  std::optional<RegisteredSymbol> variable(const void* variable) const;

 private:
  Registry() = default;
  FatBinary* known(const void* binary) TF_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::deque<FatBinary> binaries_ TF_GUARDED_BY(mutex_);  // addresses are stable
  std::unordered_map<const void*, FatBinary*> by_address_ TF_GUARDED_BY(mutex_);
  std::unordered_map<const void*, RegisteredSymbol> functions_ TF_GUARDED_BY(mutex_);
  std::unordered_map<const void*, RegisteredSymbol> variables_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::proxy
