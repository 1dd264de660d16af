// SPDX-License-Identifier: Apache-2.0
// Virtual memory management. The client alone reserves; the worker is asked for physical memory.
#include "proxy/memory/virtual_memory.h"

#include <cstring>
#include <optional>
#include <vector>

#include "hipcore/abi/allocation.h"
#include "hipcore/abi/rules.h"
#include "hipcore/memory/os_handle.h"
#include "hipcore/wire/access_wish.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "transport/base/mutex.h"

namespace tf::proxy::custom {
namespace {

// What the call returns, unless it is connected to a worker with virtual memory management.
std::optional<hipError_t> refusal(ApiCall& call) {
  if (!call.connected()) return call.finish();
  if (!call.client().virtual_memory().available()) return call.finish(hipErrorNotSupported);
  return std::nullopt;
}

std::uint64_t raw_of(hipMemGenericAllocationHandle_t handle) {
  return reinterpret_cast<std::uint64_t>(handle);
}

hipMemGenericAllocationHandle_t handle_of(std::uint64_t raw) {
  return reinterpret_cast<hipMemGenericAllocationHandle_t>(raw);
}

bool on_our_device(ApiCall& call, const hipMemLocation& where) {
  return where.type == hipMemLocationTypeDevice && where.id >= 0 && where.id < call.client().device_count();
}

// As the program's major has them; of none, some that no function accepts.
hipMemAllocationProp read_properties(const hipMemAllocationProp* theirs) {
  return theirs == nullptr ? hipMemAllocationProp{} : abi::allocation_from(abi::kRules.major, *theirs);
}

// Makes the worker free memory that nothing refers to.
hipError_t free_physical(Client& client, const VirtualMemoryMap::Memory& gone) {
  hipError_t first = hipSuccess;
  for (const auto& [handle, memory] : gone) {
    protocol::ReleasePhysicalRequest request{};
    request.memory = handle;
    hipError_t error = client.connection().post(memory.device, request);
    if (first == hipSuccess) first = error;
    // Only now: the next user of the slot comes after this message.
    client.handles().of(protocol::HandleKind::kMemAllocation).remove(handle);
    if (memory.booked) client.device_memory().unbook(memory.device, memory.bytes);
  }
  return first;
}

// Memory that the program has freed may still be leased for later; returning it makes room.
hipError_t ask_for_physical(Client& client, int device, const protocol::CreatePhysicalRequest& request) {
  hipError_t error = client.connection().call(device, request);
  if (error != hipErrorOutOfMemory || !client.device_memory().give_back_unused(device)) return error;
  return client.connection().call(device, request);
}

}  // namespace

hipError_t hipMemAddressReserve(ApiCall& call, void** pointer, size_t bytes, size_t alignment, void* wanted,
                                unsigned long long flags) {
  if (const auto refused = refusal(call)) return *refused;
  VirtualMemoryMap& account = call.client().virtual_memory();
  const MutexLock lock(account.order());
  if (pointer == nullptr || flags != 0) return call.finish(hipErrorInvalidValue);
  std::uint64_t address = 0;
  hipError_t error = account.reserve(bytes, alignment, to_raw(wanted), address);
  if (error == hipSuccess) *pointer = reinterpret_cast<void*>(address);
  return call.finish(error);
}

hipError_t hipMemAddressFree(ApiCall& call, void* pointer, size_t bytes) {
  if (const auto refused = refusal(call)) return *refused;
  VirtualMemoryMap& account = call.client().virtual_memory();
  const MutexLock lock(account.order());
  return call.finish(account.unreserve(to_raw(pointer), bytes));
}

hipError_t hipMemCreate(ApiCall& call, hipMemGenericAllocationHandle_t* handle, size_t bytes,
                        const hipMemAllocationProp* theirs, unsigned long long flags) {
  if (const auto refused = refusal(call)) return *refused;
  const hipMemAllocationProp properties = read_properties(theirs);
  VirtualMemoryMap& account = call.client().virtual_memory();
  const MutexLock lock(account.order());
  bool sane = handle != nullptr && flags == 0 && bytes != 0 && account.whole_units(bytes) &&
              properties.type == hipMemAllocationTypePinned && on_our_device(call, properties.location);
  if (!sane) return call.finish(hipErrorInvalidValue);
  Client& client = call.client();
  int device = properties.location.id;
  HandleTable& handles = client.handles().of(protocol::HandleKind::kMemAllocation);
  auto made = handles.create(device);
  if (!made) return call.finish(hipErrorOutOfMemory);
  protocol::CreatePhysicalRequest request{};
  request.memory = made->raw();
  request.bytes = bytes;
  request.shared_as = properties.requestedHandleType;
  hipError_t error = ask_for_physical(client, device, request);
  if (error != hipSuccess) {
    handles.remove(made->raw());
    return call.finish(error);
  }
  client.device_memory().book(device, bytes);
  account.created(made->raw(), {.device = device, .bytes = bytes, .properties = properties});
  *handle = handle_of(made->raw());
  return call.finish(hipSuccess);
}

hipError_t hipMemRelease(ApiCall& call, hipMemGenericAllocationHandle_t handle) {
  if (const auto refused = refusal(call)) return *refused;
  VirtualMemoryMap& account = call.client().virtual_memory();
  const MutexLock lock(account.order());
  VirtualMemoryMap::Memory gone;
  hipError_t error = account.release(raw_of(handle), gone);
  hipError_t freed = free_physical(call.client(), gone);
  return call.finish(error != hipSuccess ? error : freed);
}

hipError_t hipMemMap(ApiCall& call, void* pointer, size_t bytes, size_t offset,
                     hipMemGenericAllocationHandle_t handle, unsigned long long flags) {
  if (const auto refused = refusal(call)) return *refused;
  VirtualMemoryMap& account = call.client().virtual_memory();
  const MutexLock lock(account.order());
  if (pointer == nullptr || flags != 0) return call.finish(hipErrorInvalidValue);
  hipError_t error = account.check_map(to_raw(pointer), bytes, offset, raw_of(handle));
  if (error != hipSuccess) return call.finish(error);
  protocol::MapPhysicalRequest request{};
  request.address = to_raw(pointer);
  request.bytes = bytes;
  request.offset = offset;
  request.memory = raw_of(handle);
  const protocol::AddressWindow range = account.range_of(request.address);
  request.range = range.base;
  request.range_bytes = range.bytes;
  int device = account.find(raw_of(handle))->device;
  error = call.client().connection().call(device, request);
  if (error != hipSuccess) return call.finish(error);
  account.mapped(request.address, bytes, request.memory);
  call.client().device_memory().add_mapping(device, request.address, bytes);
  return call.finish(hipSuccess);
}

hipError_t hipMemUnmap(ApiCall& call, void* pointer, size_t bytes) {
  if (const auto refused = refusal(call)) return *refused;
  VirtualMemoryMap& account = call.client().virtual_memory();
  UniqueLock lock(account.order());
  Client& client = call.client();
  protocol::UnmapPhysicalRequest request{};
  request.address = to_raw(pointer);
  request.bytes = bytes;
  if (!account.is_mapped(request.address, bytes)) return call.finish(hipErrorInvalidValue);
  hipError_t error = client.connection().call(call.device(), request);
  if (error != hipSuccess) return call.finish(error);
  VirtualMemoryMap::Memory gone;
  for (std::uint64_t address : account.unmapped(request.address, bytes, gone)) client.end_mapping(address);
  error = free_physical(client, gone);
  lock.unlock();
  // The worker has waited for every device: a synchronizing call.
  for (int device = 0; device < client.device_count(); ++device)
    error = client.connection().synchronized_device(device, error);
  return call.finish(error);
}

hipError_t hipMemSetAccess(ApiCall& call, void* pointer, size_t bytes, const hipMemAccessDesc* descriptions,
                           size_t count) {
  if (const auto refused = refusal(call)) return *refused;
  VirtualMemoryMap& account = call.client().virtual_memory();
  const MutexLock lock(account.order());
  bool sane = pointer != nullptr && descriptions != nullptr && count != 0 && count <= protocol::kDevicesMax &&
              account.is_mapped(to_raw(pointer), bytes);
  if (!sane) return call.finish(hipErrorInvalidValue);
  std::vector<protocol::AccessWish> wishes;
  for (size_t i = 0; i < count; ++i) {
    hipMemAccessFlags flags = descriptions[i].flags;
    bool known = flags == hipMemAccessFlagsProtNone || flags == hipMemAccessFlagsProtRead ||
                 flags == hipMemAccessFlagsProtReadWrite;
    if (!known || !on_our_device(call, descriptions[i].location)) return call.finish(hipErrorInvalidValue);
    wishes.push_back({call.client().connection().worker_ordinal(descriptions[i].location.id),
                      static_cast<unsigned>(flags)});
  }
  protocol::SetAccessRequest request{};
  request.address = to_raw(pointer);
  request.bytes = bytes;
  return call.finish(
      call.client().connection().call(call.device(), request, std::as_bytes(std::span(wishes))));
}

hipError_t hipMemGetAccess(ApiCall& call, unsigned long long* flags, const hipMemLocation* location,
                           void* pointer) {
  if (const auto refused = refusal(call)) return *refused;
  const MutexLock lock(call.client().virtual_memory().order());
  if (flags == nullptr || location == nullptr || !on_our_device(call, *location))
    return call.finish(hipErrorInvalidValue);
  protocol::GetAccessRequest request{};
  request.address = to_raw(pointer);
  request.device = call.client().connection().worker_ordinal(location->id);
  protocol::GetAccessReply reply{};
  hipError_t error = call.client().connection().call(call.device(), request, reply);
  if (error == hipSuccess) *flags = reply.flags;
  return call.finish(error);
}

hipError_t hipMemGetAllocationGranularity(ApiCall& call, size_t* granularity,
                                          const hipMemAllocationProp* theirs,
                                          hipMemAllocationGranularity_flags option) {
  if (const auto refused = refusal(call)) return *refused;
  const hipMemAllocationProp properties = read_properties(theirs);
  const MutexLock lock(call.client().virtual_memory().order());
  bool sane =
      granularity != nullptr && properties.type == hipMemAllocationTypePinned &&
      on_our_device(call, properties.location) &&
      (option == hipMemAllocationGranularityMinimum || option == hipMemAllocationGranularityRecommended);
  if (!sane) return call.finish(hipErrorInvalidValue);
  const protocol::DeviceSnapshot& device =
      call.client().snapshot().devices[static_cast<std::size_t>(properties.location.id)];
  *granularity = option == hipMemAllocationGranularityMinimum ? device.map_granularity_bytes
                                                              : device.lease_granularity_bytes;
  return call.finish(hipSuccess);
}

hipError_t hipMemGetAllocationPropertiesFromHandle(ApiCall& call, hipMemAllocationProp* properties,
                                                   hipMemGenericAllocationHandle_t handle) {
  if (const auto refused = refusal(call)) return *refused;
  VirtualMemoryMap& account = call.client().virtual_memory();
  const MutexLock lock(account.order());
  const PhysicalMemory* memory = account.find(raw_of(handle));
  if (properties == nullptr || memory == nullptr) return call.finish(hipErrorInvalidValue);
  *properties = abi::allocation_for(abi::kRules.major, memory->properties);
  return call.finish(hipSuccess);
}

hipError_t hipMemRetainAllocationHandle(ApiCall& call, hipMemGenericAllocationHandle_t* handle,
                                        void* pointer) {
  if (const auto refused = refusal(call)) return *refused;
  VirtualMemoryMap& account = call.client().virtual_memory();
  const MutexLock lock(account.order());
  if (handle == nullptr || pointer == nullptr) return call.finish(hipErrorInvalidValue);
  std::uint64_t raw = 0;
  hipError_t error = account.retain(to_raw(pointer), raw);
  if (error == hipSuccess) *handle = handle_of(raw);
  return call.finish(error);
}

hipError_t hipMemExportToShareableHandle(ApiCall& call, void* target, hipMemGenericAllocationHandle_t handle,
                                         hipMemAllocationHandleType type, unsigned long long flags) {
  if (const auto refused = refusal(call)) return *refused;
  VirtualMemoryMap& account = call.client().virtual_memory();
  const MutexLock lock(account.order());
  const PhysicalMemory* memory = account.find(raw_of(handle));
  if (target == nullptr || type != hipMemHandleTypePosixFileDescriptor || flags != 0 || memory == nullptr)
    return call.finish(hipErrorInvalidValue);
  SharedKey key = memory->key;  // imported memory has one already
  if (key == SharedKey{}) {
    protocol::SharePhysicalRequest request{};
    request.memory = raw_of(handle);
    protocol::SharePhysicalReply reply{};
    hipError_t error = call.client().connection().call(memory->device, request, reply);
    if (error != hipSuccess) return call.finish(error);
    key = {reply.key_low, reply.key_high};
  }
  call.client().connection().take_care(Care::kSharing, true);
  net::OwnedFd file = make_token_file(key);
  if (!file) return call.finish(hipErrorOutOfMemory);
  int descriptor = file.release();  // the program owns it from now on
  std::memcpy(target, &descriptor, sizeof descriptor);
  return call.finish(hipSuccess);
}

hipError_t hipMemImportFromShareableHandle(ApiCall& call, hipMemGenericAllocationHandle_t* handle,
                                           void* os_handle, hipMemAllocationHandleType type) {
  if (const auto refused = refusal(call)) return *refused;
  VirtualMemoryMap& account = call.client().virtual_memory();
  const MutexLock lock(account.order());
  if (handle == nullptr || type != hipMemHandleTypePosixFileDescriptor)
    return call.finish(hipErrorInvalidValue);
  auto key = read_token_file(hipcore::descriptor_in(os_handle));
  if (!key) return call.finish(hipErrorInvalidValue);
  Client& client = call.client();
  HandleTable& handles = client.handles().of(protocol::HandleKind::kMemAllocation);
  auto made = handles.create(call.device());
  if (!made) return call.finish(hipErrorOutOfMemory);
  protocol::ImportPhysicalRequest request{};
  request.memory = made->raw();
  request.key_low = key->low;
  request.key_high = key->high;
  protocol::ImportPhysicalReply reply{};
  hipError_t error = client.connection().call(call.device(), request, reply);
  if (error != hipSuccess) {
    handles.remove(made->raw());
    return call.finish(error == hipErrorInvalidDevicePointer ? hipErrorInvalidValue : error);
  }
  PhysicalMemory memory{.device = call.device(), .bytes = reply.bytes, .booked = false, .key = *key};
  memory.properties.type = hipMemAllocationTypePinned;
  memory.properties.location = {hipMemLocationTypeDevice, memory.device};
  memory.properties.requestedHandleType = type;
  account.created(made->raw(), memory);
  client.connection().take_care(Care::kSharing, true);
  *handle = handle_of(made->raw());
  return call.finish(hipSuccess);
}

}  // namespace tf::proxy::custom
