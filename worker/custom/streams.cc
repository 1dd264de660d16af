// SPDX-License-Identifier: Apache-2.0
// Synchronize, query and host callbacks. Executor thread, except for the jobs given to waiter threads.
//
// What is done already is answered at once; what is not is waited for on another thread, so that requests
// of the application's other threads go on.
#include <utility>

#include "worker/call.h"
#include "worker/gen/custom.h"
#include "worker/session.h"

namespace tf::worker::custom {
namespace {

// Runs `wait`, which uses `object`, on a waiter thread with the device current there, then replies.
template <typename Wait>
void wait_elsewhere(Call& call, int device, const void* object, Wait wait) {
  Session& session = call.session();
  const FrameHeader header = call.header();
  const bool running = session.waiters().run(object, [&session, header, device, wait] {
    hipError_t error = session.hip().hipSetDevice(device);
    if (error == hipSuccess) error = wait(session.hip());
    Call(session, header, {}).reply(error);
  });
  if (!running) call.reply(hipErrorOutOfMemory);
}

}  // namespace

void synchronize_device(Call& call, const protocol::SynchronizeDeviceRequest&) {
  if (!call.use_device()) return;
  const int device = call.session().current_device();
  if (call.session().device_idle(device)) return call.reply(call.hip().hipDeviceSynchronize());
  wait_elsewhere(call, device, nullptr,
                 [](const protocol::HipTable& hip) { return hip.hipDeviceSynchronize(); });
}

void synchronize_stream(Call& call, const protocol::SynchronizeStreamRequest& request) {
  if (!call.use_device()) return;
  hipStream_t stream = nullptr;
  int device = 0;
  if (!call.session().find_stream(request.stream, stream, device)) return call.reply(hipErrorInvalidHandle);
  const hipError_t now = call.hip().hipStreamQuery(stream);
  if (now != hipErrorNotReady) return call.reply(now);
  wait_elsewhere(call, device, stream,
                 [stream](const protocol::HipTable& hip) { return hip.hipStreamSynchronize(stream); });
}

void destroy_stream(Call& call, const protocol::DestroyStreamRequest& request) {
  if (!call.use_device()) return;
  Object object;
  if (!call.session().objects().unbind(protocol::HandleKind::kStream, request.stream, object))
    return call.finish(hipErrorInvalidHandle);
  const auto stream = static_cast<hipStream_t>(object.object);
  // A program may destroy what another of its threads waits for; the wait ends first.
  call.session().wait_until([&] { return !call.session().waiters().uses(stream); });
  call.finish(call.session().let_finish(stream, object.device));
}

void query_stream(Call& call, const protocol::QueryStreamRequest& request) {
  if (!call.use_device()) return;
  hipStream_t stream = nullptr;
  int device = 0;
  if (!call.session().find_stream(request.stream, stream, device)) return call.reply(hipErrorInvalidHandle);
  call.reply(call.hip().hipStreamQuery(stream));
}

void synchronize_event(Call& call, const protocol::SynchronizeEventRequest& request) {
  if (!call.use_device()) return;
  const Object* object = call.session().objects().find(protocol::HandleKind::kEvent, request.event);
  if (object == nullptr) return call.reply(hipErrorInvalidHandle);
  const auto event = static_cast<hipEvent_t>(object->object);
  const hipError_t now = call.hip().hipEventQuery(event);
  if (now != hipErrorNotReady) return call.reply(now);
  wait_elsewhere(call, object->device, event,
                 [event](const protocol::HipTable& hip) { return hip.hipEventSynchronize(event); });
}

void query_event(Call& call, const protocol::QueryEventRequest& request) {
  if (!call.use_device()) return;
  const Object* object = call.session().objects().find(protocol::HandleKind::kEvent, request.event);
  if (object == nullptr) return call.reply(hipErrorInvalidHandle);
  call.reply(call.hip().hipEventQuery(static_cast<hipEvent_t>(object->object)));
}

void host_callback(Call& call, const protocol::HostCallbackRequest& request) {
  if (!call.use_device()) return;
  hipStream_t stream = nullptr;
  int device = 0;
  if (!call.session().find_stream(request.stream, stream, device))
    return call.finish(hipErrorInvalidHandle, request.stream);
  call.finish(call.session().callbacks().enqueue(call.hip(), stream, request.cookie), request.stream);
}

// May come a second time: the executor takes it ahead of its turn while it waits (session.h).
void callback_done(Call& call, const protocol::CallbackDoneRequest& request) {
  call.session().callbacks().done(request.cookie);
  call.finish(hipSuccess);
}

}  // namespace tf::worker::custom
