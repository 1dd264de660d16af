// SPDX-License-Identifier: Apache-2.0
#include "worker/runtime/cpu/programs.h"

#include <utility>
#include <vector>

namespace tf::cpu {

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
  }
  // Nothing of the image may still run when it is unloaded.
  for (int ordinal = 0; ordinal < Runtime::get().device_count(); ++ordinal)
    if (last->modules[static_cast<std::size_t>(ordinal)])
      static_cast<void>(Runtime::get().device(ordinal).synchronize());
}

void Programs::add_function(void** handle, const void* host, const char* name) {
  const std::unique_lock lock(mutex_);
  const auto binary = binaries_.find(handle);
  if (binary == binaries_.end() || !host || !name || functions_.size() >= kMaxRegistrations) return;
  Symbol symbol;
  symbol.binary = binary->second;
  symbol.name = name;
  functions_.insert_or_assign(host, std::move(symbol));
}

void Programs::add_variable(void** handle, const void* host, const char* name, std::size_t bytes) {
  const std::unique_lock lock(mutex_);
  const auto binary = binaries_.find(handle);
  if (binary == binaries_.end() || !host || !name || variables_.size() >= kMaxRegistrations) return;
  Symbol symbol;
  symbol.binary = binary->second;
  symbol.name = name;
  symbol.bytes = bytes;
  variables_.insert_or_assign(host, std::move(symbol));
}

hipError_t Programs::module(Binary& binary, int device, std::shared_ptr<Module>& loaded) {
  const std::lock_guard lock(binary.mutex);
  std::shared_ptr<Module>& slot = binary.modules[static_cast<std::size_t>(device)];
  if (!slot) {
    if (!binary.image) return hipErrorInvalidImage;
    if (const hipError_t status = Module::load(binary.image, device, slot)) return status;
  }
  loaded = slot;
  return hipSuccess;
}

hipError_t Programs::function(const void* host, hipStream_t stream_handle, std::shared_ptr<Function>& found) {
  std::shared_ptr<Stream> stream;
  if (const hipError_t status = find_stream(stream_handle, stream)) return status;
  const int device = stream->device().ordinal();
  const auto index = static_cast<std::size_t>(device);
  std::shared_ptr<Binary> binary;
  std::string name;
  {
    const std::shared_lock lock(mutex_);
    const auto known = functions_.find(host);
    if (known == functions_.end()) return hipErrorInvalidDeviceFunction;
    found = known->second.functions[index];
    if (found) return hipSuccess;
    binary = known->second.binary;
    name = known->second.name;
  }
  std::shared_ptr<Module> loaded;
  if (const hipError_t status = module(*binary, device, loaded)) return status;
  found = Runtime::get().functions.find(loaded->function(name));
  if (!found) return hipErrorInvalidDeviceFunction;
  const std::unique_lock lock(mutex_);
  const auto known = functions_.find(host);
  if (known != functions_.end() && known->second.binary == binary) known->second.functions[index] = found;
  return hipSuccess;
}

hipError_t Programs::variable(const void* host, void** address, std::size_t* bytes) {
  if (Runtime::get().device_count() == 0) return hipErrorNoDevice;
  std::shared_ptr<Binary> binary;
  std::string name;
  {
    const std::shared_lock lock(mutex_);
    const auto known = variables_.find(host);
    if (known == variables_.end()) return hipErrorInvalidSymbol;
    binary = known->second.binary;
    name = known->second.name;
  }
  std::shared_ptr<Module> loaded;
  if (const hipError_t status = module(*binary, thread_state().device, loaded)) return status;
  std::size_t size = 0;
  void* const found = loaded->global(name, size);
  if (!found) return hipErrorInvalidSymbol;
  if (address) *address = found;
  if (bytes) *bytes = size;
  return hipSuccess;
}

const char* Programs::name(const void* host) {
  const std::shared_lock lock(mutex_);
  const auto known = functions_.find(host);
  return known == functions_.end() ? nullptr : known->second.name.c_str();
}

}  // namespace tf::cpu
