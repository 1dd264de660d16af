// SPDX-License-Identifier: Apache-2.0
// Holds the place of a transport that this build lacks, so that asking for it gives a reason.
#pragma once

#include <string_view>

#include "transport/net/transport.h"

namespace tf {

// Lives as long as the program, as both texts must. `why` completes "this build has no rdma transport (...)".
const net::Transport& absent_transport(std::string_view name, std::string_view why);

}  // namespace tf
