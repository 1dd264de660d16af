// SPDX-License-Identifier: Apache-2.0
#include "proxy/memory/pools.h"

#include <gtest/gtest.h>

namespace tf::proxy {
namespace {

class PoolsTest : public ::testing::Test {
 protected:
  std::uint64_t get(const PoolFacts& pool, hipMemPoolAttr attribute) {
    std::uint64_t value = 0;
    EXPECT_EQ(pools_.get_attribute(pool, attribute, &value), hipSuccess);
    return value;
  }
  void allocate(const std::shared_ptr<PoolFacts>& pool, std::uint64_t address, std::uint64_t bytes,
                const PoolOrder& order) {
    EXPECT_TRUE(pools_.book(*pool, bytes));
    pools_.allocated(pool, address, bytes, order);
  }
  static bool everything(const PoolOrder&) { return true; }
  static constexpr PoolOrder kStream{0, 5};
  HandleTable handles_{protocol::HandleKind::kMemPool};
  Pools pools_{handles_};
};

TEST_F(PoolsTest, AccountsFollowTheBlocks) {
  auto pool = pools_.find(pools_.create(0));
  ASSERT_NE(pool, nullptr);
  allocate(pool, 0x10000, 1, kStream);
  allocate(pool, 0x20000, kPoolBlockBytes + 1, kStream);
  EXPECT_EQ(get(*pool, hipMemPoolAttrUsedMemCurrent), kPoolBlockBytes + 2);
  pools_.freed(0x20000, kStream);
  pools_.freed(0x20000, kStream);
  pools_.freed(0x30000, kStream);  // of no pool
  EXPECT_EQ(get(*pool, hipMemPoolAttrUsedMemCurrent), 1u);
  EXPECT_EQ(get(*pool, hipMemPoolAttrUsedMemHigh), kPoolBlockBytes + 2);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), 3 * kPoolBlockBytes)
      << "until somebody synchronizes";
  pools_.synchronized(1, everything);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), 3 * kPoolBlockBytes) << "another device";
  pools_.synchronized(0, everything);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), kPoolBlockBytes);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemHigh), 3 * kPoolBlockBytes);
}

TEST_F(PoolsTest, ThresholdAndTrim) {
  auto pool = pools_.find(pools_.create(0));
  std::uint64_t threshold = 4 * kPoolBlockBytes;
  EXPECT_EQ(pools_.set_attribute(*pool, hipMemPoolAttrReleaseThreshold, &threshold), hipSuccess);
  allocate(pool, 0x10000, 3 * kPoolBlockBytes, kStream);
  allocate(pool, 0x50000, 3 * kPoolBlockBytes, kStream);
  pools_.freed(0x10000, kStream);
  pools_.freed(0x50000, kStream);
  pools_.synchronized(0, everything);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), 3 * kPoolBlockBytes) << "whole blocks";
  pools_.trim(*pool, 8 * kPoolBlockBytes);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), 3 * kPoolBlockBytes) << "trimming never reserves";
  pools_.trim(*pool, 0);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), 0u);
  std::uint64_t value = 1;
  EXPECT_EQ(pools_.set_attribute(*pool, hipMemPoolAttrUsedMemHigh, &value), hipErrorInvalidValue);
  value = 0;
  EXPECT_EQ(pools_.set_attribute(*pool, hipMemPoolAttrUsedMemHigh, &value), hipSuccess);
  EXPECT_EQ(get(*pool, hipMemPoolAttrUsedMemHigh), 0u);
}

TEST_F(PoolsTest, BlocksAreReservedUntilTheirStreamHasFreedThem) {
  auto pool = pools_.find(pools_.create(0));
  const PoolOrder other{0, 6};
  allocate(pool, 0x10000, 1, kStream);
  allocate(pool, 0x20000, 1, kStream);
  allocate(pool, 0x30000, 1, kStream);
  pools_.freed(0x10000, kStream);
  pools_.freed(0x20000, other);
  pools_.freed(0x30000);
  EXPECT_EQ(pools_.pending(*pool), (std::vector<PoolOrder>{kStream, other}));
  pools_.trim(*pool, 0);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), 2 * kPoolBlockBytes) << "one was freed at once";
  pools_.synchronized(0, [&](const PoolOrder& freed) { return freed == other; });
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), kPoolBlockBytes);
  pools_.reached(*pool, kStream);
  EXPECT_TRUE(pools_.pending(*pool).empty());
  pools_.trim(*pool, 0);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), 0u);
}

TEST_F(PoolsTest, FreeBlocksAreUsedAgain) {
  auto pool = pools_.find(pools_.create(0));
  const PoolOrder other{0, 6};
  allocate(pool, 0x10000, 1, kStream);
  pools_.freed(0x10000, kStream);
  allocate(pool, 0x20000, 1, other);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), 2 * kPoolBlockBytes) << "not free for others yet";
  allocate(pool, 0x10000, 2, kStream);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), 2 * kPoolBlockBytes);
  pools_.freed(0x10000, kStream);
  pools_.reached(*pool, kStream);
  allocate(pool, 0x30000, 3, other);
  EXPECT_EQ(get(*pool, hipMemPoolAttrReservedMemCurrent), 2 * kPoolBlockBytes);
}

TEST_F(PoolsTest, ALimitCountsWhatIsUsedAndWhatIsOnItsWay) {
  auto pool = pools_.find(pools_.create(0, Pools::Kind::kPlain, 1000));
  allocate(pool, 0x10000, 600, kStream);
  EXPECT_FALSE(pools_.book(*pool, 401));
  EXPECT_TRUE(pools_.book(*pool, 400));
  EXPECT_FALSE(pools_.book(*pool, 1)) << "another thread is allocating that";
  pools_.cancel(*pool, 400);
  EXPECT_FALSE(pools_.book(*pool, UINT64_MAX)) << "no sum overflows";
  pools_.freed(0x10000, kStream);
  allocate(pool, 0x10000, 1000, kStream);
  EXPECT_FALSE(pools_.book(*pool, 1));
}

TEST_F(PoolsTest, DestroyingLeavesMemoryAndForeignPoolsAlone) {
  std::uint64_t raw = pools_.create(2);
  auto pool = pools_.find(raw);
  pools_.set_current(2, raw);
  allocate(pool, 0x10000, 1, kStream);
  EXPECT_EQ(pools_.destroy(raw), hipSuccess);
  EXPECT_TRUE(pools_.owns(0x10000));
  pools_.freed(0x10000);
  EXPECT_FALSE(pools_.owns(0x10000));
  EXPECT_EQ(pools_.current(2), 0u) << "back to the default pool";
  EXPECT_EQ(pools_.destroy(raw), hipErrorInvalidValue);
  EXPECT_EQ(pools_.find(raw), nullptr);

  std::uint64_t fixed = handles_.create(0)->raw();  // as a device's default pool
  handles_.make_permanent(fixed);
  EXPECT_EQ(pools_.find(fixed), nullptr);
  auto entered = pools_.enter(fixed, 1);
  ASSERT_NE(entered, nullptr);
  EXPECT_EQ(entered->device, 1);
  EXPECT_EQ(pools_.enter(fixed, 0), entered);
  EXPECT_EQ(pools_.destroy(fixed), hipErrorInvalidValue);
  EXPECT_EQ(pools_.enter(0, 0), nullptr);
}

}  // namespace
}  // namespace tf::proxy
