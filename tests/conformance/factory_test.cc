// SPDX-License-Identifier: Apache-2.0
// The meaning of TF_TRANSPORT.
#include "transport/factory/factory.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "tests/support/fake_transport.h"

namespace tf {
namespace {

const net::Address kFar = net::Address::tcp("192.0.2.1", 18515);
const net::Address kNear = net::Address::unix_socket("@tf-factory-test");

const net::Transport& named(std::string_view name) {
  const auto found = std::ranges::find(transports(), name, &net::Transport::name);
  EXPECT_NE(found, transports().end()) << name;
  return **found;
}

// TF_TRANSPORT_NAMES is transports.txt as the build reads it.
TEST(Factory, ListsTransportsBestFirst) {
  std::string names;
  std::set<net::TransportKind> kinds{net::TransportKind::kControl};
  for (const net::Transport* transport : transports()) {
    names += (names.empty() ? "" : " ") + std::string(transport->name());
    ASSERT_NE(transport->acceptor({}), nullptr);
    const bool absent = transport->kind() == net::TransportKind::kControl;
    EXPECT_TRUE(absent || kinds.insert(transport->kind()).second)
        << transport->name() << ": kind is another's";
    EXPECT_LE(static_cast<std::uint32_t>(transport->kind()), net::kTransportKindMax);
  }
  EXPECT_EQ(names, TF_TRANSPORT_NAMES);
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
  const auto first = [](const net::Address& address) {
    return *std::ranges::find_if(transports(), [&](const net::Transport* transport) {
      return transport->available().is_ok() && transport->reaches(address).is_ok();
    });
  };
  for (const char* wanted : {"", "auto"}) {
    EXPECT_EQ(choose(wanted, kFar).value(), first(kFar));
    EXPECT_EQ(choose(wanted, kNear).value(), first(kNear));
  }
  EXPECT_FALSE(named("shm").reaches(kFar).is_ok());
  EXPECT_TRUE(named("shm").reaches(kNear).is_ok());
  EXPECT_TRUE(named("tcp").reaches(kFar).is_ok());
  EXPECT_TRUE(named("tcp").reaches(kNear).is_ok());
  EXPECT_TRUE(named("tcp").available().is_ok());
}

// On this machine too, whatever is in the list: tcp is, and is always possible.
TEST(Factory, BehindTheBestComesTheNextPossible) {
  EXPECT_TRUE(is_any(""));
  EXPECT_TRUE(is_any("auto"));
  EXPECT_FALSE(is_any("tcp"));
  for (const net::Address& address : {kFar, kNear}) {
    const net::Transport* after = nullptr;
    const TransportList list = transports();
    for (auto place = list.rbegin(); place != list.rend(); ++place) {
      const net::Transport& transport = **place;
      EXPECT_EQ(next_possible(transport, address), after) << transport.name();
      if (transport.available().is_ok() && transport.reaches(address).is_ok()) after = &transport;
    }
    EXPECT_NE(after, nullptr);
  }
}

TEST(Factory, ExplicitChoiceFailsWithTheReasonAndTheList) {
  EXPECT_EQ(choose("tcp", kFar).value()->name(), "tcp");
  const Result<const net::Transport*> shm = choose("shm", kFar);
  ASSERT_FALSE(shm.is_ok());
  const Status no_rdma = named("rdma").available();
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
  const net::Transport& rdma = named("rdma");
  const Status missing = rdma.available();
  if (missing.is_ok()) GTEST_SKIP() << "rdma is possible here";
  EXPECT_EQ(missing.code(), Code::kUnavailable);
  EXPECT_EQ(rdma.connect(kFar, {}, Deadline::now()).code(), Code::kUnavailable);
  net::OwnedFd none;
  EXPECT_FALSE(rdma.acceptor({})->attach(std::move(none), {}).is_ok());
}

}  // namespace
}  // namespace tf
