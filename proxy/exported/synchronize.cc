// SPDX-License-Identifier: Apache-2.0
// Synchronizing and querying: the calls that return the failures of posted calls.
#include <bit>

#include "proxy/base/thread_state.h"
#include "proxy/copy/completion.h"
#include "proxy/exported/support.h"
#include "proxy/gen/custom.h"
#include "proxy/graphs/graphs.h"

namespace tf::proxy::custom {

using protocol::HandleKind;

hipError_t hipDeviceSynchronize(ApiCall& call) {
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  if (client.graphs().capturing()) {
    if (const auto verdict = client.graphs().library().refuse_device(call.device()))
      return call.finish(*verdict);
  }
  client.about_to_wait();
  return call.finish(client.connection().synchronize_device(call.device()));
}

// Finishes the device's work, clears its errors and flags, and frees its memory, that of its kernels too, as
// AMD's runtime does. The program keeps its other objects.
hipError_t hipDeviceReset(ApiCall& call) {
  if (!call.connected()) return call.finish();
  Client& client = call.client();
  const hipError_t error = client.connection().synchronize_device(call.device());
  client.free_memory(call.device());
  client.pools().set_current(call.device(), 0);
  client.set_device_flags(call.device(), hipDeviceScheduleAuto);
  static_cast<void>(client.connection().post(call.device(), protocol::ResetDeviceRequest{}));
  return call.finish(error == kLostError ? error : hipSuccess);
}

namespace {

hipError_t refuse_wait(ApiCall& call, std::uint64_t stream) {
  Graphs& graphs = call.client().graphs();
  if (!graphs.capturing()) return hipSuccess;
  return graphs.library()
      .refuse_wait(graphs.reference(call.device(), stream), thread_state().capture_mode)
      .value_or(hipSuccess);
}

// `ask` waits for the stream, or polls: asks whether it is done. Programs of HIP 5 ask for the null stream's
// earlier work with it.
template <typename Ask>
hipError_t ask_for(Client& client, int device, std::uint64_t stream, bool polls, Ask ask) {
  const Streams& streams = client.streams();
  if (!streams.asks_for_null(device, stream)) return ask();
  PendingWork& pending = client.streams().pending_work();
  const std::uint64_t null = PendingWork::mark_of(streams.device_of(device, stream), 0);
  const PendingWork::Proof proof = pending.begin(null, false);
  hipError_t error =
      client.connection().post(device, protocol::FollowNullRequest{.stream = stream, .polls = polls});
  if (error == hipSuccess) error = ask();
  pending.end(proof, error == hipSuccess);
  return error;
}

}  // namespace

hipError_t hipStreamSynchronize(ApiCall& call, hipStream_t stream) {
  if (!call.connected()) return call.finish();
  std::uint64_t handle = 0;
  if (!call.translate(HandleKind::kStream, stream, handle)) return call.finish();
  if (hipError_t refused = refuse_wait(call, handle); refused != hipSuccess) return call.finish(refused);
  Client& client = call.client();
  client.about_to_wait();
  if (may_leave_wait(client.copies(), call.device(), handle))
    return call.finish(client.connection().leave_wait(call.device(), handle));
  const auto wait = [&] { return client.connection().synchronize_stream(call.device(), handle); };
  return call.finish(ask_for(client, call.device(), handle, false, wait));
}

hipError_t hipStreamQuery(ApiCall& call, hipStream_t stream) {
  if (!call.connected()) return call.finish();
  protocol::QueryStreamRequest request{};
  if (!call.translate(HandleKind::kStream, stream, request.stream)) return call.finish();
  if (hipError_t refused = refuse_wait(call, request.stream); refused != hipSuccess)
    return call.finish(refused);
  Client& client = call.client();
  client.about_to_wait();
  Connection& connection = client.connection();
  const int device = call.device();
  const bool waits = client.streams().quiet() || client.streams().owes_wait(device, request.stream);
  const auto ask = [&] {
    if (waits) return connection.synchronize_stream(device, request.stream);
    // Done at the worker means that copies to here are in flight: waits for the rest.
    return connection.synchronize_stream(device, request.stream,
                                         [&] { return connection.call(device, request); });
  };
  return call.finish(ask_for(client, device, request.stream, true, ask));
}

namespace {

// Asks the worker. The answer may also have the time since another event (EventTimes).
template <typename Request>
hipError_t ask_worker(Client& client, int device, Request request, const EventRecording& recording) {
  EventRecordings& recordings = client.streams().recordings();
  const auto question = recordings.ask(request.event);
  const std::uint64_t start = client.streams().times().start_of(request.event);
  const auto started = start != 0 ? recordings.find(start) : std::nullopt;
  const bool timed = started && started->recorded && !started->shared && !recording.shared;
  if (timed) request.since = start;
  const auto since = timed ? recordings.ask(start) : EventRecordings::Question{};
  protocol::SynchronizeEventReply reply{};
  static_assert(sizeof reply == sizeof(protocol::QueryEventReply));
  hipError_t error = hipSuccess;
  if (client.streams().owes_wait(recording))
    error = client.connection().call(
        device, protocol::SynchronizeEventRequest{.event = request.event, .since = request.since}, reply);
  else
    error = client.connection().call(device, request, reply);
  if (error != hipSuccess) return error;
  const auto stop_stamp = recordings.note_reached(request.event, question);
  if (!timed || reply.timed == 0 || !stop_stamp) return error;
  if (const auto start_stamp = recordings.note_reached(start, since))
    client.streams().times().note(
        {start, request.event, *start_stamp, *stop_stamp, std::bit_cast<float>(reply.milliseconds)});
  return error;
}

// Asks about the event, and takes the failures of its stream. An event that was never recorded is done, and
// has no failure.
template <typename Request>
hipError_t ask_event(Client& client, int device, const Request& request) {
  if (client.graphs().capturing()) {
    if (const auto verdict = client.graphs().library().refuse_event(request.event)) return *verdict;
  }
  auto recording = client.streams().recordings().find(request.event);
  if (!recording) return client.connection().lost() ? kLostError : hipSuccess;
  // Reached: recorded before the last wait after which nothing was pending, or the worker has said so.
  const bool reached =
      !recording->shared && !client.connection().lost() && (recording->reached || client.streams().quiet());
  hipError_t error = hipSuccess;
  if (!reached) {
    client.about_to_wait();
    error = ask_worker(client, device, request, *recording);
  }
  if (error != hipSuccess || !recording->recorded) return error;
  // Copies before it land here first.
  if (recording->transfers != 0)
    client.streams().await_copies(recording->device, recording->stream, recording->transfers);
  if (hipError_t failed = client.waited(); failed != hipSuccess) return failed;
  return client.streams().faults().take_stream(recording->device, recording->stream);
}

}  // namespace

hipError_t hipEventSynchronize(ApiCall& call, hipEvent_t event) {
  if (!call.connected()) return call.finish();
  protocol::SynchronizeEventRequest request{};
  if (!call.translate(HandleKind::kEvent, event, request.event)) return call.finish();
  return call.finish(ask_event(call.client(), call.device(), request));
}

hipError_t hipEventQuery(ApiCall& call, hipEvent_t event) {
  if (!call.connected()) return call.finish();
  protocol::QueryEventRequest request{};
  if (!call.translate(HandleKind::kEvent, event, request.event)) return call.finish();
  return call.finish(ask_event(call.client(), call.device(), request));
}

hipError_t hipStreamAddCallback(ApiCall& call, hipStream_t stream, hipStreamCallback_t callback,
                                void* user_data, unsigned int flags) {
  if (callback == nullptr || flags != 0) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  std::uint64_t handle = 0;
  if (!call.translate(HandleKind::kStream, stream, handle)) return call.finish();
  if (hipError_t refused = refuse_captured(call, handle); refused != hipSuccess) return call.finish(refused);
  auto run = [=](hipError_t status) { callback(stream, status, user_data); };
  return call.finish(call.client().callbacks().add(call.device(), handle, run));
}

hipError_t hipLaunchHostFunc(ApiCall& call, hipStream_t stream, hipHostFn_t function, void* user_data) {
  if (function == nullptr) return call.finish(hipErrorInvalidValue);
  if (!call.connected()) return call.finish();
  std::uint64_t handle = 0;
  if (!call.translate(HandleKind::kStream, stream, handle)) return call.finish();
  if (Graphs& graphs = call.client().graphs(); graphs.capturing()) {
    const auto verdict = graphs.library().capture(graphs.reference(call.device(), handle),
                                                  graph::HostWork{function, user_data});
    if (verdict) return call.finish(*verdict);
  }
  auto run = [=](hipError_t) { function(user_data); };
  return call.finish(call.client().callbacks().add(call.device(), handle, run));
}

}  // namespace tf::proxy::custom
