// SPDX-License-Identifier: Apache-2.0
// Registered host memory, and what is known of a pointer.
#include <cstdint>
#include <cstring>

#include "hipcore/memory/pointer_rules.h"
#include "worker/runtime/cpu/backend.h"

namespace tf::cpu {
namespace {

template <typename Value>
hipError_t answer(void* data, Value value) {
  std::memcpy(data, &value, sizeof value);
  return hipSuccess;
}

}  // namespace

hipError_t Backend::register_host(void* pointer, std::size_t bytes, unsigned flags) {
  Allocation allocation;
  allocation.base = address_of(pointer);
  allocation.bytes = bytes;
  allocation.kind = MemoryKind::kRegistered;
  allocation.device = thread_state().device;
  allocation.flags = flags;
  return Runtime::get().memory.add(allocation) ? hipSuccess : hipErrorHostMemoryAlreadyRegistered;
}

hipError_t Backend::unregister_host(void* pointer) {
  Runtime& runtime = Runtime::get();
  const auto known = runtime.memory.find(pointer);
  if (!known || known->kind != MemoryKind::kRegistered) return hipErrorHostMemoryNotRegistered;
  if (known->base != address_of(pointer)) return hipErrorHostMemoryNotRegistered;
  static_cast<void>(runtime.synchronize());  // what has failed uses it no more
  return runtime.end_memory(pointer) ? hipSuccess : hipErrorHostMemoryNotRegistered;
}

hipError_t Backend::device_pointer(void* host, void*& device) {
  const auto known = Runtime::get().memory.find(host);
  if (!known || !known->on_host()) return hipErrorInvalidValue;
  device = host;
  return hipSuccess;
}

hipError_t Backend::host_flags(void* host, unsigned& flags) {
  const auto known = Runtime::get().memory.find(host);
  if (!known || !known->on_host()) return hipErrorInvalidValue;
  flags = known->flags;
  return hipSuccess;
}

hipError_t Backend::pointer_attributes(const void* pointer, hipPointerAttribute_t& attributes) {
  const auto known = Runtime::get().memory.find(pointer);
  if (!known) return hipErrorInvalidValue;
  void* const address = const_cast<void*>(pointer);
  std::memset(&attributes, 0, sizeof attributes);
  attributes.memoryType = known->on_host() ? hipMemoryTypeHost : hipMemoryTypeDevice;
  attributes.device = known->device;
  attributes.devicePointer = address;
  attributes.hostPointer = known->on_host() || known->kind == MemoryKind::kManaged ? address : nullptr;
  attributes.isManaged = known->kind == MemoryKind::kManaged;
  attributes.allocationFlags = known->flags;
  return hipSuccess;
}

// may_be_late() in copy.cc asks for it.
hipError_t Backend::set_synchronous(void* pointer, bool synchronous) {
  Runtime& runtime = Runtime::get();
  const auto known = runtime.memory.find(pointer);
  if (!known) return hipErrorInvalidDevicePointer;
  return runtime.advice.set_synchronous(known->base, known->bytes, synchronous);
}

hipError_t Backend::pointer_attribute(void* data, hipPointer_attribute attribute, void* pointer) {
  const auto known = Runtime::get().memory.find(pointer);
  if (!known) return hipErrorInvalidValue;
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_CONTEXT: return answer(data, &Runtime::get().device(known->device));
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer(data, known->on_host() ? hipMemoryTypeHost : hipMemoryTypeDevice);
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER: return answer(data, pointer);
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      if (!known->on_host() && known->kind != MemoryKind::kManaged) return hipErrorInvalidValue;
      return answer(data, pointer);
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return answer(data, Runtime::get().advice.is_synchronous(known->base) ? 1u : 0u);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID: return answer(data, hipcore::buffer_id(known->base));
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED: return answer(data, known->kind == MemoryKind::kManaged);
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer(data, known->device);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: return answer(data, known->base);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: return answer(data, known->bytes);
    case HIP_POINTER_ATTRIBUTE_MAPPED: return answer(data, true);
    default: return hipErrorInvalidValue;
  }
}

}  // namespace tf::cpu
