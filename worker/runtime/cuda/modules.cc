// SPDX-License-Identifier: Apache-2.0
// The modules and kernels that the program has.
#include "worker/runtime/cuda/modules.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>

namespace tf::cuda {
namespace {

struct Modules {
  std::shared_mutex mutex;
  std::unordered_map<hipModule_t, int> devices;
  std::unordered_map<const void*, hipModule_t> functions;
};

Modules& modules() {
  static Modules* const all = new Modules;  // for ever, as the Runtime
  return *all;
}

}  // namespace

void add_module(hipModule_t module, int device) {
  const std::unique_lock lock(modules().mutex);
  modules().devices.insert_or_assign(module, device);
}

bool remove_module(hipModule_t module) {
  const std::unique_lock lock(modules().mutex);
  if (modules().devices.erase(module) == 0) return false;
  std::erase_if(modules().functions, [&](const auto& entry) { return entry.second == module; });
  return true;
}

bool is_module(hipModule_t module) {
  const std::shared_lock lock(modules().mutex);
  return modules().devices.contains(module);
}

void remove_modules(int device) {
  Modules& all = modules();
  const std::unique_lock lock(all.mutex);
  std::erase_if(all.devices, [&](const auto& entry) { return entry.second == device; });
  std::erase_if(all.functions, [&](const auto& entry) { return !all.devices.contains(entry.second); });
}

void add_function(hipModule_t module, hipFunction_t function) {
  const std::unique_lock lock(modules().mutex);
  modules().functions.insert_or_assign(function, module);
}

bool is_function(const void* function) {
  const std::shared_lock lock(modules().mutex);
  return modules().functions.contains(function);
}

}  // namespace tf::cuda
