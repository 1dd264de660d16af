// SPDX-License-Identifier: Apache-2.0
// Who may start a session, and what is forgotten; for which devices processes are started, and when.
#include "worker/supervisor/ledger.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>

#include <string>
#include <utility>
#include <vector>

#include "worker/supervisor/spares.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

class LedgerTest : public testing::Test {
 protected:
  Ledger::Seat enter(const std::string& tenant, const Limits& limits = {}) {
    EXPECT_TRUE(ledger_.may_start(tenant, limits, now_).is_ok());
    Result<Ledger::Seat> seat = ledger_.enter(tenant, limits, now_);
    EXPECT_TRUE(seat.is_ok()) << seat.status().to_string();
    return std::move(*seat);
  }

  Ledger ledger_{4};
  Ledger::Clock::time_point now_ = Ledger::Clock::now();
};

TEST_F(LedgerTest, SessionsOfATenantAreLimited) {
  const Limits two = Limits::parse("sessions=2").value();
  const Ledger::Seat first = enter("alice", two);
  const Ledger::Seat second = enter("alice", two);
  EXPECT_NE(first.slot, second.slot);
  const Status more = ledger_.may_start("alice", two, now_);
  EXPECT_EQ(more.code(), Code::kResourceExhausted);
  EXPECT_NE(more.message().find("alice has 2 sessions already"), std::string::npos) << more.message();
  const Ledger::Seat bobs = enter("bob", two);
  EXPECT_NE(ledger_.page_of(first).get(), ledger_.page_of(bobs).get());
  ledger_.leave(first, now_);
  EXPECT_EQ(enter("alice", two).slot, first.slot);
}

TEST_F(LedgerTest, AProcessThatNeverTookItsClientCountsNoMoreButKeepsItsSlot) {
  const Limits one = Limits::parse("sessions=1").value();
  Ledger::Seat hanging = enter("alice", one);
  ledger_.uncount(hanging);
  ledger_.uncount(hanging);
  EXPECT_EQ(ledger_.sessions_of("alice"), 0u);
  const Ledger::Seat next = enter("alice", one);
  EXPECT_NE(next.slot, hanging.slot);
  ledger_.leave(hanging, now_);
  EXPECT_EQ(ledger_.sessions_of("alice"), 1u);
  ledger_.leave(next, now_);
  EXPECT_EQ(ledger_.size(), 0u);
}

TEST_F(LedgerTest, StartsAreCountedForAMinute) {
  const Limits limits = Limits::parse("starts=2").value();
  ledger_.leave(enter("alice", limits), now_);
  now_ += 30s;
  ledger_.leave(enter("alice", limits), now_);
  EXPECT_EQ(ledger_.may_start("alice", limits, now_).code(), Code::kResourceExhausted);
  EXPECT_TRUE(ledger_.may_start("alice", {}, now_).is_ok());
  EXPECT_TRUE(ledger_.may_start("bob", limits, now_).is_ok());
  now_ += 30s;
  ledger_.leave(enter("alice", limits), now_);
  EXPECT_EQ(ledger_.may_start("alice", limits, now_).code(), Code::kResourceExhausted);
}

TEST_F(LedgerTest, TenantsThatAreGoneAreForgotten) {
  const Limits limits = Limits::parse("starts=9").value();
  for (int number = 0; number < 1000; ++number) ledger_.leave(enter(std::to_string(number), limits), now_);
  EXPECT_EQ(ledger_.size(), 1000u);
  now_ += 1min;
  ledger_.leave(enter("alice"), now_);
  EXPECT_EQ(ledger_.size(), 0u);
}

TEST_F(LedgerTest, WithoutMemoryForAPageOnlyTenantsWithoutLimitsAreServed) {
  const rlimit none{0, RLIM_INFINITY};
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  const auto ignored = ::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &none), 0);
  const Result<Ledger::Seat> limited = ledger_.enter("alice", Limits::parse("streams=1").value(), now_);
  const Result<Ledger::Seat> unlimited = ledger_.enter("bob", Limits::parse("sessions=9").value(), now_);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ::signal(SIGXFSZ, ignored);
  EXPECT_FALSE(limited.is_ok());
  ASSERT_TRUE(unlimited.is_ok()) << unlimited.status().to_string();
  EXPECT_FALSE(ledger_.page_of(unlimited.value()));
  ledger_.leave(unlimited.value(), now_);
  EXPECT_EQ(ledger_.size(), 0u);
}

TEST_F(LedgerTest, WithoutAFreeSlotThereIsNoSession) {
  std::vector<Ledger::Seat> seats;
  for (int number = 0; number < 4; ++number) seats.push_back(enter("alice"));
  EXPECT_EQ(ledger_.enter("alice", {}, now_).code(), Code::kResourceExhausted);
  ledger_.leave(seats[2], now_);
  EXPECT_EQ(enter("alice").slot, seats[2].slot);
}

TEST(Spares, AreKeptForWhatIsGranted) {
  Spares spares;
  EXPECT_EQ(spares.kept(), std::vector<DeviceSet>{DeviceSet()});
  std::vector<DeviceSet> granted;
  for (int device = 0; device < 20; ++device) granted.push_back({device});
  spares.keep({3}, granted);
  EXPECT_EQ(spares.kept().size(), kDeviceSetsKept);
  EXPECT_EQ(spares.kept().front(), DeviceSet{3});
  EXPECT_TRUE(spares.keeps({0}));
  EXPECT_FALSE(spares.keeps({}));
}

TEST(Spares, AFailureDelaysTheSameDevicesOnly) {
  Spares spares;
  EXPECT_TRUE(spares.may_start({7}));
  spares.failed({7}, true);
  EXPECT_FALSE(spares.may_start({7}));
  EXPECT_TRUE(spares.unusable({7}));
  EXPECT_FALSE(spares.next().passed());
  EXPECT_TRUE(spares.may_start({0}));
  EXPECT_FALSE(spares.unusable({0}));
  spares.ready({7});
  EXPECT_TRUE(spares.may_start({7}));
  EXPECT_FALSE(spares.unusable({7}));
}

}  // namespace
}  // namespace tf::worker
