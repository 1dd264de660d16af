// SPDX-License-Identifier: Apache-2.0
// Names, opens and closes shared memory.
#include "proxy/exported/sharing.h"

#include "proxy/exported/support.h"
#include "transport/base/mutex.h"

namespace tf::proxy {
namespace {

// The name of an allocation; asks the worker the first time.
hipError_t key_of(Client& client, const DevicePointer& allocation, SharedKey& key) {
  const MutexLock lock(client.shared_memory().order());
  if (auto known = client.shared_memory().key_of(allocation.base)) {
    key = *known;
    return hipSuccess;
  }
  protocol::ShareLeaseRequest request{};
  request.address = allocation.base;
  request.bytes = allocation.bytes;
  protocol::ShareLeaseReply reply{};
  hipError_t error = client.connection().call(allocation.device, request, reply);
  if (error != hipSuccess) return error;
  key = {reply.key_low, reply.key_high};
  client.shared_memory().shared(allocation.base, key);
  client.connection().take_care(Care::kSharing, true);
  return hipSuccess;
}

}  // namespace

hipError_t share_memory(Client& client, const DevicePointer& allocation, const void* pointer,
                        hipIpcMemHandle_t& handle) {
  SharedKey key;
  hipError_t error = key_of(client, allocation, key);
  if (error != hipSuccess) return error;
  error = client.connection().call(allocation.device, protocol::SynchronizeDeviceRequest{});
  error = client.connection().synchronized_device(allocation.device, error);
  if (error == hipSuccess) handle = write_handle({key, to_raw(pointer) - allocation.base});
  return error;
}

hipError_t open_shared(ApiCall& call, const MemoryTicket& ticket, SharedMemory::Way way, void** pointer) {
  Client& client = call.client();
  const MutexLock lock(client.shared_memory().order());
  if (way == SharedMemory::Way::kIpc) {
    if (const auto base = client.shared_memory().open_again(ticket)) {
      *pointer = reinterpret_cast<void*>(*base + ticket.offset);
      return hipSuccess;
    }
  }
  protocol::OpenSharedRequest request{};
  request.key_low = ticket.key.low;
  request.key_high = ticket.key.high;
  protocol::OpenSharedReply reply{};
  hipError_t error = client.connection().call(call.device(), request, reply);
  if (error != hipSuccess) return error;
  int device = client.connection().own_ordinal(reply.device);
  // A device that this program does not see has no window here. What the worker has placed outside of all
  // windows must lie where this process has nothing, or all memory does.
  bool sane = ticket.offset < reply.bytes && device >= 0 && device < client.device_count() &&
              reply.bytes <= client.snapshot().devices[static_cast<std::size_t>(device)].total_memory;
  const bool outside = sane && !client.device_memory().in_window(device, reply.address, reply.bytes) &&
                       client.outside_windows().reserve(reply.address, reply.bytes);
  sane = sane && client.device_memory().add_foreign(device, reply.address, reply.bytes, outside);
  if (!sane) {
    if (outside) client.outside_windows().drop(reply.address);
    protocol::CloseSharedRequest close{};
    close.address = reply.address;
    (void)client.connection().call(call.device(), close);
    return hipErrorInvalidDevicePointer;
  }
  client.shared_memory().opened(reply.address, reply.bytes, ticket, way);
  client.connection().take_care(Care::kSharing, true);
  *pointer = reinterpret_cast<void*>(reply.address + ticket.offset);
  return hipSuccess;
}

hipError_t close_shared(ApiCall& call, std::uint64_t base) {
  Client& client = call.client();
  client.end_mapping(base);
  protocol::CloseSharedRequest request{};
  request.address = base;
  hipError_t error = client.connection().call(call.device(), request);
  client.outside_windows().drop(base);
  // The worker has waited for every device: a synchronizing call.
  for (int device = 0; device < client.device_count(); ++device)
    error = client.connection().synchronized_device(device, error);
  return error;
}

}  // namespace tf::proxy
