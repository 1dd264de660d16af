// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cuda/programs.h"

#include <array>

#include "worker/runtime/cuda/module.h"
#include "worker/runtime/cuda/runtime.h"

namespace tf::cuda {
namespace {

// What this thread has found last. Direct mapped: kernels that take each other's place are looked up again.
struct Recent {
  const void* host = nullptr;
  int device = -1;
  std::uint64_t version = 0;
  hipFunction_t function = nullptr;
};
constexpr std::size_t kRecents = 16;
constinit thread_local std::array<Recent, kRecents> recents{};

Recent& recent_of(const void* host) {
  return recents[(reinterpret_cast<std::uintptr_t>(host) >> 4) % kRecents];
}

template <typename Entry>
void put(std::vector<Entry>& entries, int device, Entry value) {
  const auto index = static_cast<std::size_t>(device);
  if (entries.size() <= index) entries.resize(index + 1);
  entries[index] = value;
}

template <typename Entry>
Entry at(const std::vector<Entry>& entries, int device) {
  const auto index = static_cast<std::size_t>(device);
  return index < entries.size() ? entries[index] : nullptr;
}

}  // namespace

Programs& programs() {
  static Programs* const all = new Programs;
  return *all;
}

void** Programs::add_binary(const void* image) {
  const std::unique_lock lock(mutex_);
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
    const std::unique_lock lock(mutex_);
    const auto found = binaries_.find(handle);
    if (found == binaries_.end()) return;
    last = std::move(found->second);
    binaries_.erase(found);
    const auto belongs = [&](const auto& entry) { return entry.second.binary == last; };
    std::erase_if(functions_, belongs);
    std::erase_if(variables_, belongs);
    version_.fetch_add(1, std::memory_order_release);
  }
  const std::lock_guard lock(last->mutex);
  for (const hipModule_t module : last->modules)
    if (module) static_cast<void>(cu().ModuleUnload(module));  // at the program's end the driver may be gone
}

void Programs::add_function(void** handle, const void* host, const char* name) {
  const std::unique_lock lock(mutex_);
  const auto binary = binaries_.find(handle);
  if (binary == binaries_.end() || !host || !name || functions_.size() >= kMaxRegistrations) return;
  functions_.insert_or_assign(host, Symbol{binary->second, name, {}});
  version_.fetch_add(1, std::memory_order_release);
}

void Programs::add_variable(void** handle, const void* host, const char* name) {
  const std::unique_lock lock(mutex_);
  const auto binary = binaries_.find(handle);
  if (binary == binaries_.end() || !host || !name || variables_.size() >= kMaxRegistrations) return;
  variables_.insert_or_assign(host, Symbol{binary->second, name, {}});
}

hipError_t Programs::load(Binary& binary, int device, hipModule_t& module) {
  const std::lock_guard lock(binary.mutex);
  module = at(binary.modules, device);
  if (module) return hipSuccess;
  if (!binary.image) return hipErrorInvalidImage;
  if (const hipError_t status = load_image(module, binary.image, {})) return status;
  put(binary.modules, device, module);
  return hipSuccess;
}

hipError_t Programs::find(const void* host, int device, hipFunction_t& found) {
  std::shared_ptr<Binary> binary;
  std::string name;
  {
    const std::shared_lock lock(mutex_);
    const auto known = functions_.find(host);
    if (known == functions_.end()) return hipErrorInvalidDeviceFunction;
    found = at(known->second.functions, device);
    if (found) return hipSuccess;
    binary = known->second.binary;
    name = known->second.name;
  }
  hipModule_t module = nullptr;
  if (const hipError_t status = load(*binary, device, module)) return status;
  if (find_function(found, module, name.c_str()) != driver::Result::SUCCESS)
    return hipErrorInvalidDeviceFunction;
  const std::unique_lock lock(mutex_);
  const auto known = functions_.find(host);
  if (known == functions_.end() || known->second.binary != binary) return hipSuccess;
  put(known->second.functions, device, found);
  return hipSuccess;
}

hipError_t Programs::function(const void* host, hipFunction_t& found) {
  const int device = thread_state().device;
  Recent& recent = recent_of(host);
  // Acquire: what was found at this version is complete.
  const std::uint64_t version = version_.load(std::memory_order_acquire);
  if (recent.host == host && recent.device == device && recent.version == version) {
    found = recent.function;
    return hipSuccess;
  }
  if (const hipError_t status = find(host, device, found)) return status;
  recent = {host, device, version, found};
  return hipSuccess;
}

hipError_t Programs::variable(const void* host, void*& address, std::size_t& bytes) {
  std::shared_ptr<Binary> binary;
  std::string name;
  {
    const std::shared_lock lock(mutex_);
    const auto known = variables_.find(host);
    if (known == variables_.end()) return hipErrorInvalidSymbol;
    binary = known->second.binary;
    name = known->second.name;
  }
  hipModule_t module = nullptr;
  if (const hipError_t status = load(*binary, thread_state().device, module)) return status;
  const driver::Result result = cu().ModuleGetGlobal(&address, &bytes, module, name.c_str());
  return result == driver::Result::NOT_FOUND ? hipErrorInvalidSymbol : check(result);
}

bool Programs::is_registered(const void* host) const {
  const std::shared_lock lock(mutex_);
  return functions_.contains(host);
}

const char* Programs::name(const void* host) const {
  const std::shared_lock lock(mutex_);
  const auto known = functions_.find(host);
  return known == functions_.end() ? nullptr : known->second.name.c_str();
}

void Programs::forget_modules(int device) {
  const std::unique_lock lock(mutex_);
  for (auto& entry : binaries_) {
    const std::lock_guard binary_lock(entry.second->mutex);
    if (at(entry.second->modules, device)) put(entry.second->modules, device, hipModule_t{});
  }
  for (auto& entry : functions_) {
    if (at(entry.second.functions, device)) put(entry.second.functions, device, hipFunction_t{});
  }
  version_.fetch_add(1, std::memory_order_release);
}

}  // namespace tf::cuda
