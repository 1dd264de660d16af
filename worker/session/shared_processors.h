// SPDX-License-Identifier: Apache-2.0
// Where the host's processors are the device: how a session shares them with the worker's other ones.
#pragma once

#include <cstdint>

#include "transport/base/status.h"
#include "transport/net/fd.h"
#include "worker/base/optional_functions.h"

namespace tf::worker {

// The descriptor that the supervisor has left for it (kTurnsFd); children do not get it. REQUIRES: it has
// left one.
net::OwnedFd take_page_of_turns();

// `page`: what the supervisor has given, with `slot` (worker/supervisor/turn_table.h). `weight`: 0 is as all
// others. Nothing is done where kernels do not run on the host. Once, before the first kernel.
Status share_processors(const OptionalFunctions& runtime, const net::OwnedFd& page, std::uint32_t slot,
                        std::uint64_t weight);

}  // namespace tf::worker
