// SPDX-License-Identifier: Apache-2.0
// Asks the transports which worker can be reached.
#include "proxy/session/find_worker.h"

#include "proxy/base/own_worker.h"
#include "transport/factory/factory.h"

namespace tf::proxy {

void find_worker(Settings& settings) {
  find_own_worker(settings, [&settings](const net::Address& address) {
    return choose(settings.transport, address).is_ok();
  });
}

}  // namespace tf::proxy
