// SPDX-License-Identifier: Apache-2.0
// Device memory shared between processes: the worker knows the memory by a key, which the handles carry.

#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/memory/shared_memory.h"
#include "transport/base/mutex.h"

namespace tf::proxy::custom {
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

// Maps another process's memory at an address of ours.
hipError_t open_shared(ApiCall& call, const MemoryTicket& ticket, void** pointer) {
  Client& client = call.client();
  protocol::OpenSharedRequest request{};
  request.key_low = ticket.key.low;
  request.key_high = ticket.key.high;
  protocol::OpenSharedReply reply{};
  hipError_t error = client.connection().call(call.device(), request, reply);
  if (error != hipSuccess) return error;
  int device = reply.device - client.connection().worker_ordinal(0);
  // A device that this program does not see has no window here, and the worker must not place memory outside
  // a window.
  bool sane = ticket.offset < reply.bytes && device >= 0 && device < client.device_count() &&
              client.device_memory().add_foreign(device, reply.address, reply.bytes);
  if (!sane) {
    protocol::CloseSharedRequest close{};
    close.address = reply.address;
    (void)client.connection().call(call.device(), close);
    return hipErrorInvalidDevicePointer;
  }
  client.shared_memory().opened(reply.address, reply.bytes);
  client.connection().take_care(Care::kSharing, true);
  *pointer = reinterpret_cast<void*>(reply.address + ticket.offset);
  return hipSuccess;
}

}  // namespace

hipError_t hipIpcGetMemHandle(ApiCall& call, hipIpcMemHandle_t* handle, void* pointer) {
  if (handle == nullptr || pointer == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  auto found = client.device_memory().find_block(to_raw(pointer));
  if (!found || client.pools().owns(found->base)) return call.finish(hipErrorInvalidDevicePointer);
  SharedKey key;
  hipError_t error = key_of(client, *found, key);
  if (error != hipSuccess) return call.finish(error);
  // A process that opens the memory must see what was written before: wait for that, as the runtime does.
  error = client.connection().call(found->device, protocol::SynchronizeDeviceRequest{});
  error = client.connection().synchronized_device(found->device, error);
  if (error == hipSuccess) *handle = write_handle({key, to_raw(pointer) - found->base});
  return call.finish(error);
}

hipError_t hipIpcOpenMemHandle(ApiCall& call, void** pointer, hipIpcMemHandle_t handle, unsigned int flags) {
  auto ticket = read_handle(handle);
  if (pointer == nullptr || flags != hipIpcMemLazyEnablePeerAccess || !ticket)
    return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  if (call.client().shared_memory().is_ours(ticket->key)) return call.finish(hipErrorInvalidContext);
  return call.finish(open_shared(call, *ticket, pointer));
}

hipError_t hipIpcCloseMemHandle(ApiCall& call, void* pointer) {
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  auto base = client.shared_memory().close(to_raw(pointer));
  if (!base) return call.finish(hipErrorInvalidValue);
  client.device_memory().remove_mapping(*base);
  protocol::CloseSharedRequest request{};
  request.address = *base;
  hipError_t error = client.connection().call(call.device(), request);
  // The worker has waited for every device: a synchronizing call.
  for (int device = 0; device < client.device_count(); ++device)
    error = client.connection().synchronized_device(device, error);
  return call.finish(error);
}

hipError_t hipIpcGetEventHandle(ApiCall& call, hipIpcEventHandle_t* handle, hipEvent_t event) {
  if (handle == nullptr || event == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  protocol::ShareEventRequest request{};
  if (!call.translate(protocol::HandleKind::kEvent, event, request.event)) return call.finish();
  protocol::ShareEventReply reply{};
  hipError_t error = call.client().connection().call(call.device(), request, reply);
  if (error != hipSuccess) return call.finish(error);
  call.client().connection().note_shared(request.event);
  *handle = write_event_handle({reply.key_low, reply.key_high});
  return call.finish(hipSuccess);
}

hipError_t hipIpcOpenEventHandle(ApiCall& call, hipEvent_t* event, hipIpcEventHandle_t handle) {
  auto key = read_event_handle(handle);
  if (event == nullptr || !key) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  HandleTable& handles = client.handles().of(protocol::HandleKind::kEvent);
  auto made = handles.create(call.device());
  if (!made) return call.finish(hipErrorOutOfMemory);
  protocol::OpenEventRequest request{};
  request.event = made->raw();
  request.key_low = key->low;
  request.key_high = key->high;
  protocol::OpenEventReply reply{};
  hipError_t error = client.connection().call(call.device(), request, reply);
  if (error != hipSuccess) {
    handles.remove(made->raw());
    return call.finish(error);
  }
  int device = reply.device - client.connection().worker_ordinal(0);
  if (device < 0 || device >= client.device_count()) {  // a device that this program does not see
    (void)client.connection().post(call.device(), protocol::EventDestroyRequest{made->raw()});
    handles.remove(made->raw());
    return call.finish(hipErrorInvalidValue);
  }
  handles.set_device(made->raw(), device);
  client.connection().note_shared(made->raw());
  *event = static_cast<hipEvent_t>(to_pointer(*made));
  return call.finish(hipSuccess);
}

}  // namespace tf::proxy::custom
