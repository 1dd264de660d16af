// SPDX-License-Identifier: Apache-2.0
// EndpointsTest: two endpoints of the transport in this process, on two devices of a fake fabric. A test ends
// without violations of the rules, and with nothing left.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "rdma/transport.h"
#include "tests/support/endpoint_pair.h"
#include "tests/support/verbs/fake_fabric.h"

namespace tf::rdma {

class EndpointsTest : public testing::Test {
 protected:
  void SetUp() override { connect(*fabric_.verbs()); }
  void connect(const Verbs& verbs) {
    transport_ = make_transport(verbs, {});
    Result<net::Listener> listener = test::listen_tcp();
    ASSERT_TRUE(listener.is_ok());
    Result<test::EndpointPair> pair = test::connect_pair(*transport_, *listener);
    ASSERT_TRUE(pair.is_ok()) << pair.status().to_string();
    pair_ = std::move(pair.value());
  }
  void TearDown() override {
    pair_ = {};
    EXPECT_EQ(fabric_.violations(), std::vector<std::string>{});
    EXPECT_EQ(fabric_.counters().rnr, 0u);
    EXPECT_EQ(fabric_.live_objects(), 0u);
  }

  // Moves payload at both ends until all of `completions` are done. False: not within a minute.
  template <typename Completions>
  bool move_until_done(const Completions& completions) {
    const Deadline deadline = Deadline::after(std::chrono::seconds(60));
    const auto done = [&] {
      for (const BulkCompletion& each : completions)
        if (!each.done()) return false;
      return true;
    };
    while (!done() && !deadline.passed()) {
      static_cast<void>(pair_.client->bulk().poll());
      static_cast<void>(pair_.server->bulk().poll());
    }
    return done();
  }

  test::FakeFabric fabric_;
  std::unique_ptr<net::Transport> transport_;
  test::EndpointPair pair_;
};

}  // namespace tf::rdma
