// SPDX-License-Identifier: Apache-2.0
// The limit on open descriptors of the worker's processes (RLIMIT_NOFILE).
#pragma once

#include <cstddef>

#include "transport/base/status.h"

namespace tf::worker {

// The least that serves a client: a session with its lanes, rings, shared files and a compiler's pipes.
inline constexpr unsigned long kDescriptorsMin = 64;
// What we ask for. Each session, and each offer, costs the supervisor one.
inline constexpr unsigned long kDescriptorsWanted = 16384;

// Raises the limit of this process, and of those it starts, as far as the system allows (the hard limit), and
// returns it. kResourceExhausted: that is less than kDescriptorsMin.
Result<std::size_t> raise_descriptor_limit();

}  // namespace tf::worker
