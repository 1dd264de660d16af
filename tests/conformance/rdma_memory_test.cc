// SPDX-License-Identifier: Apache-2.0
// Which way payload goes when nothing more may be pinned: through slots, or registered on demand where the
// device can page; and never more of it than one request of the device moves. That it arrives the backends
// "rdma_slots" and "rdma_on_demand" show.
#include "tests/conformance/fixture.h"
#include "tests/conformance/rdma_provider.h"

namespace tf::conformance {
namespace {

constexpr std::size_t kBytes = 4u << 20;
constexpr auto kLimit = std::chrono::seconds(60);

class RdmaMemory : public testing::Test {
 protected:
  void connect(std::vector<test::FakeDevice> devices) {
    provider = std::make_unique<RdmaProvider>(std::move(devices));
    Result<net::Listener> listener = test::listen_tcp();
    ASSERT_OK(listener.status());
    Result<test::EndpointPair> made = test::connect_pair(provider->transport(), *listener);
    ASSERT_OK(made.status());
    pair = std::move(*made);
    provider->limit();
    pinned = provider->fabric().registered_bytes();
    before = provider->fabric().counters();
  }
  void TearDown() override {
    pair = {};
    provider->check_rules();
    EXPECT_EQ(provider->fabric().live_objects(), 0u);
  }

  // `known`: both ends are told of the memory before.
  void move(Endpoint& from, Endpoint& to, bool known) {
    std::vector<std::byte> source = test::pattern(kBytes, 7);
    std::vector<std::byte> target(kBytes);
    if (known) {
      from.bulk().remember(source);
      to.bulk().remember(target);
    }
    BulkCompletion sent, received;
    ASSERT_OK(from.bulk().send(1, source, sent));
    ASSERT_OK(to.bulk().receive(1, target, received));
    for (const Deadline deadline = Deadline::after(kLimit); !sent.done() || !received.done();) {
      (void)from.bulk().move_payload();
      (void)to.bulk().move_payload();
      if (deadline.passed() || !from.status().is_ok() || !to.status().is_ok()) break;
    }
    if (!sent.done() || !received.done()) pair = {};  // before its memory goes
    ASSERT_OK(sent.status());
    ASSERT_OK(received.status());
    EXPECT_EQ(test::find_mismatch(target, 7), test::kNoMismatch);
    EXPECT_LE(provider->fabric().registered_bytes(), pinned) << "the limit does nothing";
    if (known) {
      from.bulk().forget(source);
      to.bulk().forget(target);
    }
  }
  void move_both_ways(bool known = false) {
    ASSERT_NO_FATAL_FAILURE(move(*pair.client, *pair.server, known));
    ASSERT_NO_FATAL_FAILURE(move(*pair.server, *pair.client, known));
  }
  std::uint64_t registrations() const {
    return provider->fabric().counters().registrations - before.registrations;
  }

  std::unique_ptr<RdmaProvider> provider;
  test::EndpointPair pair;
  std::size_t pinned = 0;
  test::FakeCounters before;
};

TEST_F(RdmaMemory, SlotsWhereNothingMayBePinned) {
  ASSERT_NO_FATAL_FAILURE(connect(two_devices()));
  move_both_ways();
  EXPECT_EQ(registrations(), 0u);
}

TEST_F(RdmaMemory, RegisteredOnDemandWhereTheDevicePages) {
  ASSERT_NO_FATAL_FAILURE(connect(two_paging_devices()));
  move_both_ways();
  EXPECT_GT(registrations(), 0u);
}

TEST_F(RdmaMemory, WhatIsKnownGoesByTheDevicesRequests) {
  ASSERT_NO_FATAL_FAILURE(connect(two_paging_devices()));
  move_both_ways(true);
  EXPECT_EQ(registrations(), 4u) << "one for each that was told of";
  const test::FakeCounters after = provider->fabric().counters();
  EXPECT_GE(after.executed[IBV_WR_RDMA_READ] - before.executed[IBV_WR_RDMA_READ], kBytes / kPagingMessage);
}

}  // namespace
}  // namespace tf::conformance
