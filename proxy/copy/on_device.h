// SPDX-License-Identifier: Apache-2.0
// Copies between addresses that the worker reaches: a message without payload. Any thread.
#pragma once

#include "proxy/copy/plan.h"
#include "proxy/session/connection.h"

namespace tf::proxy {

// Posts it and does not wait. `leaves`: kWork if the program does not know the memory of the host's end.
// REQUIRES: CopyEngine::reaches() holds for both ends
hipError_t post_on_device(Connection& connection, const CopyMode& mode, const Box& box, Leaves leaves);

}  // namespace tf::proxy
