// SPDX-License-Identifier: Apache-2.0
// The system calls that no session needs are refused (seccomp(2)), in all threads of the process and in all
// that it starts. What is refused: call_filter.cc.
#pragma once

#include "transport/base/status.h"

namespace tf::worker {

// Once the runtime is loaded. REQUIRES: no_new_privs is set
Status refuse_calls();
// Once the lanes are there, and before the client's first request: no new io_uring, which would make system
// calls that no filter sees.
Status refuse_new_rings();

}  // namespace tf::worker
