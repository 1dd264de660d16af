// SPDX-License-Identifier: Apache-2.0
// A session process: loads the HIP runtime while it is still warm-up time, then serves exactly one client and
// exits. Everything the client held dies with it.
#pragma once

#include "worker/base/options.h"

namespace tf::worker {

// Exit codes, for the supervisor's log.
inline constexpr int kExitNoRuntime = 3;
inline constexpr int kExitNoClient = 4;  // HELLO or the endpoint did not come about
inline constexpr int kExitBroken = 5;    // the session ended by an error

// Runs on the channel at kSessionChannelFd. Returns the process's exit code; the caller must leave by _exit,
// since runtimes do not survive static destructors under running threads.
int run_session_process(const Options& options);

}  // namespace tf::worker
