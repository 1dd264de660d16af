// SPDX-License-Identifier: Apache-2.0
// Registry: the fat binaries, kernels and variables that compiled programs register before main().
//
// Only records: a large library registers thousands, and nothing may be read or sent at that time. One per
// process, usable from static constructors on, never destroyed. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "transport/base/mutex.h"

namespace tf::proxy {

struct FatBinary {
  const void* wrapper = nullptr;  // __CudaFatBinaryWrapper: magic, version, pointer to the bundle
  std::size_t index = 0;          // names it permanently, even after it was unregistered
  bool registered = true;
};

struct RegisteredSymbol {
  const FatBinary* binary = nullptr;
  std::string name;          // in the code object
  std::size_t bytes = 0;     // of a variable
  std::uint64_t memory = 0;  // of a managed variable
};

// A __managed__ variable. Host code reads it through a pointer, which registering sets to managed memory;
// where there is none, to the first value.
struct ManagedVariable {
  void** pointer = nullptr;
  void* initial = nullptr;  // may be constant
  std::string name;         // in the code object
  std::size_t bytes = 0;
  void* memory = nullptr;  // null: there is none
};

class Registry {
 public:
  static Registry& instance();

  FatBinary* add_binary(const void* wrapper);
  // Returns its managed variables, whose memory nobody else knows any more.
  std::vector<ManagedVariable> remove_binary(const void* binary);
  // Ignored for binaries we do not know.
  void add_function(const void* binary, const void* host_function, const char* device_name);
  void add_variable(const void* binary, const void* variable, const char* device_name, std::size_t bytes);
  void add_managed(const void* binary, const ManagedVariable& variable);
  bool knows(const void* binary) const;

  std::optional<RegisteredSymbol> function(const void* host_function) const;
  // The kernel's name in the code object; null if unknown. Lives until its fat binary is unregistered.
  const char* function_name(const void* host_function) const;
  // A managed variable by its pointer too, or by where its memory begins.
  std::optional<RegisteredSymbol> variable(const void* variable) const;
  // The managed variables with memory of a binary (FatBinary::index), from this number on.
  std::vector<ManagedVariable> managed(std::size_t index, std::size_t first) const;

 private:
  Registry() = default;
  FatBinary* known(const void* binary) const TF_REQUIRES(mutex_);

  mutable Mutex mutex_;
  std::deque<FatBinary> binaries_ TF_GUARDED_BY(mutex_);  // addresses are stable
  std::unordered_map<const void*, FatBinary*> by_address_ TF_GUARDED_BY(mutex_);
  std::unordered_map<const void*, RegisteredSymbol> functions_ TF_GUARDED_BY(mutex_);
  std::unordered_map<const void*, RegisteredSymbol> variables_ TF_GUARDED_BY(mutex_);
  std::unordered_map<std::size_t, std::vector<ManagedVariable>> managed_ TF_GUARDED_BY(mutex_);
};

}  // namespace tf::proxy
