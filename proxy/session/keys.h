// SPDX-License-Identifier: Apache-2.0
// The client's side of keys: the handshake on the control connection.
#pragma once

#include <memory>

#include "proxy/base/key_plan.h"
#include "transport/base/deadline.h"
#include "transport/base/status.h"
#include "transport/net/address.h"
#include "transport/net/fd.h"
#include "transport/net/stream.h"
#include "transport/secure/session.h"

namespace tf::proxy {

struct SecuredControl {
  net::OwnedStream control;
  std::shared_ptr<const secure::Session> session;  // null: the level is none
};

// Takes a fresh connection. Writes its attach frame and proves both ends, unless the level is none: then
// nothing is sent. A worker that was never met before is added to the known ones, and named on standard
// error.
Result<SecuredControl> secure_control(net::OwnedFd socket, const KeyPlan& plan, const net::Address& address,
                                      Deadline deadline);

}  // namespace tf::proxy
