// SPDX-License-Identifier: Apache-2.0
// Making and destroying arrays. Executor thread.
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

void create_array(Call& call, const protocol::CreateArrayRequest& request) {
  if (!call.use_device()) return;
  call.reply(call.session().arrays.create(request, static_cast<int>(call.header().device())));
}

void destroy_array(Call& call, const protocol::DestroyArrayRequest& request) {
  SessionState& session = call.session();
  const int device = session.arrays.device_of(request.base);
  if (device < 0) return call.finish(hipErrorInvalidValue);
  if (!session.streams.wait_device_idle(device)) return;
  if (const hipError_t error = session.device.use(device); error != hipSuccess) return call.finish(error);
  session.graphs.forget_array(request.base);
  call.finish(session.arrays.destroy(request.base));
}

}  // namespace tf::worker::custom
