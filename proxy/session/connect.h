// SPDX-License-Identifier: Apache-2.0
// From settings to a session: control connection, HELLO, transport, lanes. Blocks at most the connect
// timeout.
#pragma once

#include "proxy/base/environment.h"
#include "proxy/session/session.h"
#include "transport/base/status.h"

namespace tf::proxy {

// The failure says what was tried and what to do.
Result<Session::Parts> connect(const Settings& settings);

}  // namespace tf::proxy
