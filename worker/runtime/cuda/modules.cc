// SPDX-License-Identifier: Apache-2.0
// The modules and kernels that the program has.
#include "worker/runtime/cuda/modules.h"

#include <algorithm>
#include <unordered_map>

#include "transport/base/mutex.h"

namespace tf::cuda {
namespace {

struct Modules {
  SharedMutex mutex;
  std::unordered_map<hipModule_t, int> devices TF_GUARDED_BY(mutex);
  std::unordered_map<const void*, hipModule_t> functions TF_GUARDED_BY(mutex);
};

Modules& modules() {
  static Modules* const all = new Modules;  // for ever, as the Runtime
  return *all;
}

}  // namespace

void add_module(hipModule_t module, int device) {
  const MutexLock lock(modules().mutex);
  modules().devices.insert_or_assign(module, device);
}

bool remove_module(hipModule_t module) {
  const MutexLock lock(modules().mutex);
  if (modules().devices.erase(module) == 0) return false;
  std::erase_if(modules().functions, [&](const auto& entry) { return entry.second == module; });
  return true;
}

bool is_module(hipModule_t module) {
  const SharedLock lock(modules().mutex);
  return modules().devices.contains(module);
}

void remove_modules(int device) {
  Modules& all = modules();
  const MutexLock lock(all.mutex);
  std::erase_if(all.devices, [&](const auto& entry) { return entry.second == device; });
  std::erase_if(all.functions, [&](const auto& entry)
                                   TF_REQUIRES(all.mutex) { return !all.devices.contains(entry.second); });
}

void add_function(hipModule_t module, hipFunction_t function) {
  const MutexLock lock(modules().mutex);
  modules().functions.insert_or_assign(function, module);
}

bool is_function(const void* function) {
  const SharedLock lock(modules().mutex);
  return modules().functions.contains(function);
}

}  // namespace tf::cuda
