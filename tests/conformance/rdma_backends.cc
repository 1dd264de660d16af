// SPDX-License-Identifier: Apache-2.0
// rdma over a strict provider in this process, with and without memory that may be pinned. Over the system's
// devices it is in the list of all transports.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rdma/transport.h"
#include "tests/conformance/backends.h"
#include "tests/conformance/rdma_provider.h"

namespace tf::conformance {
namespace {

using Provider = RdmaProvider& (*)();

// Made when first used, and never destroyed: endpoints of a test that failed may be there at the end.
RdmaProvider& plain() {
  static RdmaProvider& instance = *new RdmaProvider(two_devices());
  return instance;
}

RdmaProvider& pinning_nothing() {
  static RdmaProvider& instance = *new RdmaProvider(two_devices());
  return instance;
}

RdmaProvider& paging() {
  static RdmaProvider& instance = *new RdmaProvider(two_paging_devices());
  return instance;
}

Backend in_process(std::string name, Provider provider) {
  return {.name = std::move(name),
          .transport = [provider]() -> const net::Transport& { return provider().transport(); },
          .listen = test::listen_tcp,
          .wrap = {},
          .one_process_only = "its verbs provider lives in one process",
          .check = [provider] { provider().check_rules(); }};
}

// Nothing more is pinned once both endpoints are there.
Backend limited(std::string name, Provider provider) {
  Backend backend = in_process(std::move(name), provider);
  backend.listen = [provider] {
    provider().lift_limit();
    return test::listen_tcp();
  };
  backend.wrap = [provider](std::unique_ptr<Endpoint> client) {
    provider().limit();
    return client;
  };
  return backend;
}

}  // namespace

std::vector<Backend> rdma_backends() {
  return {in_process("rdma_provider", plain), limited("rdma_slots", pinning_nothing),
          limited("rdma_on_demand", paging)};
}

}  // namespace tf::conformance
