// SPDX-License-Identifier: Apache-2.0
// The meaning of TF_TRANSPORT.
#include "transport/factory/factory.h"

#include <gtest/gtest.h>

#include <array>

#include "tests/support/fake_transport.h"

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
}

// Auto and what follows, over any set of transports that may be there.
TEST(Factory, AutoTakesTheFirstThatIsThereAndReaches) {
  const Status no_device(Code::kUnavailable, "no device");
  const Status not_there(Code::kUnavailable, "not that way");
  const test::FakeTransport absent("absent", no_device), elsewhere("elsewhere", Status::ok(), not_there);
  const test::FakeTransport good("good"), worse("worse");
  const std::array<const net::Transport*, 4> all{&absent, &elsewhere, &good, &worse};
  for (const char* wanted : {"", "auto"}) {
    const Result<const net::Transport*> chosen = choose(wanted, kFar, all);
    ASSERT_TRUE(chosen.is_ok()) << chosen.status().to_string();
    EXPECT_EQ(chosen.value(), &good);
  }
  EXPECT_EQ(next_possible(absent, kFar, all), &good);
  EXPECT_EQ(next_possible(good, kFar, all), &worse);
  EXPECT_EQ(next_possible(worse, kFar, all), nullptr);
  EXPECT_EQ(choose("worse", kFar, all).value(), &worse);
  EXPECT_EQ(choose("absent", kFar, all).code(), Code::kUnavailable);
  const Result<const net::Transport*> none = choose("auto", kFar, TransportList(all).first(2));
  ASSERT_EQ(none.code(), Code::kUnavailable);
  for (const char* line : {"\n  absent not possible: no device", "\n  elsewhere not possible: not that way"})
    EXPECT_NE(none.status().message().find(line), std::string::npos) << none.status().message();
}

// Everything that this machine has reaches what it should. tcp is always there.
TEST(Factory, AutoOnThisMachine) {
  const auto there = [](std::size_t place) { return transports()[place]->available().is_ok(); };
  for (const char* wanted : {"", "auto"}) {
    EXPECT_EQ(choose(wanted, kFar).value()->name(), there(1) ? "rdma" : "tcp");
    EXPECT_EQ(choose(wanted, kNear).value()->name(), there(0) ? "shm" : "tcp");
  }
  EXPECT_FALSE(transports()[0]->reaches(kFar).is_ok());
  EXPECT_TRUE(transports()[0]->reaches(kNear).is_ok());
  EXPECT_TRUE(transports()[2]->reaches(kFar).is_ok());
  EXPECT_TRUE(transports()[2]->reaches(kNear).is_ok());
  EXPECT_TRUE(there(2));
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
