// SPDX-License-Identifier: Apache-2.0
// Copies whose payload goes with the message or on the bulk plane. Any thread.
#pragma once

#include "proxy/copy/plan.h"
#include "proxy/session/callbacks.h"
#include "proxy/session/connection.h"

namespace tf::proxy {

// The payload is read on return.
hipError_t copy_inline(Connection& connection, const CopyPlan& plan);
// A plan that is early leaves its payload to the Transfers (transfers.h), which `pump` moves along; others
// have moved it on return. Where there is no memory to keep packed rows in the meantime the plan is early no
// more.
hipError_t copy_by_bulk(Connection& connection, Callbacks& pump, CopyPlan& plan);

}  // namespace tf::proxy
