// SPDX-License-Identifier: Apache-2.0
// Clients that name memory, addresses and devices which are not theirs.
#include <gtest/gtest.h>

#include <array>

#include "hipcore/wire/access_wish.h"
#include "hipcore/wire/fill.h"
#include "session_rig.h"
#include "tests/support/pageless_file.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kUnit = 2 << 20;

std::uint64_t handle(std::uint32_t slot, std::uint32_t generation = 1) {
  return protocol::Handle(protocol::HandleKind::kMemAllocation, generation, slot).raw();
}

class VirtualMemoryOf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (rig_.snapshot().reservations.bytes == 0) GTEST_SKIP() << "no room for address windows here";
    base_ = rig_.snapshot().reservations.base;
    end_ = base_ + rig_.snapshot().reservations.bytes;
    rig_.start();
  }
  hipError_t create(std::uint64_t memory, std::uint64_t bytes = kUnit) {
    protocol::CreatePhysicalRequest request{};
    request.memory = memory;
    request.bytes = bytes;
    return rig_.call(request);
  }
  hipError_t release(std::uint64_t memory) { return rig_.call(protocol::ReleasePhysicalRequest{memory}); }
  hipError_t map(std::uint64_t address, std::uint64_t bytes, std::uint64_t offset, std::uint64_t memory) {
    return rig_.call(protocol::MapPhysicalRequest{address, bytes, offset, memory});
  }
  hipError_t unmap(std::uint64_t address, std::uint64_t bytes) {
    return rig_.call(protocol::UnmapPhysicalRequest{address, bytes});
  }
  hipError_t allow(std::uint64_t address, std::uint64_t bytes, std::int32_t device = 0,
                   std::uint32_t flags = hipMemAccessFlagsProtReadWrite) {
    const protocol::AccessWish wish{device, flags};
    return rig_.call(protocol::SetAccessRequest{address, bytes}, std::as_bytes(std::span(&wish, 1)));
  }
  hipError_t fill(std::uint64_t address, std::uint64_t bytes) {
    protocol::FillRequest request{};
    request.target = address;
    request.width = bytes;
    request.form |= protocol::kFillSynchronous;
    return rig_.call(request);
  }

  SessionRig rig_{TF_CPU_RUNTIME};
  std::uint64_t base_ = 0;
  std::uint64_t end_ = 0;
};

TEST_F(VirtualMemoryOf, OnlyItsOwnRangeCanBeMapped) {
  ASSERT_EQ(create(handle(0), 2 * kUnit), hipSuccess);
  for (const std::uint64_t address :
       {std::uint64_t{0}, base_ - kUnit, end_ - kUnit, end_, rig_.snapshot().devices[0].window.base,
        ~std::uint64_t{0} - kUnit + 1, base_ + 1})
    EXPECT_NE(map(address, 2 * kUnit, 0, handle(0)), hipSuccess) << std::hex << address;
  EXPECT_NE(map(base_, 0, 0, handle(0)), hipSuccess);
  EXPECT_NE(map(base_, 3 * kUnit, 0, handle(0)), hipSuccess) << "longer than the memory";
  EXPECT_NE(map(base_, kUnit, 2 * kUnit, handle(0)), hipSuccess) << "starts behind it";
  EXPECT_NE(map(base_, ~std::uint64_t{0} - kUnit + 1, kUnit, handle(0)), hipSuccess);
  EXPECT_EQ(map(base_, kUnit, kUnit, handle(0)), hipSuccess);
  EXPECT_NE(map(base_, kUnit, 0, handle(0)), hipSuccess) << "there is something";
  EXPECT_NE(map(base_ - kUnit, 2 * kUnit, 0, handle(0)), hipSuccess);
  EXPECT_TRUE(rig_.stop().code() == Code::kClosed);
}

TEST_F(VirtualMemoryOf, OnlyExactHandlesAreBelieved) {
  ASSERT_EQ(create(handle(3)), hipSuccess);
  EXPECT_EQ(create(handle(3)), hipErrorInvalidHandle) << "in use";
  EXPECT_EQ(create(0), hipErrorInvalidHandle);
  EXPECT_EQ(create(protocol::Handle(protocol::HandleKind::kStream, 1, 1).raw()), hipErrorInvalidHandle);
  EXPECT_EQ(map(base_, kUnit, 0, handle(3, 2)), hipErrorInvalidHandle) << "another generation";
  EXPECT_EQ(release(handle(4)), hipErrorInvalidHandle);
  ASSERT_EQ(map(base_, kUnit, 0, handle(3)), hipSuccess);
  EXPECT_EQ(release(handle(3)), hipErrorInvalidValue) << "mapped";
  ASSERT_EQ(unmap(base_, kUnit), hipSuccess);
  EXPECT_EQ(release(handle(3)), hipSuccess);
  EXPECT_EQ(release(handle(3)), hipErrorInvalidHandle);
}

TEST_F(VirtualMemoryOf, OnlyWhatIsReachableCanBeUsed) {
  ASSERT_EQ(create(handle(0), 2 * kUnit), hipSuccess);
  EXPECT_EQ(fill(base_, 16), hipErrorInvalidValue) << "reserved only";
  ASSERT_EQ(map(base_, kUnit, 0, handle(0)), hipSuccess);
  ASSERT_EQ(map(base_ + kUnit, kUnit, kUnit, handle(0)), hipSuccess);
  EXPECT_EQ(fill(base_, 16), hipErrorInvalidValue) << "no device may use it";
  EXPECT_EQ(allow(base_, kUnit + 1), hipErrorInvalidValue);
  EXPECT_EQ(allow(base_ + 1, kUnit), hipErrorInvalidValue);
  EXPECT_EQ(allow(base_, kUnit, 77), hipErrorInvalidValue);
  EXPECT_EQ(allow(base_, kUnit, -1), hipErrorInvalidValue);
  EXPECT_EQ(allow(base_, kUnit, 0, 2), hipErrorInvalidValue);
  EXPECT_EQ(rig_.call(protocol::SetAccessRequest{base_, kUnit}), hipErrorInvalidValue) << "no wish";
  ASSERT_EQ(allow(base_, kUnit), hipSuccess);
  EXPECT_EQ(fill(base_, kUnit), hipSuccess);
  EXPECT_EQ(fill(base_, kUnit + 1), hipErrorInvalidValue);
  ASSERT_EQ(allow(base_ + kUnit, kUnit), hipSuccess);
  EXPECT_EQ(fill(base_, 2 * kUnit), hipSuccess);
  ASSERT_EQ(allow(base_, kUnit, 0, hipMemAccessFlagsProtNone), hipSuccess);
  EXPECT_EQ(fill(base_, kUnit), hipErrorInvalidValue);
  EXPECT_EQ(unmap(base_, 3 * kUnit), hipErrorInvalidValue);
  ASSERT_EQ(unmap(base_, 2 * kUnit), hipSuccess);
  EXPECT_EQ(fill(base_ + kUnit, 16), hipErrorInvalidValue);
  EXPECT_EQ(unmap(base_, 2 * kUnit), hipErrorInvalidValue);
}

TEST_F(VirtualMemoryOf, TheQuotaCountsLeasesAndPhysicalMemoryAlike) {
  const std::uint64_t total = rig_.snapshot().devices[0].total_memory / kUnit * kUnit;
  EXPECT_EQ(create(handle(0), total + kUnit), hipErrorOutOfMemory);
  EXPECT_EQ(create(handle(0), ~std::uint64_t{0} - kUnit + 1), hipErrorOutOfMemory);
  rig_.lease(total / 2 / kUnit * kUnit);
  EXPECT_EQ(create(handle(0), total / 4 * 3 / kUnit * kUnit), hipErrorOutOfMemory);
  ASSERT_EQ(create(handle(0), total / 4 / kUnit * kUnit), hipSuccess);
  EXPECT_EQ(create(handle(1), total / 2 / kUnit * kUnit), hipErrorOutOfMemory);
  ASSERT_EQ(release(handle(0)), hipSuccess);
  EXPECT_EQ(create(handle(1), total / 4 / kUnit * kUnit), hipSuccess);
}

TEST_F(VirtualMemoryOf, AMalformedListOfWishesEndsTheSession) {
  const std::array<std::byte, 12> odd{};
  rig_.post(protocol::SetAccessRequest{base_, kUnit}, odd);
  EXPECT_EQ(rig_.wait_end().code(), Code::kProtocol);
}

// Each rig loads the same runtime in this process: what one session leaves behind the next would find taken.
// What another session offers may be any file.
TEST(ImportedMemory, ThatCannotBeMappedLeavesTheReservation) {
  const net::OwnedFd file = test::pageless_file(kUnit);
  if (!file) GTEST_SKIP() << "this machine has huge pages, or no files of them";
  Result<RuntimeLibrary> runtime = RuntimeLibrary::load(TF_CPU_RUNTIME);
  ASSERT_TRUE(runtime.is_ok());
  const protocol::HipTable& hip = runtime->hip();
  int descriptor = file.get();
  hipMemGenericAllocationHandle_t memory = nullptr;
  ASSERT_EQ(hip.hipMemImportFromShareableHandle(&memory, &descriptor, hipMemHandleTypePosixFileDescriptor),
            hipSuccess);
  void* base = nullptr;
  ASSERT_EQ(hip.hipMemAddressReserve(&base, kUnit, kUnit, nullptr, 0), hipSuccess);
  EXPECT_EQ(hip.hipMemMap(base, kUnit, 0, memory, 0), hipErrorMapFailed);
  EXPECT_TRUE(test::is_taken(reinterpret_cast<std::uint64_t>(base), kUnit));
  EXPECT_EQ(hip.hipMemAddressFree(base, kUnit), hipSuccess);
  EXPECT_EQ(hip.hipMemRelease(memory), hipSuccess);
}

TEST_F(VirtualMemoryOf, ItsEndFreesEverything) {
  ASSERT_EQ(create(handle(0)), hipSuccess);
  ASSERT_EQ(map(base_, kUnit, 0, handle(0)), hipSuccess);
  ASSERT_EQ(allow(base_, kUnit), hipSuccess);
  std::size_t before = 0;
  std::size_t after = 0;
  std::size_t total = 0;
  Result<RuntimeLibrary> runtime = RuntimeLibrary::load(TF_CPU_RUNTIME);
  ASSERT_TRUE(runtime.is_ok());
  ASSERT_EQ(runtime->hip().hipMemGetInfo(&before, &total), hipSuccess);
  rig_.end_session();
  ASSERT_EQ(runtime->hip().hipMemGetInfo(&after, &total), hipSuccess);
  EXPECT_EQ(after - before, kUnit);
}

}  // namespace
}  // namespace tf::worker
