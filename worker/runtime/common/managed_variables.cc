// SPDX-License-Identifier: Apache-2.0
// Places managed variables in memory, and takes them out of it.
#include "worker/runtime/common/managed_variables.h"

#include <cstring>
#include <utility>

#include "worker/runtime/common/api.h"
#include "worker/runtime/common/on_device.h"

namespace tf::runtime {

ManagedVariables& managed_variables() {
  static ManagedVariables* const all = new ManagedVariables;
  return *all;
}

std::shared_ptr<ManagedVariable> ManagedVariables::add(ManagedVariable wish) {
  {
    const SharedLock lock(mutex_);
    if (by_pointer_.size() >= kMax || by_pointer_.contains(wish.pointer)) return nullptr;
  }
  const auto variable = std::make_shared<ManagedVariable>(std::move(wish));
  *variable->pointer = variable->initial;
  const hipError_t placed = quiet_api([&]() -> hipError_t {
    if (const hipError_t status = Backend::require_device()) return status;
    return place(*variable);
  });
  static_cast<void>(placed);  // calls that need the device say why there is none
  const MutexLock lock(mutex_);
  by_pointer_.emplace(variable->pointer, variable);
  if (variable->memory) by_memory_.emplace(variable->memory, variable);
  return variable;
}

hipError_t ManagedVariables::place(ManagedVariable& variable) {
  const MutexLock lock(mutex_);
  return variable.memory ? hipSuccess : allocate(variable);
}

hipError_t ManagedVariables::allocate(ManagedVariable& variable) {
  void* memory = nullptr;
  if (const hipError_t status = Backend::allocate_variable(memory, variable.bytes)) return status;
  std::memcpy(memory, variable.initial, variable.bytes);
  variable.memory = memory;
  variable.device = thread().device;
  *variable.pointer = memory;
  const auto known = by_pointer_.find(variable.pointer);
  if (known != by_pointer_.end()) by_memory_.insert_or_assign(memory, known->second);
  return hipSuccess;
}

// Only a variable that is not constant has another value. At the program's end a driver may be gone, and the
// memory with it.
void ManagedVariables::take_out(ManagedVariable& variable) {
  void* const memory = std::exchange(variable.memory, nullptr);
  std::size_t bytes = 0;
  if (!memory || Backend::allocated_bytes(memory, bytes) != hipSuccess || bytes < variable.bytes) return;
  if (std::memcmp(variable.initial, memory, variable.bytes) != 0)
    std::memcpy(variable.initial, memory, variable.bytes);
  *variable.pointer = variable.initial;
  Backend::release_variable(memory, variable.bytes);
}

// Waits for devices, so not with the mutex: host functions may look for variables.
void ManagedVariables::remove(ManagedVariable& variable) {
  {
    const MutexLock lock(mutex_);
    by_memory_.erase(variable.memory);
    by_pointer_.erase(variable.pointer);
  }
  if (!variable.memory) return;
  const hipError_t taken = quiet_api([&] {
    return on_device(variable.device, [&] {
      take_out(variable);
      return hipSuccess;
    });
  });
  static_cast<void>(taken);  // at the program's end there may be no device any more
}

void ManagedVariables::take_from(int device) {
  std::vector<std::shared_ptr<ManagedVariable>> all;
  {
    const MutexLock lock(mutex_);
    for (const auto& [pointer, variable] : by_pointer_)
      if (variable->device == device) all.push_back(variable);
    for (const auto& variable : all) by_memory_.erase(variable->memory);
  }
  if (all.empty()) return;
  const hipError_t taken = on_device(device, [&] {
    for (const auto& variable : all) take_out(*variable);
    return hipSuccess;
  });
  static_cast<void>(taken);  // without the device the memory is gone already
}

std::shared_ptr<ManagedVariable> ManagedVariables::find(const void* host) const {
  const SharedLock lock(mutex_);
  if (const auto found = by_memory_.find(host); found != by_memory_.end()) return found->second;
  const auto found = by_pointer_.find(host);
  return found == by_pointer_.end() ? nullptr : found->second;
}

bool ManagedVariables::holds(const void* memory) const {
  const SharedLock lock(mutex_);
  return by_memory_.contains(memory);
}

}  // namespace tf::runtime
