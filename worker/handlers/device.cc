// SPDX-License-Identifier: Apache-2.0
// Devices: their limits. Executor thread.
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

void set_limit(Call& call, const protocol::SetLimitRequest& request) {
  if (!call.use_device()) return;
  const auto limit = static_cast<hipLimit_t>(request.limit);
  const hipError_t error = call.hip().hipDeviceSetLimit(limit, request.value);
  std::size_t kept = request.value;
  // A runtime that takes a limit, but does not tell it, keeps it as it was said.
  OwnCalls& own = call.session().own_calls;
  if (error == hipSuccess && own.keep(call.hip().hipDeviceGetLimit(&kept, limit)) != hipSuccess)
    kept = request.value;
  protocol::SetLimitReply reply{};
  reply.value = kept;
  call.reply(error, std::as_bytes(std::span(&reply, 1)));
}

// Memory and the device's flags are the client's. A runtime without the function keeps its heap.
void reset_device(Call& call, const protocol::ResetDeviceRequest&) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const int own = session.device.get();
  for (int peer = 0; peer < session.device.count(); ++peer)
    if (peer != own) session.own_calls.pass_on(call.hip().hipDeviceDisablePeerAccess(peer));
  call.finish(session.empty_heap != nullptr ? session.own_calls.keep(session.empty_heap(own)) : hipSuccess);
}

}  // namespace tf::worker::custom
