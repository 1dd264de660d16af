// SPDX-License-Identifier: Apache-2.0
// Which worker, if no variable says: first the one of this user, on the socket where it listens by itself.
#pragma once

#include <functional>

#include "proxy/base/environment.h"
#include "transport/net/address.h"

namespace tf::proxy {

// Whether the transport that was asked for reaches that address.
using Reaches = std::function<bool(const net::Address&)>;

// Whether no variable names a worker, or asks for keys.
bool has_choice(const Settings& settings);

// Puts that worker into the settings if they have a choice, and it listens. Else they stay as they are.
void find_own_worker(Settings& settings, const Reaches& reaches);

}  // namespace tf::proxy
