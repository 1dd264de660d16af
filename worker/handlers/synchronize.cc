// SPDX-License-Identifier: Apache-2.0
// Synchronize, query and host callbacks. Executor thread, except the jobs given to waiter threads.
//
// Finished work is answered at once. Unfinished work is polled between requests for a while, then handed to a
// waiter thread.
#include <bit>
#include <cstdint>
#include <span>
#include <utility>

#include "worker/base/notices.h"
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {
namespace {

// A runtime may print only in its waiting calls what kernels have printed: NVIDIA's driver does. So where the
// client asks for the output, a wait that is over is waited for. `now`: what the query for it has said.
template <typename Wait>
hipError_t with_output(const FrameHeader& header, const protocol::HipTable& hip, hipError_t now, Wait wait) {
  return now == hipSuccess && header.has(kFlagWithOutput) ? wait(hip) : now;
}

// The request is answered now: how long did it wait for the device?
void note_wait(SessionState& session, ShortWaits::Clock::time_point since) {
  session.tally.device_waits.note(ShortWaits::Clock::now() - since);
}

// Of waits whose answer says nothing but the error.
struct NoMore {
  std::span<const std::byte> operator()(const protocol::HipTable&) { return {}; }
};

// The time since another event, for an event that was waited for (the reply to SynchronizeEvent, QueryEvent).
class TimeSince {
 public:
  // `start` may be null.
  TimeSince(hipEvent_t start, hipEvent_t stop) : start_(start), stop_(stop) {}
  std::span<const std::byte> operator()(const protocol::HipTable& hip) {
    if (start_ != nullptr) {
      float milliseconds = 0;
      const hipError_t error = hip.hipEventElapsedTime(&milliseconds, start_, stop_);
      reply_.timed = error == hipSuccess ? 1 : 0;
      reply_.milliseconds = std::bit_cast<std::uint32_t>(milliseconds);
    }
    return std::as_bytes(std::span(&reply_, 1));
  }

 private:
  hipEvent_t start_;
  hipEvent_t stop_;
  protocol::SynchronizeEventReply reply_{};
};

// Answers `header` with what `wait`, which uses the objects, returns on a waiter thread with the device
// current there. `since`: when it began to wait. `more`: what the reply says beside the error.
template <typename Wait, typename More>
void wait_elsewhere(SessionState& session, const FrameHeader& header, int device,
                    const AwaitedObjects& objects, ShortWaits::Clock::time_point since, Wait wait,
                    More more) {
  const bool running = session.waiters.run(objects, [&session, header, device, since, wait, more]() mutable {
    hipError_t error = session.hip.hipSetDevice(device);
    if (error == hipSuccess) error = wait(session.hip);
    note_wait(session, since);
    end_request(session.sender, header, error, more(session.hip));
  });
  if (!running) end_request(session.sender, header, hipErrorOutOfMemory);
}

// The request waits for something of `device` that the objects stand for: `query` asks without waiting,
// `wait` waits.
template <typename Query, typename Wait, typename More = NoMore>
void answer_when_done(Call& call, int device, const AwaitedObjects& objects, Query query, Wait wait,
                      More more = {}) {
  const hipError_t now = query(call.hip());
  const FrameHeader header = call.header();
  if (now != hipErrorNotReady)
    return call.reply(with_output(header, call.hip(), now, wait), more(call.hip()));
  SessionState& session = call.session();
  ShortWaits::Wait pending;
  pending.objects = objects;
  const ShortWaits::Clock::time_point since = pending.since;
  pending.answer = [&session, header, device, since, query, wait, more]() mutable {
    // Whoever waits in between has made a device current and relies on it.
    const int before = session.device.get();
    hipError_t error = session.device.use(device);
    if (error == hipSuccess) error = with_output(header, session.hip, query(session.hip), wait);
    session.device.return_to(before);
    if (error == hipErrorNotReady) return false;
    note_wait(session, since);
    end_request(session.sender, header, error, more(session.hip));
    return true;
  };
  pending.hand_over = [&session, header, device, objects, since, wait, more] {
    wait_elsewhere(session, header, device, objects, since, wait, more);
  };
  session.short_waits.add(std::move(pending));
}

hipError_t put_callback(SessionState& session, const FrameHeader& header, std::uint64_t raw_stream,
                        std::uint64_t cookie) {
  const hipError_t error = session.device.use(static_cast<int>(header.device()));
  if (error != hipSuccess) return error;
  hipStream_t stream = nullptr;
  int device = 0;
  if (!session.streams.find(raw_stream, stream, device)) return hipErrorInvalidHandle;
  return session.callbacks.enqueue(session.hip, stream, {cookie});
}

}  // namespace

void synchronize_device(Call& call, const protocol::SynchronizeDeviceRequest&) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const int device = session.device.get();
  answer_when_done(
      call, device, {},
      [&session, device](const protocol::HipTable& hip) {
        return session.streams.device_idle(device) ? hip.hipDeviceSynchronize() : hipErrorNotReady;
      },
      [](const protocol::HipTable& hip) { return hip.hipDeviceSynchronize(); });
}

void synchronize_stream(Call& call, const protocol::SynchronizeStreamRequest& request) {
  if (!call.use_device()) return;
  hipStream_t stream = nullptr;
  int device = 0;
  if (!call.session().streams.find(request.stream, stream, device)) return call.reply(hipErrorInvalidHandle);
  answer_when_done(
      call, device, {stream}, [stream](const protocol::HipTable& hip) { return hip.hipStreamQuery(stream); },
      [stream](const protocol::HipTable& hip) { return hip.hipStreamSynchronize(stream); });
}

void finish_stream(Call& call, const protocol::FinishStreamRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  hipStream_t stream = nullptr;
  int device = 0;
  if (!session.streams.find(request.stream, stream, device)) return call.finish(hipErrorInvalidHandle);
  hipError_t error = hipErrorNotReady;
  const auto is_over = [&] {
    error = session.hip.hipStreamQuery(stream);
    return error != hipErrorNotReady;
  };
  if (session.life.wait_until(is_over)) call.finish(error);
}

void query_stream(Call& call, const protocol::QueryStreamRequest& request) {
  if (!call.use_device()) return;
  hipStream_t stream = nullptr;
  int device = 0;
  if (!call.session().streams.find(request.stream, stream, device)) return call.reply(hipErrorInvalidHandle);
  const hipError_t now = call.hip().hipStreamQuery(stream);
  call.reply(with_output(call.header(), call.hip(), now, [stream](const protocol::HipTable& hip) {
    return hip.hipStreamSynchronize(stream);
  }));
}

namespace {

// The event whose time since the request asks for. Null: none, or none of the stop's device.
template <typename Request>
hipEvent_t start_in(Call& call, const Request& request, const Object& stop) {
  const Object* const start =
      request.since == 0 ? nullptr : call.session().objects.find(protocol::HandleKind::kEvent, request.since);
  return start != nullptr && start->device == stop.device ? static_cast<hipEvent_t>(start->object) : nullptr;
}

}  // namespace

void synchronize_event(Call& call, const protocol::SynchronizeEventRequest& request) {
  if (!call.use_device()) return;
  const Object* object = call.session().objects.find(protocol::HandleKind::kEvent, request.event);
  if (object == nullptr) return call.reply(hipErrorInvalidHandle);
  const auto event = static_cast<hipEvent_t>(object->object);
  const auto start = start_in(call, request, *object);
  answer_when_done(
      call, object->device, {event, start},
      [event](const protocol::HipTable& hip) { return hip.hipEventQuery(event); },
      [event](const protocol::HipTable& hip) { return hip.hipEventSynchronize(event); },
      TimeSince(start, event));
}

void query_event(Call& call, const protocol::QueryEventRequest& request) {
  if (!call.use_device()) return;
  const Object* object = call.session().objects.find(protocol::HandleKind::kEvent, request.event);
  if (object == nullptr) return call.reply(hipErrorInvalidHandle);
  const auto event = static_cast<hipEvent_t>(object->object);
  const hipError_t now = call.hip().hipEventQuery(event);
  const hipError_t error =
      with_output(call.header(), call.hip(), now,
                  [event](const protocol::HipTable& hip) { return hip.hipEventSynchronize(event); });
  const hipEvent_t start = error == hipSuccess ? start_in(call, request, *object) : nullptr;
  call.reply(error, TimeSince(start, event)(call.hip()));
}

void host_callback(Call& call, const protocol::HostCallbackRequest& request) {
  SessionState& session = call.session();
  if (!session.callbacks.wait_for_room(session.life)) return;
  const hipError_t error = put_callback(session, call.header(), request.stream, request.cookie);
  call.finish(error, request.stream);
  if (error != hipSuccess) return session.callbacks.refuse(request.cookie);
  session.attendant.callback_queued();
}

}  // namespace tf::worker::custom
