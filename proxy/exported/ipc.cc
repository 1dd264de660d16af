// SPDX-License-Identifier: Apache-2.0
// Device memory shared between processes: the worker knows the memory by a key, which the handles carry.
#include <mutex>

#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/memory/shared_memory.h"

namespace tf::proxy::custom {
namespace {

// The name of an allocation, from the worker the first time.
hipError_t key_of(Session& session, const DevicePointer& allocation, SharedKey& key) {
  std::lock_guard lock(session.shared_memory().order());
  if (auto known = session.shared_memory().key_of(allocation.base)) {
    key = *known;
    return hipSuccess;
  }
  protocol::ShareLeaseRequest request{};
  request.address = allocation.base;
  request.bytes = allocation.bytes;
  protocol::ShareLeaseReply reply{};
  hipError_t error = session.call(allocation.device, request, reply);
  if (error != hipSuccess) return error;
  key = {reply.key_low, reply.key_high};
  session.shared_memory().shared(allocation.base, key);
  session.note_sharing();
  return hipSuccess;
}

// Memory of another process at an address of ours.
hipError_t open_shared(ApiCall& call, const MemoryTicket& ticket, void** pointer) {
  Session& session = call.session();
  protocol::OpenSharedRequest request{};
  request.key_low = ticket.key.low;
  request.key_high = ticket.key.high;
  protocol::OpenSharedReply reply{};
  hipError_t error = session.call(call.device(), request, reply);
  if (error != hipSuccess) return error;
  int device = reply.device - session.worker_ordinal(0);
  // A device that this program does not see has no window here, nor may the worker place memory outside of
  // it.
  bool sane = ticket.offset < reply.bytes && device >= 0 && device < session.device_count() &&
              session.device_memory().add_foreign(device, reply.address, reply.bytes);
  if (!sane) {
    protocol::CloseSharedRequest close{};
    close.address = reply.address;
    (void)session.call(call.device(), close);
    return hipErrorInvalidDevicePointer;
  }
  session.shared_memory().opened(reply.address, reply.bytes);
  session.note_sharing();
  *pointer = reinterpret_cast<void*>(reply.address + ticket.offset);
  return hipSuccess;
}

}  // namespace

hipError_t hipIpcGetMemHandle(ApiCall& call, hipIpcMemHandle_t* handle, void* pointer) {
  if (handle == nullptr || pointer == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  Session& session = call.session();
  auto found = session.device_memory().find_block(to_raw(pointer));
  if (!found || session.pools().owns(found->base)) return call.finish(hipErrorInvalidDevicePointer);
  SharedKey key;
  hipError_t error = key_of(session, *found, key);
  if (error != hipSuccess) return call.finish(error);
  // Whoever opens the memory sees what was written before: as the runtime does, wait for it.
  error = session.call(found->device, protocol::SynchronizeDeviceRequest{});
  error = session.synchronized_device(found->device, error);
  if (error == hipSuccess) *handle = write_handle({key, to_raw(pointer) - found->base});
  return call.finish(error);
}

hipError_t hipIpcOpenMemHandle(ApiCall& call, void** pointer, hipIpcMemHandle_t handle, unsigned int flags) {
  auto ticket = read_handle(handle);
  if (pointer == nullptr || flags != hipIpcMemLazyEnablePeerAccess || !ticket)
    return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  if (call.session().shared_memory().is_ours(ticket->key)) return call.finish(hipErrorInvalidContext);
  return call.finish(open_shared(call, *ticket, pointer));
}

hipError_t hipIpcCloseMemHandle(ApiCall& call, void* pointer) {
  if (!call.connected()) return call.finish();
  Session& session = call.session();
  auto base = session.shared_memory().close(to_raw(pointer));
  if (!base) return call.finish(hipErrorInvalidValue);
  session.device_memory().remove_mapping(*base);
  protocol::CloseSharedRequest request{};
  request.address = *base;
  hipError_t error = session.call(call.device(), request);
  // The worker has waited for every device: a synchronizing call.
  for (int device = 0; device < session.device_count(); ++device)
    error = session.synchronized_device(device, error);
  return call.finish(error);
}

hipError_t hipIpcGetEventHandle(ApiCall& call, hipIpcEventHandle_t* handle, hipEvent_t event) {
  if (handle == nullptr || event == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  protocol::ShareEventRequest request{};
  if (!call.translate(protocol::HandleKind::kEvent, event, request.event)) return call.finish();
  protocol::ShareEventReply reply{};
  hipError_t error = call.session().call(call.device(), request, reply);
  if (error != hipSuccess) return call.finish(error);
  call.session().note_shared(request.event);
  *handle = write_event_handle({reply.key_low, reply.key_high});
  return call.finish(hipSuccess);
}

hipError_t hipIpcOpenEventHandle(ApiCall& call, hipEvent_t* event, hipIpcEventHandle_t handle) {
  auto key = read_event_handle(handle);
  if (event == nullptr || !key) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  Session& session = call.session();
  HandleTable& handles = session.handles().of(protocol::HandleKind::kEvent);
  auto made = handles.create(call.device());
  if (!made) return call.finish(hipErrorOutOfMemory);
  protocol::OpenEventRequest request{};
  request.event = made->raw();
  request.key_low = key->low;
  request.key_high = key->high;
  protocol::OpenEventReply reply{};
  hipError_t error = session.call(call.device(), request, reply);
  if (error != hipSuccess) {
    handles.remove(made->raw());
    return call.finish(error);
  }
  int device = reply.device - session.worker_ordinal(0);
  if (device < 0 || device >= session.device_count()) {  // one that this program does not see
    (void)session.post(call.device(), protocol::EventDestroyRequest{made->raw()});
    handles.remove(made->raw());
    return call.finish(hipErrorInvalidValue);
  }
  handles.set_device(made->raw(), device);
  session.note_shared(made->raw());
  *event = static_cast<hipEvent_t>(to_pointer(*made));
  return call.finish(hipSuccess);
}

}  // namespace tf::proxy::custom
