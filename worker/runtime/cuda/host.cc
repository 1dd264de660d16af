// SPDX-License-Identifier: Apache-2.0
// Host memory that devices reach, and what a pointer is.
//
// All of it is portable and mapped whatever the flags say, as on AMD's runtime, and has one address
// everywhere.
#include "worker/runtime/cuda/backend.h"
#include "worker/runtime/cuda/modules.h"

// Behind the others: <sys/mman.h> defines MAP_FAILED, which is one of the driver's results.
#include "hipcore/memory/mapped.h"

namespace tf::cuda {
namespace {

constexpr unsigned kAlways = driver::kHostPortable | driver::kHostMapped;

template <typename Value>
bool ask(void* pointer, int attribute, Value& value) {
  return cu().PointerGetAttribute(&value, attribute, pointer) == driver::Result::SUCCESS;
}

}  // namespace

hipError_t Backend::allocate_host(void*& pointer, std::size_t bytes, unsigned flags) {
  const unsigned combined = flags & hipHostMallocWriteCombined ? driver::kHostWriteCombined : 0;
  const hipError_t status = check(cu().MemHostAlloc(&pointer, bytes, kAlways | combined));
  if (status == hipSuccess)
    Runtime::get().host_memory.add(pointer,
                                   {bytes, thread_state().device, flags, hipcore::coherency_of_host(flags)});
  return status;
}

hipError_t Backend::free_host(void* pointer) {
  if (is_managed_variable(pointer)) return hipErrorInvalidValue;
  Runtime::get().forget_advice(pointer);
  const driver::Result result = cu().MemFreeHost(pointer);
  if (result == driver::Result::SUCCESS) Runtime::get().host_memory.remove(pointer);
  return result == driver::Result::INVALID_VALUE ? check(cu().MemFree(pointer)) : check(result);
}

hipError_t Backend::register_host(void* pointer, std::size_t bytes, unsigned flags) {
  const hipError_t status =
      check(cu().MemHostRegister(pointer, bytes, kAlways | (flags & hipHostRegisterIoMemory)));
  // The driver calls it out of memory.
  if (status != hipSuccess && !hipcore::is_mapped(pointer, bytes)) return hipErrorInvalidValue;
  if (status == hipSuccess)
    Runtime::get().host_memory.add(
        pointer, {bytes, thread_state().device, flags, hipcore::coherency_of_registered(flags)});
  return status;
}

hipError_t Backend::unregister_host(void* pointer) {
  const driver::Result result = cu().MemHostUnregister(pointer);
  if (result == driver::Result::SUCCESS) Runtime::get().host_memory.remove(pointer);
  return result == driver::Result::INVALID_VALUE ? hipErrorHostMemoryNotRegistered : check(result);
}

hipError_t Backend::device_pointer(void* host, void*& device) {
  return check(cu().MemHostGetDevicePointer(&device, host, 0));
}

hipError_t Backend::host_flags(void* host, unsigned& flags) {
  if (Runtime::get().host_memory.flags(host, flags)) return hipSuccess;
  return check(cu().MemHostGetFlags(&flags, host));
}

bool Backend::pointer_facts(const void* address, abi::PointerFacts& facts) {
  void* const pointer = const_cast<void*>(address);
  unsigned type = 0;
  if (!ask(pointer, driver::kPointerMemoryType, type)) return false;
  unsigned managed = 0;
  static_cast<void>(ask(pointer, driver::kPointerIsManaged, managed));
  const bool pinned = type == driver::kMemoryHost && !managed;
  facts.on_device = !pinned;
  facts.on_host = pinned || managed;
  static_cast<void>(ask(pointer, driver::kPointerDeviceOrdinal, facts.device));
  static_cast<void>(ask(pointer, driver::kPointerRangeStart, facts.base));
  static_cast<void>(ask(pointer, driver::kPointerRangeBytes, facts.bytes));
  if (!ask(pointer, driver::kPointerDevicePointer, facts.device_address))
    facts.device_address = graph::address_of(pointer);
  facts.host_address = facts.on_host ? graph::address_of(pointer) : 0;
  if (pinned) static_cast<void>(host_flags(pointer, facts.flags));
  if (managed) facts.flags = hipMemAttachGlobal;
  std::uint64_t synchronous = 0;
  static_cast<void>(ask(pointer, driver::kPointerSynchronous, synchronous));
  facts.synchronous = synchronous != 0;
  return true;
}

// The driver counts all its allocations.
hipError_t Backend::buffer_id(const void* pointer, std::uint32_t& id) {
  std::uint64_t number = 0;
  const hipError_t status =
      check(cu().PointerGetAttribute(&number, driver::kPointerBufferId, const_cast<void*>(pointer)));
  id = static_cast<std::uint32_t>(number);
  return status;
}

hipError_t Backend::set_synchronous(void* pointer, bool synchronous) {
  const unsigned value = synchronous ? 1 : 0;
  const hipError_t status = check(cu().PointerSetAttribute(&value, driver::kPointerSynchronous, pointer));
  return status == hipErrorInvalidValue ? hipErrorInvalidDevicePointer : status;
}

}  // namespace tf::cuda
