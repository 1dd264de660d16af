// SPDX-License-Identifier: Apache-2.0
// Host memory and what pointers are.
#include <algorithm>
#include <optional>

#include "hipcore/abi/pointer_answers.h"
#include "hipcore/abi/rules.h"
#include "hipcore/memory/host_flags.h"
#include "hipcore/memory/mapped.h"
#include "hipcore/memory/pointer_rules.h"
#include "proxy/base/log.h"
#include "proxy/exported/context.h"
#include "proxy/exported/support.h"
#include "proxy/gen/local.h"

namespace tf::proxy::local {
namespace {

using hipcore::kPointerAttributesMax;

struct Known : abi::PointerFacts {
  bool registered = false;     // the program's own memory
  std::uint64_t identity = 0;  // where the allocation is, also for an alias
};

// Where devices reach the memory at `address`, of this range, or will once they use it; 0: nowhere.
std::uint64_t reached_at(const HostRange& range, std::uint64_t address) {
  if (range.reachable || (range.dormant && range.kind == HostRange::Kind::kPinned)) return address;
  return range.other != 0 ? range.other + (address - range.base) : 0;
}

Known known_on_device(Client& client, std::uint64_t address, const DevicePointer& found) {
  Known known;
  known.on_device = true;
  known.device = found.device;
  known.base = known.identity = found.base;
  known.bytes = found.bytes;
  known.device_address = address;
  known.synchronous = client.advice().is_synchronous(found.base);
  return known;
}

Known known_on_host(Client& client, std::uint64_t address, const HostRange& range) {
  const bool alias = range.kind == HostRange::Kind::kAlias;
  Known known;
  known.on_device = range.kind == HostRange::Kind::kManaged;
  known.on_host = true;
  known.device = range.device;
  known.base = range.base;
  known.identity = alias ? range.other : range.base;
  known.bytes = range.bytes;
  known.flags = range.flags;
  known.device_address = reached_at(range, address);
  known.host_address = alias ? range.other + (address - range.base) : address;
  known.synchronous = client.advice().is_synchronous(range.base);
  known.registered = !range.owned();
  return known;
}

std::optional<Known> look_up(Client& client, const void* pointer) {
  const std::uint64_t address = to_raw(pointer);
  if (const auto found = client.device_memory().find(address))
    return known_on_device(client, address, *found);
  const auto host = client.host_memory().find(pointer);
  if (!host) return std::nullopt;
  if (host->kind != HostRange::Kind::kFineGrained) return known_on_host(client, address, *host);
  Known known = known_on_device(client, address, {host->device, host->base, host->bytes});
  known.flags = host->flags;
  return known;
}

const Known* pointer_to(const std::optional<Known>& known) { return known ? &*known : nullptr; }

hipError_t attribute_of(Client& client, const void* pointer, hipPointer_attribute attribute, void* data) {
  std::optional<Known> known = look_up(client, pointer);
  if (known) known->context = context_of(known->device);
  if (known && attribute == HIP_POINTER_ATTRIBUTE_BUFFER_ID)
    if (const hipError_t error = client.advice().id_of(known->identity, known->id)) return error;
  const bool is_array =
      !known && client.arrays().library().shape_of(static_cast<hipArray_const_t>(pointer)).has_value();
  return abi::answer_attribute(data, attribute, pointer_to(known), is_array);
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
  if (bytes > UINTPTR_MAX - to_raw(pointer) || !hipcore::is_mapped(pointer, bytes))
    return note_error(hipErrorInvalidValue);
  const int device = thread_state().device;
  error = client->host_allocations().add(device, pointer, bytes, flags);
  if (error != hipErrorHostMemoryAlreadyRegistered) return note_error(error);
  // The same address again: AMD's library allows it. The memory may be another one by now, freed without a
  // word.
  client->await_what_shows();
  if (client->host_allocations().remove(pointer) == hipSuccess)
    error = client->host_allocations().add(device, pointer, bytes, flags);
  return note_error(error);
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
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  const std::optional<Known> known = look_up(*client, pointer);
  return note_error(abi::answer_attributes(attributes, pointer, pointer_to(known)));
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
  const auto known = look_up(*client, pointer);
  if (!known) return note_error(hipErrorInvalidDevicePointer);
  return note_error(client->advice().set_synchronous(known->base, known->bytes, synchronous));
}

hipError_t hipStreamAttachMemAsync(hipStream_t stream, void* pointer, size_t bytes, unsigned int flags) {
  if (pointer == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(stream, error);
  if (client != nullptr) error = hipcore::check_attach(stream, flags);
  if (error != hipSuccess) return note_error(error);
  const auto known = look_up(*client, pointer);
  if (!known) return note_error(hipErrorInvalidValue);
  return note_error(hipcore::check_attached_bytes(known->on_host, known->bytes, bytes));
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
  const auto known = look_up(*client, pointer);
  if (!known || known->registered) return note_error(hipErrorNotFound);
  if (base != nullptr) *base = reinterpret_cast<hipDeviceptr_t>(known->base);
  if (bytes != nullptr) *bytes = known->bytes;
  return note_error(hipSuccess);
}

hipError_t hipMemPtrGetInfo(void* pointer, size_t* bytes) {
  if (bytes == nullptr) return note_error(hipErrorInvalidValue);
  hipError_t error = hipSuccess;
  Client* client = client_for(error);
  if (client == nullptr) return note_error(error);
  const auto known = look_up(*client, pointer);
  if (!known) return note_error(hipErrorInvalidValue);
  *bytes = known->bytes;
  return note_error(hipSuccess);
}

}  // namespace tf::proxy::local
