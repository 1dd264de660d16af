// SPDX-License-Identifier: Apache-2.0
// A session process: loads the HIP runtime ahead of time, then serves exactly one client and exits.
// Everything the client held dies with it.
#pragma once

#include "worker/base/options.h"
#include "worker/session/dispatch.h"

namespace tf::worker {

// Runs on the channel at kSessionChannelFd; `handlers` execute the requests. Returns the process's exit code
// (exit_codes.h); the caller must leave by _exit, since runtimes do not survive static destructors under
// running threads.
int run_session_process(const Options& options, const DispatchTable& handlers);

}  // namespace tf::worker
