// SPDX-License-Identifier: Apache-2.0
// The session itself. Executor thread.
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

void goodbye(Call& call, const protocol::GoodbyeRequest&) {
  call.session().life.drain();
  call.finish(hipSuccess);
}

void read_clock(Call& call, const protocol::ReadClockRequest&) {
  const protocol::ReadClockReply reply{Executions::now_ns()};
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

void trace_executions(Call& call, const protocol::TraceExecutionsRequest&) {
  call.session().executions.turn_on();
  call.reply(hipSuccess);
}

void fetch_executions(Call& call, const protocol::FetchExecutionsRequest&) {
  if (!call.session().executions.on()) return call.reply(hipErrorInvalidValue);
  call.session().direct_copies.collect();
  const protocol::FetchExecutionsReply reply = call.session().executions.fetch();
  call.reply(hipSuccess, std::as_bytes(std::span(&reply, 1)));
}

}  // namespace tf::worker::custom
