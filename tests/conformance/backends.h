// SPDX-License-Identifier: Apache-2.0
// The transports, and variants of them, that the conformance suite runs over.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/endpoint_pair.h"

namespace tf::conformance {

struct Backend {
  std::string name;
  // How its lanes are made; null for the loopback, which has none and lives in one process.
  std::function<const net::Transport&()> transport;
  std::function<Result<net::Listener>()> listen;
  // What the client's end is wrapped in; null: nothing.
  std::function<std::unique_ptr<Endpoint>(std::unique_ptr<Endpoint>)> wrap = {};
  // Why it cannot be run as two processes; empty: it can.
  std::string one_process_only = {};
  // More payload than may be on its way while nobody receives it.
  std::size_t more_than_fits = 8 << 20;
  // At the end of every test; null: nothing.
  std::function<void()> check = {};

  std::unique_ptr<Endpoint> client(std::unique_ptr<Endpoint> endpoint) const {
    return wrap ? wrap(std::move(endpoint)) : std::move(endpoint);
  }
};

// Every transport of this build as it is (transport/factory/transports.txt), the loopback, and what
// transports have of variants: backends.cc.
std::span<const Backend> backends();

// Variants of rdma; none in a build without it (rdma_backends.cc, no_rdma_backends.cc).
std::vector<Backend> rdma_backends();

}  // namespace tf::conformance
