// SPDX-License-Identifier: Apache-2.0
// Device memory shared between processes: the worker knows the memory by a key, which the handles carry.

#include "hipcore/abi/rules.h"
#include "proxy/base/log.h"
#include "proxy/exported/sharing.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/memory/shared_memory.h"
#include "transport/base/mutex.h"

namespace tf::proxy::custom {
namespace {

// Fine-grained memory that is host memory (hipExtMallocWithFlags). Libraries ask for its handle before they
// know whether another process needs it: RCCL does for ranks of one process.
hipError_t name_host_memory(Client& client, const HostRange& range, hipIpcMemHandle_t& handle) {
  const auto key = client.shared_memory().name_privately(range.base);
  if (!key) return hipErrorOperatingSystem;
  handle = write_handle({*key, kOffsetOnHost});
  return hipSuccess;
}

}  // namespace

hipError_t hipIpcGetMemHandle(ApiCall& call, hipIpcMemHandle_t* handle, void* pointer) {
  if (handle == nullptr || pointer == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  const auto host = client.host_memory().find(pointer);
  if (host && host->kind == HostRange::Kind::kFineGrained)
    return call.finish(name_host_memory(client, *host, *handle));
  auto found = client.device_memory().find_block(to_raw(pointer));
  if (!found || client.pools().owns(found->base)) return call.finish(hipErrorInvalidDevicePointer);
  return call.finish(share_memory(client, *found, pointer, *handle));
}

hipError_t hipIpcOpenMemHandle(ApiCall& call, void** pointer, hipIpcMemHandle_t handle, unsigned int flags) {
  auto ticket = read_handle(handle);
  if (pointer == nullptr || !abi::kRules.takes_ipc_flags(flags) || !ticket)
    return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  if (call.client().shared_memory().is_ours(ticket->key)) return call.finish(hipErrorInvalidContext);
  if (ticket->offset == kOffsetOnHost) {
    static LogOnce told;
    told.line(
        "hipIpcOpenMemHandle: it is memory of hipExtMallocWithFlags, which the exporting process has as "
        "host memory; other processes can open memory of hipMalloc (hipErrorNotSupported)");
    return call.finish(hipErrorNotSupported);
  }
  return call.finish(open_shared(call, *ticket, SharedMemory::Way::kIpc, pointer));
}

hipError_t hipIpcCloseMemHandle(ApiCall& call, void* pointer) {
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  const MutexLock lock(client.shared_memory().order());
  const auto closed = client.shared_memory().close(to_raw(pointer), SharedMemory::Way::kIpc);
  if (!closed) return call.finish(hipErrorInvalidValue);
  return call.finish(closed->last ? close_shared(call, closed->base) : hipSuccess);
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
  int device = client.connection().own_ordinal(reply.device);
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
