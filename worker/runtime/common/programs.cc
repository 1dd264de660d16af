// SPDX-License-Identifier: Apache-2.0
// The tables of registered programs.
#include "worker/runtime/common/programs.h"

#include <utility>

#include "transport/base/mutex.h"

namespace tf::runtime {
namespace {

template <typename Entry>
void put(std::vector<Entry>& entries, int device, Entry value) {
  const auto index = static_cast<std::size_t>(device);
  if (entries.size() <= index) entries.resize(index + 1);
  entries[index] = std::move(value);
}

template <typename Entry>
Entry at(const std::vector<Entry>& entries, int device) {
  const auto index = static_cast<std::size_t>(device);
  return index < entries.size() ? entries[index] : Entry();
}

}  // namespace

Programs& programs() {
  static Programs* const all = new Programs;
  return *all;
}

hipError_t find_variable(const void* host, void*& address, std::size_t& bytes) {
  if (const hipError_t status = Backend::require_device()) return status;
  return programs().variable(host, Backend::thread().device, address, bytes);
}

void** Programs::add_binary(const void* image) {
  const MutexLock lock(mutex_);
  if (binaries_.size() >= kMaxRegistrations) return nullptr;
  const auto binary = std::make_shared<Binary>();
  binary->image = image;
  void** const handle = reinterpret_cast<void**>(binary.get());
  binaries_.emplace(handle, binary);
  return handle;
}

void Programs::remove_binary(void** handle) {
  std::shared_ptr<Binary> last;
  {
    const MutexLock lock(mutex_);
    const auto found = binaries_.find(handle);
    if (found == binaries_.end()) return;
    last = std::move(found->second);
    binaries_.erase(found);
    const auto belongs = [&](const auto& entry) { return entry.second.binary == last; };
    std::erase_if(functions_, belongs);
    std::erase_if(variables_, belongs);
    version_.fetch_add(1, std::memory_order_release);
  }
  const MutexLock lock(last->mutex);
  for (const Module& module : last->modules)
    if (module) Backend::unload_program(module);
  for (const auto& variable : last->managed) managed_variables().remove(*variable);
}

void Programs::add(Symbols& symbols, void** handle, const void* host, const char* name) {
  const auto binary = binaries_.find(handle);
  if (binary == binaries_.end() || !host || !name || symbols.size() >= kMaxRegistrations) return;
  symbols.insert_or_assign(host, Symbol{binary->second, name, {}, {}});
  version_.fetch_add(1, std::memory_order_release);
}

void Programs::add_function(void** handle, const void* host, const char* name) {
  const MutexLock lock(mutex_);
  add(functions_, handle, host, name);
}

void Programs::add_variable(void** handle, const void* host, const char* name) {
  const MutexLock lock(mutex_);
  add(variables_, handle, host, name);
}

void Programs::add_managed(void** handle, ManagedVariable wish) {
  std::shared_ptr<Binary> binary;
  {
    const SharedLock lock(mutex_);
    const auto found = binaries_.find(handle);
    if (found == binaries_.end()) return;
    binary = found->second;
  }
  const auto variable = managed_variables().add(std::move(wish));
  if (!variable) return;
  const MutexLock lock(binary->mutex);
  binary->managed.push_back(variable);
}

hipError_t Programs::load(Binary& binary, int device, Module& module) {
  const MutexLock lock(binary.mutex);
  module = at(binary.modules, device);
  if (module) return bind_managed(binary, device, module);
  if (!binary.image) return hipErrorInvalidImage;
  if (const hipError_t status = Backend::load_program(binary.image, device, module)) return status;
  put(binary.modules, device, module);
  put(binary.bound, device, std::size_t{0});
  return bind_managed(binary, device, module);
}

// Code that was compiled for the device need not have what no kernel uses.
hipError_t Programs::bind_managed(Binary& binary, int device, const Module& module) {
  for (std::size_t i = at(binary.bound, device); i < binary.managed.size(); ++i) {
    ManagedVariable& variable = *binary.managed[i];
    if (const hipError_t status = managed_variables().place(variable)) return status;
    const hipError_t status = Backend::bind_in_program(module, variable.name.c_str(), variable.memory);
    if (status != hipSuccess && status != hipErrorInvalidSymbol) return status;
    put(binary.bound, device, i + 1);
  }
  return hipSuccess;
}

hipError_t Programs::function(const void* host, int device, Kernel& found) {
  std::shared_ptr<Binary> binary;
  std::string name;
  {
    const SharedLock lock(mutex_);
    const auto known = functions_.find(host);
    if (known == functions_.end()) return hipErrorInvalidDeviceFunction;
    found = at(known->second.functions, device);
    if (found) return hipSuccess;
    binary = known->second.binary;
    name = known->second.name;
  }
  Module module{};
  if (const hipError_t status = load(*binary, device, module)) return status;
  if (!Backend::find_in_program(module, name.c_str(), found)) return hipErrorInvalidDeviceFunction;
  const MutexLock lock(mutex_);
  const auto known = functions_.find(host);
  if (known != functions_.end() && known->second.binary == binary)
    put(known->second.functions, device, found);
  return hipSuccess;
}

hipError_t Programs::variable(const void* host, int device, void*& address, std::size_t& bytes) {
  if (const auto managed = managed_variables().find(host)) {
    if (const hipError_t status = managed_variables().place(*managed)) return status;
    address = managed->memory;
    bytes = managed->bytes;
    return hipSuccess;
  }
  std::shared_ptr<Binary> binary;
  std::string name;
  {
    const SharedLock lock(mutex_);
    const auto known = variables_.find(host);
    if (known == variables_.end()) return hipErrorInvalidSymbol;
    binary = known->second.binary;
    name = known->second.name;
  }
  Module module{};
  if (const hipError_t status = load(*binary, device, module)) return status;
  return Backend::variable_in_program(module, name.c_str(), address, bytes);
}

bool Programs::is_registered(const void* host) const {
  const SharedLock lock(mutex_);
  return functions_.contains(host);
}

const char* Programs::name(const void* host) const {
  const SharedLock lock(mutex_);
  const auto known = functions_.find(host);
  return known == functions_.end() ? nullptr : known->second.name.c_str();
}

void Programs::limit_dynamic_bytes(const void* host, int device, int bytes) {
  const MutexLock lock(mutex_);
  const auto known = functions_.find(host);
  if (known != functions_.end()) put(known->second.dynamic_limits, device, std::optional<int>(bytes));
}

std::optional<int> Programs::dynamic_limit_bytes(const void* host, int device) const {
  const SharedLock lock(mutex_);
  const auto known = functions_.find(host);
  return known == functions_.end() ? std::nullopt : at(known->second.dynamic_limits, device);
}

void Programs::forget_modules(int device) {
  const MutexLock lock(mutex_);
  for (auto& entry : binaries_) {
    const MutexLock binary_lock(entry.second->mutex);
    if (at(entry.second->modules, device)) put(entry.second->modules, device, Module());
  }
  for (auto& entry : functions_) {
    if (at(entry.second.functions, device)) put(entry.second.functions, device, Kernel());
    if (at(entry.second.dynamic_limits, device))
      put(entry.second.dynamic_limits, device, std::optional<int>());
  }
  version_.fetch_add(1, std::memory_order_release);
}

}  // namespace tf::runtime
