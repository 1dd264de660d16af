// SPDX-License-Identifier: Apache-2.0
// rdma over a strict provider in this process, and over the system's devices where it has any.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "rdma/transport.h"
#include "tests/conformance/backends.h"
#include "tests/support/verbs/fake_fabric.h"

namespace tf::conformance {
namespace {

// Never destroyed: endpoints of a test that failed may be there at the end.
test::FakeFabric& fabric() {
  static test::FakeFabric& instance = *new test::FakeFabric;
  return instance;
}

// Says each violation once.
void check_rules() {
  static std::size_t told = 0;
  const std::vector<std::string> violations = fabric().violations();
  for (; told < violations.size(); ++told) ADD_FAILURE() << violations[told];
  EXPECT_EQ(fabric().counters().rnr, 0u);
}

}  // namespace

std::vector<Backend> rdma_backends() {
  const auto in_process = []() -> const net::Transport& {
    static const net::Transport& instance = *rdma::make_transport(*fabric().verbs(), {}).release();
    return instance;
  };
  return {{.name = "rdma",
           .transport = in_process,
           .listen = test::listen_tcp,
           .wrap = {},
           .one_process_only = "its verbs provider lives in one process",
           .check = check_rules},
          {.name = "rdma_verbs", .transport = rdma::transport, .listen = test::listen_tcp}};
}

}  // namespace tf::conformance
