// SPDX-License-Identifier: Apache-2.0
// Looks for the worker of this user.
#include "proxy/base/own_worker.h"

#include "transport/net/own_socket.h"

namespace tf::proxy {

bool has_choice(const Settings& settings) {
  return !is_worker_named() && settings.key_file.empty() &&
         settings.security.value_or(secure::Level::kNone) == secure::Level::kNone;
}

void find_own_worker(Settings& settings, const Reaches& reaches) {
  if (!has_choice(settings)) return;
  const net::Address address = net::Address::unix_socket(net::own_socket());
  if (reaches(address) && net::listens_as_this_user(address.path())) settings.worker = address.to_string();
}

}  // namespace tf::proxy
