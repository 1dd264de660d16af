// SPDX-License-Identifier: Apache-2.0
// Registered host memory, and what is known of a pointer.
#include <cstdint>

#include "hipcore/memory/mapped.h"
#include "worker/runtime/cpu/backend.h"

namespace tf::cpu {
hipError_t Backend::register_host(void* pointer, std::size_t bytes, unsigned flags) {
  if (!hipcore::is_mapped(pointer, bytes)) return hipErrorInvalidValue;
  Allocation allocation;
  allocation.base = address_of(pointer);
  allocation.bytes = bytes;
  allocation.kind = MemoryKind::kRegistered;
  allocation.device = thread_state().device;
  allocation.flags = flags;
  return Runtime::get().begin_memory(allocation) ? hipSuccess : hipErrorHostMemoryAlreadyRegistered;
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

bool Backend::pointer_facts(const void* pointer, abi::PointerFacts& facts) {
  const auto known = Runtime::get().memory.find(pointer);
  if (!known) return false;
  const bool managed = known->kind == MemoryKind::kManaged;
  facts.on_host = known->on_host() || managed;
  facts.on_device = !known->on_host();
  facts.device = known->device;
  facts.base = known->base;
  facts.bytes = known->bytes;
  facts.flags = known->flags;
  facts.device_address = address_of(pointer);
  facts.host_address = facts.on_host ? address_of(pointer) : 0;
  facts.synchronous = Runtime::get().advice.is_synchronous(known->base);
  return true;
}

hipError_t Backend::buffer_id(const void* pointer, std::uint32_t& id) {
  const auto known = Runtime::get().memory.find(pointer);
  return known ? Runtime::get().advice.id_of(known->base, id) : hipErrorInvalidValue;
}

// may_be_late() in copy.cc asks for it.
hipError_t Backend::set_synchronous(void* pointer, bool synchronous) {
  Runtime& runtime = Runtime::get();
  const auto known = runtime.memory.find(pointer);
  if (!known) return hipErrorInvalidDevicePointer;
  return runtime.advice.set_synchronous(known->base, known->bytes, synchronous);
}

}  // namespace tf::cpu
