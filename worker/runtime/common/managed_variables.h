// SPDX-License-Identifier: Apache-2.0
// Managed variables (__managed__) of compiled programs.
//
// The compiler makes of each a pointer, through which the program's host code reads it, a first value, and in
// the device code a pointer of the same name (hipcore/codeobject/managed.h). Host code may read it as soon as
// it is registered, so the memory is allocated then, and the device starts then, as in AMD's runtime. Where
// that fails the variable is its first value, and only host code reaches it. Thread-safe.
#pragma once

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "transport/base/mutex.h"

namespace tf::runtime {

struct ManagedVariable {
  void** pointer = nullptr;  // what host code reads
  void* initial = nullptr;   // may be constant
  std::string name;          // in the device code
  std::size_t bytes = 0;
  int device = 0;
  void* memory = nullptr;  // null: there is none (any more)
};

class ManagedVariables {
 public:
  static constexpr std::size_t kMax = 1 << 20;

  // Allocates its memory, and sets the pointer. Null if it is known (a header's variable, of several
  // sources), or there are too many.
  std::shared_ptr<ManagedVariable> add(ManagedVariable variable);
  // It has memory afterwards. REQUIRES: called in api(), on a device
  hipError_t place(ManagedVariable& variable);
  // Host code finds the last value where the first one was; the memory is gone.
  // Waits until devices do not use it.
  void remove(ManagedVariable& variable);
  // The variable by the address of its memory, which `&variable` is in host code, or of its pointer; null:
  // none.
  std::shared_ptr<ManagedVariable> find(const void* host) const;
  // A variable's memory begins there: it is not the program's to free.
  bool holds(const void* memory) const;
  // The memory of the device's variables goes; place() brings them back. REQUIRES: called in api()
  void take_from(int device);

 private:
  static void take_out(ManagedVariable& variable);
  hipError_t allocate(ManagedVariable& variable) TF_REQUIRES(mutex_);

  mutable SharedMutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<ManagedVariable>> by_pointer_ TF_GUARDED_BY(mutex_);
  std::unordered_map<const void*, std::shared_ptr<ManagedVariable>> by_memory_ TF_GUARDED_BY(mutex_);
};

// One for the process. Never destroyed.
ManagedVariables& managed_variables();

}  // namespace tf::runtime
