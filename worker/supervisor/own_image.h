// SPDX-License-Identifier: Apache-2.0
// Starts this program again, as a session process or as the SMI process. Always a fresh program image: a
// process that has used a vendor's library must not be forked.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <span>
#include <string>
#include <vector>

#include "transport/base/status.h"

namespace tf::worker {

// Those that the supervisor takes from a descriptor; children get them as usual.
sigset_t handled_signals();

// `to`, a number in the child, becomes a copy of `from`; of nothing if that is negative.
struct PassedDescriptor {
  int from = -1;
  int to = -1;
};

// REQUIRES: no `to` is among the `from`. The child has a process group of its own: Ctrl-C in a terminal
// reaches the supervisor, which lets sessions finish.
Result<pid_t> start_own_image(std::vector<std::string> arguments, std::span<const PassedDescriptor> passed);

}  // namespace tf::worker
