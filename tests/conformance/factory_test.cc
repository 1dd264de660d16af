// SPDX-License-Identifier: Apache-2.0
// The meaning of TF_TRANSPORT.
#include "transport/factory/factory.h"

#include <gtest/gtest.h>

namespace tf {
namespace {

const net::Address kFar = net::Address::tcp("192.0.2.1", 18515);
const net::Address kNear = net::Address::unix_socket("@tf-factory-test");

TEST(Factory, ListsTransportsBestFirst) {
  ASSERT_EQ(transports().size(), 3u);
  EXPECT_EQ(transports()[0]->name(), "shm");
  EXPECT_EQ(transports()[1]->name(), "rdma");
  EXPECT_EQ(transports()[2]->name(), "tcp");
  for (const net::Transport* transport : transports()) EXPECT_NE(transport->acceptor({}), nullptr);
  EXPECT_EQ(transport_of(net::TransportKind::kShm)->name(), "shm");
  EXPECT_EQ(transport_of(net::TransportKind::kRdma)->name(), "rdma");
  EXPECT_EQ(transport_of(net::TransportKind::kTcp)->name(), "tcp");
  EXPECT_EQ(transport_of(net::TransportKind::kControl), nullptr);
}

TEST(Factory, AutoTakesTheBestPossible) {
  for (const char* wanted : {"", "auto"}) {
    const Result<const net::Transport*> far = choose(wanted, kFar);
    ASSERT_TRUE(far.is_ok()) << far.status().to_string();
    EXPECT_EQ(far.value()->name(), transports()[1]->available().is_ok() ? "rdma" : "tcp");
    const Result<const net::Transport*> near = choose(wanted, kNear);
    ASSERT_TRUE(near.is_ok()) << near.status().to_string();
    EXPECT_EQ(near.value()->name(), transports()[0]->available().is_ok() ? "shm" : "tcp");
  }
}

TEST(Factory, BehindTheBestComesTheNextPossible) {
  EXPECT_TRUE(is_any(""));
  EXPECT_TRUE(is_any("auto"));
  EXPECT_FALSE(is_any("tcp"));
  const net::Transport& tcp = *transports()[2];
  EXPECT_EQ(next_possible(*transports()[1], kFar), &tcp);
  EXPECT_EQ(next_possible(*transports()[0], kNear), &tcp) << "rdma needs a TCP address";
  EXPECT_EQ(next_possible(tcp, kFar), nullptr);
}

TEST(Factory, ExplicitChoiceFailsWithTheReasonAndTheList) {
  EXPECT_EQ(choose("tcp", kFar).value()->name(), "tcp");
  const Result<const net::Transport*> shm = choose("shm", kFar);
  ASSERT_FALSE(shm.is_ok());
  const Status no_rdma = transports()[1]->available();
  if (!no_rdma.is_ok()) {
    const Result<const net::Transport*> rdma = choose("rdma", kFar);
    ASSERT_EQ(rdma.code(), no_rdma.code());
    EXPECT_NE(rdma.status().message().find(no_rdma.message()), std::string::npos);
  }
  for (const char* wanted : {"infiniband", "TCP", "tcp ", " "}) {
    const Result<const net::Transport*> unknown = choose(wanted, kFar);
    ASSERT_EQ(unknown.code(), Code::kInvalidArgument) << wanted;
    for (const char* name : {"shm", "rdma", "tcp", "auto", "possible"})
      EXPECT_NE(unknown.status().message().find(name), std::string::npos) << unknown.status().message();
  }
  EXPECT_EQ(choose(std::string(100'000, 'x'), kFar).code(), Code::kInvalidArgument);
}

TEST(Factory, TheMissingTransportRefusesPolitely) {
  const net::Transport& rdma = *transports()[1];
  const Status missing = rdma.available();
  if (missing.is_ok()) GTEST_SKIP() << "rdma is possible here";
  EXPECT_EQ(missing.code(), Code::kUnavailable);
  EXPECT_EQ(rdma.connect(kFar, {}, Deadline::now()).code(), Code::kUnavailable);
  net::OwnedFd none;
  EXPECT_FALSE(rdma.acceptor({})->attach(std::move(none), {}).is_ok());
}

}  // namespace
}  // namespace tf
