// SPDX-License-Identifier: Apache-2.0
// Which level a session has to have, and the files that it takes.
#pragma once

#include <string>

#include "proxy/base/environment.h"
#include "transport/base/status.h"
#include "transport/net/address.h"
#include "transport/secure/level.h"

namespace tf::proxy {

struct KeyPlan {
  secure::Level level = secure::Level::kNone;
  std::string key_file;       // unless the level is none, as is
  std::string known_workers;  // this
};

// What the settings mean towards this address. `on_host`: the connection does not leave this host. Over a
// Unix socket the kernel says who is at the other end, and nothing leaves the host, so no keys are used.
Result<KeyPlan> plan_keys(const Settings& settings, const net::Address& address, bool on_host);

}  // namespace tf::proxy
