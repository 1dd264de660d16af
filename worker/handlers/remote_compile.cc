// SPDX-License-Identifier: Apache-2.0
// hiprtc. Executor thread; the compiling itself is done by threads of Compiles.
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

void send_program(Call& call, const protocol::SendProgramRequest& request) {
  call.session().compiles.receive(request.tag, request.bytes);
  call.finish(hipSuccess);
}

void compile_program(Call& call, const protocol::CompileProgramRequest& request) {
  if (!call.use_device()) return;
  SessionState& session = call.session();
  const hipError_t error = session.compiles.start(call.header(), request.program, session.device.get());
  if (error != hipSuccess) call.reply(error);
}

void fetch_program(Call& call, const protocol::FetchProgramRequest& request) {
  call.session().compiles.fetch(request.program, request.tag);
  call.finish(hipSuccess);
}

}  // namespace tf::worker::custom
