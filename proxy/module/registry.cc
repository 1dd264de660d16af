// SPDX-License-Identifier: Apache-2.0
// Records what compiled programs register before main().
#include "proxy/module/registry.h"

#include <utility>

#include "transport/base/mutex.h"

namespace tf::proxy {

Registry& Registry::instance() {
  static Registry& registry = *new Registry;  // on purpose never freed: see the header
  return registry;
}

FatBinary* Registry::known(const void* binary) const {
  auto found = by_address_.find(binary);
  return found == by_address_.end() ? nullptr : found->second;
}

bool Registry::knows(const void* binary) const {
  const MutexLock lock(mutex_);
  return known(binary) != nullptr;
}

FatBinary* Registry::add_binary(const void* wrapper) {
  const MutexLock lock(mutex_);
  binaries_.push_back(FatBinary{wrapper, binaries_.size(), true});
  FatBinary* added = &binaries_.back();
  by_address_.emplace(added, added);
  return added;
}

std::vector<ManagedVariable> Registry::remove_binary(const void* binary) {
  const MutexLock lock(mutex_);
  FatBinary* gone = known(binary);
  if (gone == nullptr) return {};
  gone->registered = false;
  std::erase_if(functions_, [gone](const auto& entry) { return entry.second.binary == gone; });
  std::erase_if(variables_, [gone](const auto& entry) { return entry.second.binary == gone; });
  by_address_.erase(gone);
  auto managed = managed_.extract(gone->index);
  return managed.empty() ? std::vector<ManagedVariable>{} : std::move(managed.mapped());
}

void Registry::add_function(const void* binary, const void* host_function, const char* device_name) {
  const MutexLock lock(mutex_);
  FatBinary* owner = known(binary);
  if (owner != nullptr && device_name != nullptr)
    functions_.insert_or_assign(host_function, RegisteredSymbol{owner, device_name, 0, 0});
}

void Registry::add_variable(const void* binary, const void* variable, const char* device_name,
                            std::size_t bytes) {
  const MutexLock lock(mutex_);
  FatBinary* owner = known(binary);
  if (owner != nullptr && device_name != nullptr)
    variables_.insert_or_assign(variable, RegisteredSymbol{owner, device_name, bytes, 0});
}

void Registry::add_managed(const void* binary, const ManagedVariable& variable) {
  const MutexLock lock(mutex_);
  FatBinary* owner = known(binary);
  if (owner == nullptr || variable.memory == nullptr) return;
  const RegisteredSymbol symbol{owner, variable.name, variable.bytes,
                                reinterpret_cast<std::uint64_t>(variable.memory)};
  variables_.insert_or_assign(variable.pointer, symbol);
  variables_.insert_or_assign(variable.memory, symbol);
  managed_[owner->index].push_back(variable);
}

std::vector<ManagedVariable> Registry::managed(std::size_t index, std::size_t first) const {
  const MutexLock lock(mutex_);
  const auto found = managed_.find(index);
  if (found == managed_.end() || first >= found->second.size()) return {};
  return {found->second.begin() + static_cast<std::ptrdiff_t>(first), found->second.end()};
}

std::optional<RegisteredSymbol> Registry::function(const void* host_function) const {
  const MutexLock lock(mutex_);
  auto found = functions_.find(host_function);
  if (found == functions_.end()) return std::nullopt;
  return found->second;
}

const char* Registry::function_name(const void* host_function) const {
  const MutexLock lock(mutex_);
  auto found = functions_.find(host_function);
  return found == functions_.end() ? nullptr : found->second.name.c_str();
}

std::optional<RegisteredSymbol> Registry::variable(const void* variable) const {
  const MutexLock lock(mutex_);
  auto found = variables_.find(variable);
  if (found == variables_.end()) return std::nullopt;
  return found->second;
}

}  // namespace tf::proxy
