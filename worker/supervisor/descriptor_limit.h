// SPDX-License-Identifier: Apache-2.0
// How many descriptors the processes of a worker may have open (RLIMIT_NOFILE).
#pragma once

#include "transport/base/status.h"

namespace tf::worker {

// Fewer are not enough to serve anybody: a session with its lanes, rings, shared files and a compiler's
// pipes.
inline constexpr unsigned long kDescriptorsMin = 64;
// As many are asked for where the system allows them. Each session costs the supervisor one, each offer too.
inline constexpr unsigned long kDescriptorsWanted = 16384;

// Raises this process's limit, and that of what it starts, as far as the system allows (its hard limit).
// kResourceExhausted: that is less than kDescriptorsMin.
Status raise_descriptor_limit();

}  // namespace tf::worker
