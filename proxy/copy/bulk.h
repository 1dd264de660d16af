// SPDX-License-Identifier: Apache-2.0
// Copies whose payload travels in the message or on the bulk plane. Any thread.
#pragma once

#include "proxy/copy/plan.h"
#include "proxy/session/callbacks.h"
#include "proxy/session/connection.h"

namespace tf::proxy {

// The payload has been read when this returns.
hipError_t copy_inline(Connection& connection, const CopyPlan& plan);
// An early plan leaves its payload to the Transfers (transfers.h), moved along by `pump`; for other plans it
// has moved when this returns. If there is no memory to keep packed rows meanwhile, the plan becomes one that
// is not early.
hipError_t copy_by_bulk(Connection& connection, Callbacks& pump, CopyPlan& plan);

}  // namespace tf::proxy
