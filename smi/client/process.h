// SPDX-License-Identifier: Apache-2.0
// The one SMI session of a process that has loaded a vendor's client library. Any thread.
#pragma once

#include <functional>

#include "smi/client/remote.h"
#include "transport/base/status.h"

namespace tf::smi {

// Vendors' libraries count: as many shut_down() as init() end the session. A process made by fork() has none
// and may begin its own. kUnavailable and others: no worker; why is printed on standard error once.
Status init();
// kInvalidArgument: there were no more init().
Status shut_down();
// Runs `use` with the session, which does not end meanwhile. kUnavailable: there is none.
Status with_remote(const std::function<Status(Remote&)>& use);

}  // namespace tf::smi
