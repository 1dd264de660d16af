// SPDX-License-Identifier: Apache-2.0
// The options of hip-worker that are about its Unix socket: where it is, and who may connect.
#pragma once

#include "tools/command_line/command_line.h"
#include "worker/base/options.h"

namespace tf::worker {

// kInvalidArgument: what is wrong with one of them, and what is possible.
Status take_socket_options(const reference::CommandLine& line, Options& options);

}  // namespace tf::worker
