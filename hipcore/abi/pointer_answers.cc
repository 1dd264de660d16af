// SPDX-License-Identifier: Apache-2.0
// Answers about pointers. Learnt from AMD's runtimes of 5.6, 6.4 and 7.2.
#include "hipcore/abi/pointer_answers.h"

#include <cstring>

#include "hipcore/abi/layouts.h"
#include "hipcore/abi/rules.h"

namespace tf::abi {
namespace {

constexpr int kNoDevice = -2;  // hipInvalidDeviceId
constexpr int kUnregistered = 0;

template <typename Value>
hipError_t write(void* data, Value value, hipError_t status = hipSuccess) {
  std::memcpy(data, &value, sizeof value);
  return status;
}

// Without regard to the memory.
bool is_unsupported(hipPointer_attribute attribute) {
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_CONTEXT: return !kRules.tells_pointer_contexts;
    case HIP_POINTER_ATTRIBUTE_P2P_TOKENS:
    case HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE:  // AMD's runtime answers it since 7.11
    case HIP_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
    case HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return true;
    default: return false;
  }
}

// Managed memory is the host's here; its own type is only in hipPointerGetAttributes.
int plain_type(const PointerFacts& known) {
  return memory_type_number(known.on_host ? MemoryType::kHost : MemoryType::kDevice, false);
}

// What the memory does not have is written as nothing, with an error: hipDrvPointerGetAttributes has no other
// way to say so.
hipError_t answer_unknown(void* data, hipPointer_attribute attribute, bool is_array) {
  constexpr hipError_t kError = hipErrorInvalidValue;
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return is_array ? write(data, memory_type_number(MemoryType::kArray, false)) : write(data, 0, kError);
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: return write(data, std::uint64_t{0}, kError);
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED:
    case HIP_POINTER_ATTRIBUTE_MAPPED: return write(data, false, kError);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID:
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: return write(data, 0u, kError);
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS: return write(data, 0u);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return write(data, kNoDevice, kError);
    default: return kError;
  }
}

}  // namespace

hipError_t answer_attributes(hipPointerAttribute_t* attributes, const void* pointer,
                             const PointerFacts* known) {
  if (attributes == nullptr) return hipErrorInvalidValue;
  if (pointer == nullptr && !kRules.null_has_attributes) return hipErrorInvalidValue;
  *attributes = {};
  if (known == nullptr) {
    if (!kRules.tells_unregistered) return hipErrorInvalidValue;
    std::memcpy(&attributes->memoryType, &kUnregistered, sizeof kUnregistered);
    attributes->device = kNoDevice;
    return hipSuccess;
  }
  set_memory_type(*attributes, known->on_host ? MemoryType::kHost : MemoryType::kDevice, known->managed());
  attributes->device = known->device;
  attributes->devicePointer = reinterpret_cast<void*>(known->device_address);
  attributes->hostPointer = reinterpret_cast<void*>(known->host_address);
  attributes->isManaged = known->managed();
  attributes->allocationFlags = known->flags;
  return hipSuccess;
}

// The types are AMD's: programs hold the answers in variables of 1 and 4 bytes.
hipError_t answer_attribute(void* data, hipPointer_attribute attribute, const PointerFacts* known,
                            bool is_array) {
  if (is_unsupported(attribute)) return hipErrorNotSupported;
  if (known == nullptr) return answer_unknown(data, attribute, is_array);
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_CONTEXT: return write(data, known->context);
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE: return write(data, plain_type(*known));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return write(data, known->device_address, known->device_address ? hipSuccess : hipErrorInvalidValue);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      return write(data, known->host_address, known->host_address ? hipSuccess : hipErrorInvalidValue);
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: return write(data, known->synchronous);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID: return write(data, known->id);
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED: return write(data, known->managed());
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return write(data, known->device);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: return write(data, known->base);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: return write(data, static_cast<std::uint32_t>(known->bytes));
    case HIP_POINTER_ATTRIBUTE_MAPPED: return write(data, known->device_address != 0);
    case HIP_POINTER_ATTRIBUTE_ACCESS_FLAGS: return write(data, known->flags);
    default: return hipErrorInvalidValue;
  }
}

}  // namespace tf::abi
