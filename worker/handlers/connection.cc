// SPDX-License-Identifier: Apache-2.0
// The session itself. Executor thread.
#include "worker/gen/custom.h"
#include "worker/session/call.h"

namespace tf::worker::custom {

void goodbye(Call& call, const protocol::GoodbyeRequest&) {
  call.session().life.drain();
  call.finish(hipSuccess);
}

}  // namespace tf::worker::custom
