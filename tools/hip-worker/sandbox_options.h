// SPDX-License-Identifier: Apache-2.0
// The options of hip-worker that are about the walls around its sessions, and whose processes they are.
#pragma once

#include "tools/command_line/command_line.h"
#include "worker/base/options.h"

namespace tf::worker {

// kInvalidArgument: what is wrong with one of them, and what is possible. REQUIRES: the other options are
// read
Status take_sandbox_options(const reference::CommandLine& line, Options& options);

}  // namespace tf::worker
