// SPDX-License-Identifier: Apache-2.0
// Uses the installed transports: lists them and asks for one that does not exist.
#include <cstdio>

#include "transport/factory/factory.h"
#include "transport/net/address.h"

int main() {
  for (const tf::net::Transport* transport : tf::transports()) {
    std::printf("%s: %s\n", transport->name().data(), transport->available().to_string().c_str());
  }
  auto chosen = tf::choose("pigeon", tf::net::Address::tcp("localhost", 1));
  std::printf("%s\n", chosen.status().to_string().c_str());
  return chosen.is_ok() ? 1 : 0;
}
