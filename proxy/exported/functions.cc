// SPDX-License-Identifier: Apache-2.0
// Facts about the program's kernels, from their code object's metadata.
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"
#include "proxy/module/registry.h"

namespace tf::proxy::local {
namespace {

// AMD's runtime reports these two for every kernel.
constexpr int kBinaryVersion = 90;

std::shared_ptr<const FunctionFacts> facts_of(const void* function, hipError_t& error) {
  if (function == nullptr) {
    error = hipErrorInvalidDeviceFunction;
    return nullptr;
  }
  Client* client = client_for(error);
  if (client == nullptr) return nullptr;
  std::uint64_t handle = 0;
  error = client->modules().registered_function(thread_state().device, function, handle);
  return error == hipSuccess ? client->modules().facts(handle) : nullptr;
}

}  // namespace

hipError_t hipFuncGetAttributes(struct hipFuncAttributes* attributes, const void* function) {
  if (attributes == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  auto facts = facts_of(function, error);
  if (facts == nullptr) return note_error(error);
  const KernelLayout& layout = *facts->layout;
  const auto& device =
      acquire_client()->snapshot().devices[static_cast<std::size_t>(facts->device)].properties;
  *attributes = {};
  attributes->binaryVersion = kBinaryVersion;
  attributes->ptxVersion = kBinaryVersion;
  attributes->localSizeBytes = layout.private_bytes;
  attributes->sharedSizeBytes = layout.static_shared_bytes;
  attributes->maxThreadsPerBlock = static_cast<int>(layout.max_threads_per_block);
  attributes->numRegs = static_cast<int>(layout.registers);
  attributes->maxDynamicSharedSizeBytes =
      static_cast<int>(device.shared_mem_per_block) - static_cast<int>(layout.static_shared_bytes);
  return note_error(hipSuccess);
}

hipError_t hipFuncSetAttribute(const void* function, hipFuncAttribute, int value) {
  if (value < 0) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  (void)facts_of(function, error);
  return note_error(error);
}

hipError_t hipFuncSetCacheConfig(const void* function, hipFuncCache_t) {
  hipError_t error = hipSuccess;
  (void)facts_of(function, error);
  return note_error(error);
}

hipError_t hipFuncSetSharedMemConfig(const void* function, hipSharedMemConfig) {
  hipError_t error = hipSuccess;
  (void)facts_of(function, error);
  return note_error(error);
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
