// SPDX-License-Identifier: Apache-2.0
// Host memory that devices reach, and what a pointer is.
//
// All of it is portable and mapped whatever the flags say, as on AMD's runtime, and has one address
// everywhere.
#include <cstring>

#include "worker/runtime/cuda/backend.h"

namespace tf::cuda {
namespace {

constexpr unsigned kAlways = driver::kHostPortable | driver::kHostMapped;

template <typename Value>
bool ask(void* pointer, int attribute, Value& value) {
  return cu().PointerGetAttribute(&value, attribute, pointer) == driver::Result::SUCCESS;
}

// Yes or no: a bool of HIP's, where the driver may write a whole word.
bool is_flag(hipPointer_attribute attribute) {
  return attribute == HIP_POINTER_ATTRIBUTE_IS_MANAGED || attribute == HIP_POINTER_ATTRIBUTE_MAPPED ||
         attribute == HIP_POINTER_ATTRIBUTE_IS_LEGACY_HIP_IPC_CAPABLE ||
         attribute == HIP_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE;
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
  Runtime::get().forget_advice(pointer);
  const driver::Result result = cu().MemFreeHost(pointer);
  if (result == driver::Result::SUCCESS) Runtime::get().host_memory.remove(pointer);
  return result == driver::Result::INVALID_VALUE ? check(cu().MemFree(pointer)) : check(result);
}

hipError_t Backend::register_host(void* pointer, std::size_t bytes, unsigned flags) {
  const hipError_t status =
      check(cu().MemHostRegister(pointer, bytes, kAlways | (flags & hipHostRegisterIoMemory)));
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

hipError_t Backend::pointer_attributes(const void* address, hipPointerAttribute_t& attributes) {
  void* const pointer = const_cast<void*>(address);
  unsigned type = 0;
  if (!ask(pointer, driver::kPointerMemoryType, type)) return hipErrorInvalidValue;
  std::memset(&attributes, 0, sizeof attributes);
  unsigned managed = 0;
  static_cast<void>(ask(pointer, driver::kPointerIsManaged, managed));
  const bool on_host = type == driver::kMemoryHost && !managed;
  attributes.memoryType = on_host ? hipMemoryTypeHost : hipMemoryTypeDevice;
  attributes.isManaged = managed != 0;
  static_cast<void>(ask(pointer, driver::kPointerDeviceOrdinal, attributes.device));
  if (!ask(pointer, driver::kPointerDevicePointer, attributes.devicePointer))
    attributes.devicePointer = pointer;
  if (on_host || managed) attributes.hostPointer = pointer;
  if (on_host) static_cast<void>(host_flags(pointer, attributes.allocationFlags));
  if (managed) attributes.allocationFlags = hipMemAttachGlobal;
  return hipSuccess;
}

hipError_t Backend::set_synchronous(void* pointer, bool synchronous) {
  const unsigned value = synchronous ? 1 : 0;
  const hipError_t status =
      check(cu().PointerSetAttribute(&value, HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS, pointer));
  return status == hipErrorInvalidValue ? hipErrorInvalidDevicePointer : status;
}

// HIP's numbers of the attributes are CUDA's, and but for the kind of memory they have the same values.
hipError_t Backend::pointer_attribute(void* data, hipPointer_attribute attribute, void* pointer) {
  if (attribute < HIP_POINTER_ATTRIBUTE_CONTEXT || attribute > HIP_POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
    return hipErrorInvalidValue;
  if (is_flag(attribute)) {
    std::uint64_t word = 0;
    const hipError_t status = check(cu().PointerGetAttribute(&word, attribute, pointer));
    const bool flag = word != 0;
    if (status == hipSuccess) std::memcpy(data, &flag, sizeof flag);
    return status;
  }
  if (attribute != HIP_POINTER_ATTRIBUTE_MEMORY_TYPE)
    return check(cu().PointerGetAttribute(data, attribute, pointer));
  hipPointerAttribute_t all;
  if (const hipError_t status = pointer_attributes(pointer, all)) return status;
  std::memcpy(data, &all.memoryType, sizeof all.memoryType);
  return hipSuccess;
}

}  // namespace tf::cuda
