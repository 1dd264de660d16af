// SPDX-License-Identifier: Apache-2.0
#include "rdma/regions.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <thread>
#include <vector>

#include "tests/unit/rdma/plane_pair.h"

namespace tf::rdma {
namespace {

class RegionsTest : public testing::Test {
 protected:
  void SetUp() override { open({}); }
  void TearDown() override {
    regions.reset();
    device.reset();
    EXPECT_EQ(fabric->violations(), std::vector<std::string>{});
    EXPECT_EQ(fabric->live_objects(), 0u);
  }
  void open(const ibv_odp_caps& paging) {
    regions.reset();
    device.reset();
    std::vector<test::FakeDevice> devices{test::FakeDevice::make(0)};
    devices[0].attributes.odp_caps = paging;
    fabric = std::make_unique<test::FakeFabric>(std::move(devices));
    device.emplace(*fabric->verbs(), 0);
    make(false);
  }
  void make(bool on_demand, std::chrono::milliseconds linger_time = std::chrono::hours(1)) {
    make({.pd = device->pd, .remote = true, .on_demand = on_demand, .linger_time = linger_time});
  }
  void make(const Regions::Plan& plan) {
    regions.reset();
    auto made = Regions::make(*fabric->verbs(), plan);
    ASSERT_TRUE(made.is_ok()) << made.status().to_string();
    regions = std::move(*made);
  }
  bool is_direct(const std::optional<Lease>& lease, const std::byte* place) const {
    return lease && !lease->is_slot() && lease->memory == place;
  }

  std::unique_ptr<test::FakeFabric> fabric;
  std::optional<Opened> device;
  std::unique_ptr<Regions> regions;
  std::vector<std::byte> memory = std::vector<std::byte>(16u << 20);
};

TEST_F(RegionsTest, WhatIsRememberedIsRegisteredOnce) {
  regions->remember(memory);
  const std::uint64_t registrations = fabric->counters().registrations;
  for (int time = 0; time < 3; ++time) {
    const std::optional<Lease> lease = regions->lease(std::span(memory).subspan(5000, 100), Direction::kOut);
    ASSERT_TRUE(is_direct(lease, memory.data() + 5000));
    EXPECT_EQ(lease->bytes, 100u);
  }
  // As much as goes at a time.
  EXPECT_EQ(regions->lease(memory, Direction::kIn)->bytes, kDirectBytesMax);
  EXPECT_EQ(fabric->counters().registrations, registrations);
  regions->forget(memory);
  const std::optional<Lease> later = regions->lease(std::span(memory).first(100), Direction::kOut);
  EXPECT_TRUE(later && later->is_slot());
}

// A device may repeat a READ whose answer it has got after all.
TEST_F(RegionsTest, WhatThePeerHasReadLingersForAMoment) {
  const std::size_t before = fabric->registered_bytes();
  regions->lease(memory, Direction::kOut)->release();
  EXPECT_EQ(fabric->registered_bytes(), before + kPieceBytes);
  regions->lease(memory, Direction::kIn)->release();
  EXPECT_EQ(fabric->registered_bytes(), before + kPieceBytes) << "WRITEs are not done twice";
  for (std::size_t piece = 0; piece < 2 * kLingerBytes / kPieceBytes; ++piece)
    regions->lease(memory, Direction::kOut)->release();
  EXPECT_EQ(fabric->registered_bytes(), before + kLingerBytes);
  EXPECT_TRUE(regions->has_lingering());
  regions->end_overdue();
  EXPECT_EQ(fabric->registered_bytes(), before + kLingerBytes) << "none is";
}

TEST_F(RegionsTest, WhatHasLingeredLongEnoughGoesWhenSomebodyLooks) {
  make(false, std::chrono::milliseconds(0));
  const std::size_t before = fabric->registered_bytes();
  regions->lease(memory, Direction::kOut)->release();
  EXPECT_TRUE(regions->has_lingering());
  regions->end_overdue();
  EXPECT_FALSE(regions->has_lingering());
  EXPECT_EQ(fabric->registered_bytes(), before);
}

// The last counts whatever its size: it may have been read a moment ago.
TEST_F(RegionsTest, WhatIsForgottenLingersToo) {
  const std::size_t before = fabric->registered_bytes();
  const std::span<std::byte> part = std::span(memory).first(kPieceBytes);
  regions->remember(part);
  regions->forget(part);
  EXPECT_EQ(fabric->registered_bytes(), before + kPieceBytes);
  std::vector<std::byte> large(kLingerBytes + 1);
  regions->remember(large);
  regions->forget(large);
  EXPECT_EQ(fabric->registered_bytes(), before + large.size());
  regions->remember(part);
  regions->forget(part);
  EXPECT_EQ(fabric->registered_bytes(), before + kPieceBytes);
}

// The worker's own device moves: nothing is the peer's to read, and nothing lingers.
TEST_F(RegionsTest, OfTheMovingEndNothingIsOpenToThePeer) {
  make({.pd = device->pd, .remote = false});
  const std::uint64_t open = fabric->counters().remote_registrations;
  const std::size_t before = fabric->registered_bytes();
  regions->remember(memory);
  regions->forget(memory);
  regions->lease(memory, Direction::kOut)->release();
  regions->lease(memory, Direction::kIn)->release();
  EXPECT_EQ(fabric->counters().remote_registrations, open);
  EXPECT_EQ(fabric->registered_bytes(), before);
}

TEST_F(RegionsTest, WhatLingersMakesRoomForWhatIsNeeded) {
  fabric->set_memory_limit(fabric->registered_bytes() + kPieceBytes);
  for (int time = 0; time < 3; ++time)
    EXPECT_TRUE(is_direct(regions->lease(memory, Direction::kOut), memory.data())) << time;
}

TEST_F(RegionsTest, OnlyUpToTheEndOfWhatIsRemembered) {
  const std::span<std::byte> known = std::span(memory).first(8192);
  regions->remember(known);
  EXPECT_EQ(regions->lease(std::span(memory).subspan(8000, 1000), Direction::kOut)->bytes, 192u);
  EXPECT_FALSE(
      is_direct(regions->lease(std::span(memory).subspan(8192, 64), Direction::kOut), memory.data() + 8192));
}

TEST_F(RegionsTest, NoMoreThanARequestOfTheDeviceMoves) {
  regions.reset();
  auto made = Regions::make(*fabric->verbs(), {.pd = device->pd, .remote = true, .request_bytes = 300'000});
  ASSERT_TRUE(made.is_ok());
  regions = std::move(*made);
  EXPECT_EQ(regions->lease(memory, Direction::kOut)->bytes, 300'000u);
  regions->remember(memory);
  EXPECT_EQ(regions->lease(memory, Direction::kOut)->bytes, 300'000u);
}

TEST_F(RegionsTest, SmallPiecesGoThroughSlotsAndTakeTheirBytesAlong) {
  std::vector<Lease> out;
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    memory[slot] = static_cast<std::byte>(slot + 1);
    std::optional<Lease> lease = regions->lease(std::span(memory).subspan(slot, 10), Direction::kOut);
    ASSERT_TRUE(lease && lease->is_slot());
    EXPECT_EQ(lease->memory[0], static_cast<std::byte>(slot + 1));
    out.push_back(std::move(*lease));
  }
  // With all slots out it is registered for itself; the other direction has slots of its own.
  EXPECT_TRUE(is_direct(regions->lease(std::span(memory).first(10), Direction::kOut), memory.data()));
  EXPECT_TRUE(regions->lease(std::span(memory).first(10), Direction::kIn)->is_slot());
  out.clear();
  EXPECT_TRUE(regions->lease(std::span(memory).first(10), Direction::kOut)->is_slot());
}

TEST_F(RegionsTest, LargePiecesAreRegisteredForTheirTime) {
  const std::uint64_t live = fabric->live_objects();
  {
    const std::optional<Lease> lease = regions->lease(memory, Direction::kIn);
    ASSERT_TRUE(is_direct(lease, memory.data()));
    EXPECT_EQ(lease->bytes, kPieceBytes);
    EXPECT_EQ(fabric->live_objects(), live + 1);
  }
  EXPECT_EQ(fabric->live_objects(), live);
}

TEST_F(RegionsTest, WhatMayNotBePinnedGoesThroughSlots) {
  fabric->refuse_reg_mr(ENOMEM, 100);
  regions->remember(memory);
  std::vector<Lease> out;
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    std::optional<Lease> lease = regions->lease(memory, Direction::kOut);
    ASSERT_TRUE(lease && lease->is_slot());
    EXPECT_EQ(lease->bytes, kSlotBytes);
    out.push_back(std::move(*lease));
  }
  EXPECT_FALSE(regions->lease(memory, Direction::kOut).has_value()) << "none is left";
}

TEST_F(RegionsTest, OrIsPagedWhereTheDeviceCan) {
  ibv_odp_caps paging{};
  paging.general_caps = IBV_ODP_SUPPORT;
  open(paging);
  make(true);
  fabric->set_memory_limit(0);
  EXPECT_TRUE(is_direct(regions->lease(memory, Direction::kOut), memory.data()));
  regions->remember(memory);
  EXPECT_EQ(regions->lease(memory, Direction::kIn)->bytes, kDirectBytesMax);
  const std::size_t live = fabric->live_objects();
  regions->forget(memory);
  EXPECT_FALSE(regions->has_lingering()) << "the key would be good for what is mapped there next";
  EXPECT_EQ(fabric->live_objects(), live - 1);
  make(true);  // the slots themselves, too
  EXPECT_TRUE(regions->lease(std::span(memory).first(10), Direction::kIn)->is_slot());
}

}  // namespace
}  // namespace tf::rdma
