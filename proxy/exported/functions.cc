// SPDX-License-Identifier: Apache-2.0
// Facts about the program's kernels, from their code object's metadata.
#include "hipcore/composed/composed.h"
#include "hipcore/launch/function_attributes.h"
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"
#include "proxy/module/registry.h"

hipError_t tf::composed::get_parameter(hipFunction_t function, size_t index, size_t& offset, size_t& bytes) {
  using namespace tf::proxy;
  hipError_t error = hipSuccess;
  Client* const client = local::client_for(error);
  if (client == nullptr) return error;
  const auto facts = client->modules().facts(to_raw(function));
  if (facts == nullptr) return hipErrorInvalidDeviceFunction;
  const auto& arguments = facts->layout->arguments;
  if (index >= arguments.size()) return hipErrorInvalidValue;
  offset = arguments[index].offset_bytes;
  bytes = arguments[index].size_bytes;
  return hipSuccess;
}

namespace tf::proxy::local {
namespace {

// AMD's runtime reports these two for every kernel.
constexpr int kBinaryVersion = 90;

// Null, with `error` set: there is no such function. Else `client` is the client, and `handle` the
// function's.
std::shared_ptr<const FunctionFacts> facts_of(const void* function, Client*& client, hipError_t& error,
                                              std::uint64_t* handle = nullptr) {
  if (function == nullptr) {
    error = hipErrorInvalidDeviceFunction;
    return nullptr;
  }
  client = client_for(error);
  if (client == nullptr) return nullptr;
  std::uint64_t found = 0;
  error = client->modules().registered_function(thread_state().device, function, found);
  if (handle != nullptr) *handle = found;
  return error == hipSuccess ? client->modules().facts(found) : nullptr;
}

// For settings that change nothing here.
hipError_t check_function(const void* function) {
  Client* client = nullptr;
  hipError_t error = hipSuccess;
  static_cast<void>(facts_of(function, client, error));
  return error;
}

// The most that a block may have once its kernel has asked for it: NVIDIA's devices give more than to others.
std::uint64_t shared_bytes_on_request(const protocol::DeviceSnapshot& device) {
  const auto* most = device.attribute(hipDeviceAttributeSharedMemPerBlockOptin);
  const bool known = most != nullptr && most->error == hipSuccess && most->value > 0;
  return known ? static_cast<std::uint64_t>(most->value) : device.properties.shared_mem_per_block;
}

}  // namespace

hipError_t hipFuncGetAttributes(struct hipFuncAttributes* attributes, const void* function) {
  if (attributes == nullptr) return note_error(hipErrorInvalidValue);
  Client* client = nullptr;
  hipError_t error = hipSuccess;
  std::uint64_t handle = 0;
  auto facts = facts_of(function, client, error, &handle);
  if (facts == nullptr) return note_error(error);
  // Runtimes do not agree on what counts, and code for AMD's GPUs does not say what is constant.
  int constant_bytes = 0;
  error = ::hipFuncGetAttribute(&constant_bytes, HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES,
                                reinterpret_cast<hipFunction_t>(handle));
  if (error != hipSuccess) return error;
  const KernelLayout& layout = *facts->layout;
  const auto& device = client->snapshot().devices[static_cast<std::size_t>(facts->device)].properties;
  *attributes = {};
  attributes->binaryVersion = kBinaryVersion;
  attributes->ptxVersion = kBinaryVersion;
  attributes->constSizeBytes = static_cast<std::size_t>(constant_bytes);
  attributes->localSizeBytes = layout.private_bytes;
  attributes->sharedSizeBytes = layout.static_shared_bytes;
  attributes->maxThreadsPerBlock = static_cast<int>(layout.max_threads_per_block);
  attributes->numRegs = static_cast<int>(layout.registers);
  const int limit = facts->dynamic_shared_limit.load(std::memory_order_relaxed);
  attributes->maxDynamicSharedSizeBytes = limit >= 0 ? limit
                                                     : static_cast<int>(device.shared_mem_per_block) -
                                                           static_cast<int>(layout.static_shared_bytes);
  return note_error(hipSuccess);
}

// Launches may have all the shared memory that there is, whatever the limit says, as in AMD's runtime.
hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute attribute, int value) {
  if (!hipcore::takes_attribute(attribute, value)) return note_error(hipErrorInvalidValue);
  Client* client = nullptr;
  hipError_t error = hipSuccess;
  const auto facts = facts_of(function, client, error);
  if (facts == nullptr || attribute != hipFuncAttributeMaxDynamicSharedMemorySize) return note_error(error);
  const auto& device = client->snapshot().devices[static_cast<std::size_t>(facts->device)];
  const std::uint64_t bytes = facts->layout->static_shared_bytes + static_cast<std::uint64_t>(value);
  if (bytes > shared_bytes_on_request(device)) return note_error(hipErrorInvalidValue);
  facts->dynamic_shared_limit.store(value, std::memory_order_relaxed);
  return note_error(hipSuccess);
}

hipError_t hipFuncSetCacheConfig(const void* function, hipFuncCache_t config) {
  if (!hipcore::is_cache_config(config)) return note_error(hipErrorInvalidValue);
  return note_error(check_function(function));
}

hipError_t hipFuncSetSharedMemConfig(const void* function, hipSharedMemConfig config) {
  if (!hipcore::is_shared_config(config)) return note_error(hipErrorInvalidValue);
  return note_error(check_function(function));
}

// Both names live as long as the code object.
const char* hipKernelNameRef(const hipFunction_t function) {
  Client* client = function != nullptr ? acquire_client() : nullptr;
  const FunctionFacts* const facts =
      client != nullptr ? client->modules().borrow_facts(to_raw(function)) : nullptr;
  return facts != nullptr ? facts->layout->name.c_str() : nullptr;
}

const char* hipKernelNameRefByPtr(const void* function, hipStream_t) {
  return Registry::instance().function_name(function);
}

}  // namespace tf::proxy::local
