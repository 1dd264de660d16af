// SPDX-License-Identifier: Apache-2.0
// Host memory that devices reach: allocated here, or registered by the program. And what a pointer is.
#include <cstdint>

#include "hipcore/abi/pointer_answers.h"
#include "hipcore/abi/rules.h"
#include "hipcore/memory/host_flags.h"
#include "hipcore/memory/pointer_rules.h"
#include "worker/runtime/common/api.h"
#include "worker/runtime/common/arrays.h"

namespace tf::runtime {
namespace {

using hipcore::kPointerAttributesMax;

hipError_t allocate_host(void** pointer, std::size_t bytes, unsigned flags) {
  if (!pointer || !hipcore::takes_malloc_flags(flags, abi::kRules.major)) return hipErrorInvalidValue;
  if ((flags & hipHostMallocCoherent) && (flags & hipHostMallocNonCoherent)) return hipErrorInvalidValue;
  if (const hipError_t status = Backend::require_device()) return status;
  *pointer = nullptr;
  return bytes == 0 ? hipSuccess : Backend::allocate_host(*pointer, bytes, flags);
}

hipError_t free_host(void* pointer) { return pointer ? Backend::free_host(pointer) : hipSuccess; }

hipError_t register_host(void* pointer, std::size_t bytes, unsigned flags) {
  if (!pointer || bytes == 0 || !hipcore::takes_register_flags(flags, abi::kRules.major))
    return hipErrorInvalidValue;
  if (bytes > UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(pointer)) return hipErrorInvalidValue;
  if (const hipError_t status = Backend::require_device()) return status;
  const hipError_t status = Backend::register_host(pointer, bytes, flags);
  // The same address again: AMD's library allows it. The memory may be another one by now, freed without a
  // word.
  if (status != hipErrorHostMemoryAlreadyRegistered || Backend::unregister_host(pointer) != hipSuccess)
    return status;
  return Backend::register_host(pointer, bytes, flags);
}

hipError_t device_pointer(void** device, void* host, unsigned flags) {
  if (!device || !host || flags != 0) return hipErrorInvalidValue;
  return Backend::device_pointer(host, *device);
}

hipError_t attributes_of(hipPointerAttribute_t* attributes, const void* pointer) {
  abi::PointerFacts facts;
  const bool known = pointer && Backend::pointer_facts(pointer, facts);
  return abi::answer_attributes(attributes, pointer, known ? &facts : nullptr);
}

hipError_t pointer_attribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  if (!data || !pointer) return hipErrorInvalidValue;
  abi::PointerFacts facts;
  const bool known = Backend::pointer_facts(pointer, facts);
  if (known && attribute == HIP_POINTER_ATTRIBUTE_CONTEXT)
    if (const hipError_t status = Backend::context(facts.device, facts.context)) return status;
  if (known && attribute == HIP_POINTER_ATTRIBUTE_BUFFER_ID)
    if (const hipError_t status = Backend::buffer_id(pointer, facts.id)) return status;
  const bool is_array = !known && arrays().shape_of(static_cast<hipArray_const_t>(pointer)).has_value();
  return abi::answer_attribute(data, attribute, known ? &facts : nullptr, is_array);
}

// Succeeds whatever the pointer is, as AMD's runtime does.
hipError_t pointer_attributes(unsigned count, hipPointer_attribute* attributes, void** data,
                              hipDeviceptr_t pointer) {
  if (!attributes || !data || !pointer || count == 0 || count > kPointerAttributesMax)
    return hipErrorInvalidValue;
  for (unsigned i = 0; i < count; ++i) static_cast<void>(pointer_attribute(data[i], attributes[i], pointer));
  return hipSuccess;
}

hipError_t set_attribute(const void* value, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  bool synchronous = false;
  const hipError_t status = hipcore::read_pointer_attribute(value, attribute, pointer, synchronous);
  return status == hipSuccess ? Backend::set_synchronous(pointer, synchronous) : status;
}

hipError_t attach(hipStream_t handle, void* pointer, std::size_t bytes, unsigned flags) {
  if (!pointer) return hipErrorInvalidValue;
  Backend::Stream stream{};
  if (const hipError_t status = Backend::find_stream(handle, stream)) return status;
  if (const hipError_t status = hipcore::check_attach(handle, flags)) return status;
  abi::PointerFacts facts;
  if (Backend::pointer_facts(pointer, facts))
    return hipcore::check_attached_bytes(facts.on_host, facts.bytes, bytes);
  // The program's own memory, if the device reaches it; nobody knows how much there is.
  int reaches = 0;
  const hipError_t status =
      Backend::attribute(Backend::thread().device, hipDeviceAttributePageableMemoryAccess, reaches);
  return status == hipSuccess && reaches != 0 && bytes != 0 ? hipSuccess : hipErrorInvalidValue;
}

}  // namespace
}  // namespace tf::runtime

using namespace tf::runtime;

extern "C" {

hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned flags) {
  return unsafe_api([&] { return allocate_host(pointer, bytes, flags); });
}

hipError_t hipHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return unsafe_api([&] { return allocate_host(pointer, bytes, flags); });
}

hipError_t hipMallocHost(void** pointer, size_t bytes) {
  return unsafe_api([&] { return allocate_host(pointer, bytes, hipHostMallocDefault); });
}

hipError_t hipMemAllocHost(void** pointer, size_t bytes) {
  return unsafe_api([&] { return allocate_host(pointer, bytes, hipHostMallocDefault); });
}

hipError_t hipHostFree(void* pointer) {
  return unsafe_api([&] { return free_host(pointer); });
}

hipError_t hipFreeHost(void* pointer) {
  return unsafe_api([&] { return free_host(pointer); });
}

hipError_t hipHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return unsafe_api([&] { return register_host(pointer, bytes, flags); });
}

hipError_t hipHostUnregister(void* pointer) {
  return unsafe_api([&] { return pointer ? Backend::unregister_host(pointer) : hipErrorInvalidValue; });
}

hipError_t hipHostGetDevicePointer(void** device, void* host, unsigned flags) {
  return api([&] { return device_pointer(device, host, flags); });
}

hipError_t hipHostGetFlags(unsigned* flags, void* host) {
  return api([&] { return flags && host ? Backend::host_flags(host, *flags) : hipErrorInvalidValue; });
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  return api([&] { return attributes_of(attributes, pointer); });
}

hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  return api([&] { return pointer_attribute(data, attribute, pointer); });
}

TF_EXPORT hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute,
                                            hipDeviceptr_t pointer) {
  return api([&] { return set_attribute(value, attribute, pointer); });
}

hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* pointer, size_t bytes, unsigned flags) {
  return api([&] { return attach(stream, pointer, bytes, flags); });
}

hipError_t hipDrvPointerGetAttributes(unsigned count, hipPointer_attribute* attributes, void** data,
                                      hipDeviceptr_t pointer) {
  return api([&] { return pointer_attributes(count, attributes, data, pointer); });
}

}  // extern "C"
