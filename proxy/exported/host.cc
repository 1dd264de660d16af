// SPDX-License-Identifier: Apache-2.0
// Host memory and what pointers are.
#include <algorithm>
#include <cstring>

#include "hipcore/abi/layouts.h"
#include "hipcore/abi/rules.h"
#include "hipcore/memory/host_flags.h"
#include "hipcore/memory/pointer_rules.h"
#include "proxy/base/log.h"
#include "proxy/exported/context.h"
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

using hipcore::kPointerAttributesMax;

// What is known about any pointer; false: nothing.
struct Known {
  bool on_device = false;
  bool on_host = false;  // managed memory is both
  int device = 0;
  std::uint64_t base = 0;
  std::uint64_t bytes = 0;
  unsigned flags = 0;
  std::uint64_t device_address = 0;  // where devices reach it; 0: nowhere
  std::uint64_t host_address = 0;    // where the program has it
  bool synchronous = false;          // HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS
  bool registered = false;           // the program's own memory

  bool managed() const { return on_device && on_host; }
  abi::MemoryType type() const { return on_device ? abi::MemoryType::kDevice : abi::MemoryType::kHost; }
};

// Where devices reach the memory at `address`, of this range, or will once they use it; 0: nowhere.
std::uint64_t reached_at(const HostRange& range, std::uint64_t address) {
  if (range.reachable || (range.dormant && range.kind == HostRange::Kind::kPinned)) return address;
  return range.other != 0 ? range.other + (address - range.base) : 0;
}

bool look_up(Client& client, const void* pointer, Known& known) {
  if (auto found = client.device_memory().find(to_raw(pointer))) {
    known = {true, false, found->device, found->base, found->bytes, 0, to_raw(pointer), 0, false};
    known.synchronous = client.advice().is_synchronous(known.base);
    return true;
  }
  auto host = client.host_memory().find(pointer);
  if (!host) return false;
  if (host->kind == HostRange::Kind::kFineGrained) {
    known = {true, false, host->device, host->base, host->bytes, 0, to_raw(pointer), 0, false};
    known.synchronous = client.advice().is_synchronous(known.base);
    return true;
  }
  const bool managed = host->kind == HostRange::Kind::kManaged;
  const std::uint64_t address = to_raw(pointer);
  const bool alias = host->kind == HostRange::Kind::kAlias;
  const std::uint64_t program_has_it = alias ? host->other + (address - host->base) : address;
  const std::uint64_t devices_have_it = reached_at(*host, address);
  known = {managed,         true,           host->device,
           host->base,      host->bytes,    host->flags,
           devices_have_it, program_has_it, client.advice().is_synchronous(host->base),
           !host->owned()};
  return true;
}

template <typename Value>
hipError_t answer(void* data, Value value) {
  std::memcpy(data, &value, sizeof value);
  return hipSuccess;
}

hipError_t attribute_of(const Known& known, hipPointer_attribute attribute, void* data) {
  switch (attribute) {
    case HIP_POINTER_ATTRIBUTE_CONTEXT: return answer(data, context_of(known.device));
    case HIP_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer(data, abi::memory_type_number(known.type(), known.managed()));
    case HIP_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return known.device_address != 0 ? answer(data, known.device_address) : hipErrorInvalidValue;
    case HIP_POINTER_ATTRIBUTE_HOST_POINTER:
      return known.on_host ? answer(data, known.host_address) : hipErrorInvalidValue;
    case HIP_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer(data, known.device);
    case HIP_POINTER_ATTRIBUTE_RANGE_START_ADDR: return answer(data, known.base);
    case HIP_POINTER_ATTRIBUTE_RANGE_SIZE: return answer(data, known.bytes);
    case HIP_POINTER_ATTRIBUTE_SYNC_MEMOPS: return answer(data, known.synchronous ? 1u : 0u);
    case HIP_POINTER_ATTRIBUTE_IS_MANAGED: return answer(data, known.managed());
    case HIP_POINTER_ATTRIBUTE_MAPPED: return answer(data, known.device_address != 0);
    case HIP_POINTER_ATTRIBUTE_BUFFER_ID: return answer(data, hipcore::buffer_id(known.base));
    default: return hipErrorInvalidValue;
  }
}

hipError_t attribute_of(Client& client, const void* pointer, hipPointer_attribute attribute, void* data) {
  Known known;
  const bool found = look_up(client, pointer, known);
  const hipError_t error = found ? attribute_of(known, attribute, data) : hipErrorInvalidValue;
  if (error != hipSuccess) hipcore::write_missing(attribute, data);
  return error;
}

}  // namespace

hipError_t hipHostMalloc(void** pointer, size_t bytes, unsigned int flags) {
  if (pointer == nullptr || !hipcore::takes_malloc_flags(flags, abi::kRules.major))
    return note_error(hipErrorInvalidValue);
  bool both = (flags & hipHostMallocCoherent) != 0 && (flags & hipHostMallocNonCoherent) != 0;
  if (both) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  *pointer = nullptr;
  if (bytes == 0) return note_error(hipSuccess);
  return note_error(client->host_allocations().allocate(HostRange::Kind::kPinned, thread_state().device,
                                                        bytes, flags, *pointer));
}

// A pointer that kernels could not follow would be worse than none.
hipError_t hipHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned int flags) {
  if (device_pointer == nullptr || host_pointer == nullptr || flags != 0)
    return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  auto found = client->host_memory().find(host_pointer);
  if (!found || found->is_devices()) return note_error(hipErrorInvalidValue);
  const std::uint64_t reached = reached_at(*found, to_raw(host_pointer));
  if (const hipError_t failed = client->host_allocations().wake(reached); failed != hipSuccess)
    return note_error(failed);
  if (reached != 0) {
    *device_pointer = reinterpret_cast<void*>(reached);
    return note_error(hipSuccess);
  }
  static LogOnce told;
  told.line(
      "hipHostGetDevicePointer: devices do not reach this memory: they would use a copy of it, and "
      "TF_MIRROR=0 "
      "or this process's addresses do not allow one (hipErrorNotSupported)");
  return note_error(hipErrorNotSupported);
}

hipError_t hipHostGetFlags(unsigned int* flags, void* pointer) {
  if (flags == nullptr || pointer == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  auto found = client->host_memory().find(pointer);
  if (!found || found->is_devices()) return note_error(hipErrorInvalidValue);
  *flags = found->flags;
  return note_error(hipSuccess);
}

hipError_t hipHostRegister(void* pointer, size_t bytes, unsigned int flags) {
  if (pointer == nullptr || bytes == 0 || !hipcore::takes_register_flags(flags, abi::kRules.major))
    return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  if (client->device_memory().is_device(to_raw(pointer)))
    return note_error(hipErrorHostMemoryAlreadyRegistered);
  return note_error(client->host_allocations().add(thread_state().device, pointer, bytes, flags));
}

hipError_t hipHostUnregister(void* pointer) {
  if (pointer == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  client->await_what_shows();
  return note_error(client->host_allocations().remove(pointer));
}

hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* pointer) {
  const bool null_has_them = pointer == nullptr && abi::kRules.null_has_attributes;
  if (attributes == nullptr || (pointer == nullptr && !null_has_them))
    return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  Known known;
  if (!null_has_them && !look_up(*client, pointer, known)) return note_error(hipErrorInvalidValue);
  *attributes = {};
  if (null_has_them) return note_error(hipSuccess);
  abi::set_memory_type(*attributes, known.type(), known.managed());
  attributes->device = known.device;
  attributes->devicePointer = reinterpret_cast<void*>(known.device_address);
  attributes->hostPointer = known.on_host ? reinterpret_cast<void*>(known.host_address) : nullptr;
  attributes->isManaged = known.managed();
  attributes->allocationFlags = known.flags;
  return note_error(hipSuccess);
}

hipError_t hipPointerGetAttribute(void* data, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  if (data == nullptr || pointer == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  return note_error(attribute_of(*client, pointer, attribute, data));
}

hipError_t hipPointerSetAttribute(const void* value, hipPointer_attribute attribute, hipDeviceptr_t pointer) {
  bool synchronous = false;
  hipError_t error = hipcore::read_pointer_attribute(value, attribute, pointer, synchronous);
  Client* client = error == hipSuccess ? client_for(error) : nullptr;
  if (client == nullptr) return note_error(error);
  Known known;
  if (!look_up(*client, pointer, known)) return note_error(hipErrorInvalidDevicePointer);
  return note_error(client->advice().set_synchronous(known.base, known.bytes, synchronous));
}

hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* pointer, size_t bytes, unsigned int flags) {
  if (pointer == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(stream, error);
  if (client != nullptr) error = hipcore::check_attach(stream, flags);
  if (error != hipSuccess) return note_error(error);
  Known known;
  if (!look_up(*client, pointer, known)) return note_error(hipErrorInvalidValue);
  return note_error(hipcore::check_attached_bytes(known.on_host, known.bytes, bytes));
}

// Succeeds whatever the pointer is, as AMD's runtime does.
hipError_t hipDrvPointerGetAttributes(unsigned int count, hipPointer_attribute* attributes, void** data,
                                      hipDeviceptr_t pointer) {
  bool sane = attributes != nullptr && data != nullptr && pointer != nullptr && count != 0;
  if (!sane || count > kPointerAttributesMax) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  for (unsigned i = 0; i < count; ++i)
    if (data[i] != nullptr) (void)attribute_of(*client, pointer, attributes[i], data[i]);
  return note_error(hipSuccess);
}

hipError_t hipMemGetAddressRange(hipDeviceptr_t* base, size_t* bytes, hipDeviceptr_t pointer) {
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  Known known;
  if (!look_up(*client, pointer, known) || known.registered) return note_error(hipErrorNotFound);
  if (base != nullptr) *base = reinterpret_cast<hipDeviceptr_t>(known.base);
  if (bytes != nullptr) *bytes = known.bytes;
  return note_error(hipSuccess);
}

hipError_t hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  if (bytes == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  Known known;
  if (!look_up(*client, pointer, known)) return note_error(hipErrorInvalidValue);
  *bytes = known.bytes;
  return note_error(hipSuccess);
}

}  // namespace tf::proxy::local
