// SPDX-License-Identifier: Apache-2.0
// EndpointsTest: two endpoints of the transport in this process, over a fake fabric: the client's on its
// device fake0, the worker's on fake1. A test ends without violations of the rules, and with nothing left.
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
  EndpointsTest() = default;
  explicit EndpointsTest(std::vector<test::FakeDevice> devices) : fabric_(std::move(devices)) {}

  void SetUp() override { open({}, {}); }
  void open(const Options& client, const Options& worker) {
    const Status status = connect(client, worker);
    ASSERT_TRUE(status.is_ok()) << status.to_string();
  }
  // Whatever device the options name.
  Status connect(Options client, Options worker) {
    client.device.name = "fake0";
    worker.device.name = "fake1";
    client_transport_ = make_transport(*verbs_, client);
    worker_transport_ = make_transport(*verbs_, worker);
    Result<net::Listener> listener = test::listen_tcp();
    if (!listener) return listener.status();
    Result<test::EndpointPair> pair = test::connect_pair(*client_transport_, *worker_transport_, *listener);
    if (pair) pair_ = std::move(pair.value());
    return pair.status();
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
      static_cast<void>(pair_.client->bulk().move_payload());
      static_cast<void>(pair_.server->bulk().move_payload());
    }
    return done();
  }

  test::FakeFabric fabric_;
  const Verbs* verbs_ = fabric_.verbs();  // or a table that a test has made of it
  std::unique_ptr<net::Transport> client_transport_, worker_transport_;
  test::EndpointPair pair_;
};

}  // namespace tf::rdma
