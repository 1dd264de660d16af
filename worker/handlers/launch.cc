// SPDX-License-Identifier: Apache-2.0
// Launches. Executor thread.
#include "worker/gen/custom.h"
#include "worker/session/call.h"
#include "worker/session/launch_shape.h"

namespace tf::worker::custom {
namespace {

// 0, or an event of the session. False: unknown.
bool find_event(SessionState& session, std::uint64_t raw, hipEvent_t& event) {
  if (raw == 0) return true;
  const Object* object = session.objects.find(protocol::HandleKind::kEvent, raw);
  if (object == nullptr) return false;
  event = static_cast<hipEvent_t>(object->object);
  return true;
}

// A launch that is counted in threads may be refused, and then records nothing: the runtime records its
// events.
hipError_t launch_with_events(Call& call, const protocol::LaunchRequest& request, hipFunction_t function,
                              hipStream_t stream, const LaunchEvents& events) {
  const Modules& modules = call.session().modules;
  if ((request.flags & kLaunchThreads) != 0)
    return modules.launch_by_threads(request, function, stream, events, call.tail());
  hipError_t error = hipSuccess;
  if (events.start != nullptr) error = call.hip().hipEventRecord(events.start, stream);
  if (error == hipSuccess) error = modules.launch(request, function, stream, call.tail());
  if (error == hipSuccess && events.stop != nullptr) error = call.hip().hipEventRecord(events.stop, stream);
  return error;
}

}  // namespace

void launch(Call& call, const protocol::LaunchRequest& request) {
  SessionState& session = call.session();
  if (!call.use_device()) return;
  hipStream_t stream = nullptr;
  int device = 0;
  LaunchEvents events;
  const Object* function = session.objects.find(protocol::HandleKind::kFunction, request.function);
  if (function == nullptr || !session.streams.find(request.stream, stream, device) ||
      !find_event(session, request.start_event, events.start) ||
      !find_event(session, request.stop_event, events.stop))
    return call.finish(hipErrorInvalidHandle, request.stream);
  hipError_t error = hipSuccess;
  if (!valid_shape(request.grid, request.block)) error = hipErrorInvalidConfiguration;
  constexpr std::uint32_t kEither = kLaunchCooperative | kLaunchThreads;
  if ((request.flags & ~kEither) != 0 || request.flags == kEither) error = hipErrorInvalidValue;
  const ExecutionScope executed(session.executions, call.header(), stream, device, request.stream,
                                request.function);
  if (error == hipSuccess)
    error = launch_with_events(call, request, static_cast<hipFunction_t>(function->object), stream, events);
  call.finish(error, request.stream);
}

}  // namespace tf::worker::custom
