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

}  // namespace

void launch(Call& call, const protocol::LaunchRequest& request) {
  SessionState& session = call.session();
  if (!call.use_device()) return;
  hipStream_t stream = nullptr;
  int device = 0;
  hipEvent_t start = nullptr;
  hipEvent_t stop = nullptr;
  const Object* function = session.objects.find(protocol::HandleKind::kFunction, request.function);
  if (function == nullptr || !session.streams.find(request.stream, stream, device) ||
      !find_event(session, request.start_event, start) || !find_event(session, request.stop_event, stop))
    return call.finish(hipErrorInvalidHandle, request.stream);
  hipError_t error = hipSuccess;
  if (!valid_shape(request.grid, request.block)) error = hipErrorInvalidConfiguration;
  constexpr std::uint32_t kEither = kLaunchCooperative | kLaunchThreads;
  if ((request.flags & ~kEither) != 0 || request.flags == kEither) error = hipErrorInvalidValue;
  const ExecutionScope executed(session.executions, call.header(), stream, device, request.stream,
                                request.function);
  if (error == hipSuccess && start != nullptr) error = call.hip().hipEventRecord(start, stream);
  if (error == hipSuccess)
    error =
        session.modules.launch(request, static_cast<hipFunction_t>(function->object), stream, call.tail());
  if (error == hipSuccess && stop != nullptr) error = call.hip().hipEventRecord(stop, stream);
  call.finish(error, request.stream);
}

}  // namespace tf::worker::custom
