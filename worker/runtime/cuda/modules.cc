// SPDX-License-Identifier: Apache-2.0
// The modules and kernels that the program has.
#include "worker/runtime/cuda/modules.h"

#include <algorithm>
#include <functional>
#include <map>
#include <unordered_map>

#include "transport/base/mutex.h"
#include "worker/runtime/common/managed_variables.h"

namespace tf::cuda {
namespace {

struct Modules {
  SharedMutex mutex;
  std::unordered_map<hipModule_t, int> devices TF_GUARDED_BY(mutex);
  std::unordered_map<const void*, hipModule_t> functions TF_GUARDED_BY(mutex);
  std::unordered_map<hipModule_t, std::map<std::string, ManagedMemory, std::less<>>> managed
      TF_GUARDED_BY(mutex);
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
  std::erase_if(all.managed,
                [&](const auto& entry) TF_REQUIRES(all.mutex) { return !all.devices.contains(entry.first); });
  std::erase_if(all.functions, [&](const auto& entry)
                                   TF_REQUIRES(all.mutex) { return !all.devices.contains(entry.second); });
}

void add_managed(hipModule_t module, const std::string& name, ManagedMemory memory) {
  const MutexLock lock(modules().mutex);
  modules().managed[module].insert_or_assign(name, memory);
}

std::optional<ManagedMemory> find_managed(hipModule_t module, std::string_view name) {
  Modules& all = modules();
  const SharedLock lock(all.mutex);
  const auto variables = all.managed.find(module);
  if (variables == all.managed.end()) return std::nullopt;
  const auto found = variables->second.find(name);
  return found == variables->second.end() ? std::nullopt : std::optional(found->second);
}

bool is_managed_variable(const void* memory) {
  if (runtime::managed_variables().holds(memory)) return true;
  const SharedLock lock(modules().mutex);
  return std::any_of(modules().managed.begin(), modules().managed.end(), [&](const auto& of_module) {
    return std::any_of(of_module.second.begin(), of_module.second.end(),
                       [&](const auto& variable) { return variable.second.memory == memory; });
  });
}

std::vector<ManagedMemory> take_managed(hipModule_t module) {
  std::vector<ManagedMemory> taken;
  const MutexLock lock(modules().mutex);
  const auto variables = modules().managed.extract(module);
  if (variables.empty()) return taken;
  for (const auto& [name, memory] : variables.mapped()) taken.push_back(memory);
  return taken;
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
