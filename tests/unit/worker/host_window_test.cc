// SPDX-License-Identifier: Apache-2.0
// Clients that open, write and read host memory which is not theirs, and what they may.
#include "worker/memory/host_window.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <string>
#include <utility>

#include "hipcore/wire/fill.h"
#include "session_rig.h"
#include "worker/memory/machine_memory.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kUnit = protocol::kHostPartBytes;

class HostWindowOf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (rig_.snapshot().host_window.bytes == 0) GTEST_SKIP() << "no room for a host window here";
    base_ = rig_.snapshot().host_window.base;
    end_ = base_ + rig_.snapshot().host_window.bytes;
    rig_.start();
  }
  hipError_t open(std::uint64_t address, std::uint64_t bytes) {
    return rig_.call(protocol::OpenHostPartRequest{address, bytes});
  }
  // Answered, unlike the client's own.
  hipError_t close(std::uint64_t address) { return rig_.call(protocol::CloseHostPartRequest{address}); }
  hipError_t write(std::uint64_t address, const std::string& text) {
    const std::uint64_t tag = ++tag_;
    BulkCompletion sent;
    EXPECT_TRUE(rig_.bulk().send(tag, std::as_bytes(std::span(text)), sent).is_ok());
    const hipError_t error = rig_.call(protocol::WriteHostPartRequest{address, text.size(), tag});
    EXPECT_TRUE(rig_.await(sent).is_ok());
    return error;
  }
  hipError_t read(std::uint64_t address, std::string& text) {
    const std::uint64_t tag = ++tag_;
    BulkCompletion received;
    EXPECT_TRUE(rig_.bulk().receive(tag, std::as_writable_bytes(std::span(text)), received).is_ok());
    rig_.post(protocol::ReadHostPartRequest{address, text.size(), tag});
    const Status status = rig_.await(received);
    return status.is_ok() ? hipSuccess : static_cast<hipError_t>(abort_reason(status));
  }

  SessionRig rig_{TF_CPU_RUNTIME};
  std::uint64_t base_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t tag_ = 0;
};

// Else copies between buffers that lie at the same offsets take up to three times as long on some processors.
TEST_F(HostWindowOf, ACacheThatHashesAddressesTellsItsOffsetsFromThoseOfADevice) {
  constexpr std::uint64_t kBitsHashed = 0x0fe0'0000;
  ASSERT_FALSE(rig_.snapshot().devices.empty());
  for (const protocol::DeviceSnapshot& device : rig_.snapshot().devices)
    EXPECT_NE((device.window.base ^ base_) & kBitsHashed, 0u);
}

TEST_F(HostWindowOf, OnlyWholeFreePartsAreOpened) {
  ASSERT_EQ(open(base_ + 2 * kUnit, 2 * kUnit), hipSuccess);
  for (const auto& [address, bytes] : {std::pair{base_, 0ul},
                                       {base_, kUnit + 1},
                                       {base_ + 4096, kUnit},
                                       {base_ + kUnit, 2 * kUnit},
                                       {base_ + 3 * kUnit, kUnit},
                                       {base_ + 3 * kUnit, 2 * kUnit},
                                       {base_, 8 * kUnit},
                                       {base_ - kUnit, kUnit},
                                       {end_, kUnit},
                                       {end_ - kUnit, 2 * kUnit},
                                       {base_ + 4 * kUnit, ~0ul - kUnit + 1},
                                       {0ul, kUnit},
                                       {rig_.snapshot().devices[0].window.base, kUnit}})
    EXPECT_EQ(open(address, bytes), hipErrorInvalidValue) << std::hex << address << ' ' << bytes;
  EXPECT_EQ(open(base_ + 4 * kUnit, kUnit), hipSuccess);
  EXPECT_EQ(open(base_ + kUnit, kUnit), hipSuccess);
  EXPECT_EQ(close(base_ + 3 * kUnit), hipErrorInvalidValue) << "not where a part starts";
  EXPECT_EQ(close(base_ + 2 * kUnit), hipSuccess);
  EXPECT_EQ(close(base_ + 2 * kUnit), hipErrorInvalidValue);
  EXPECT_EQ(open(base_ + 2 * kUnit, kUnit), hipSuccess);
}

TEST_F(HostWindowOf, NotMoreThanTheMachineHas) {
  const std::uint64_t all = rig_.snapshot().host_window.bytes;
  if (all < 2 * machine_bytes()) GTEST_SKIP() << "the window is less than twice this machine's memory";
  EXPECT_EQ(open(base_, all), hipErrorOutOfMemory);
  std::uint64_t opened = 0;
  while (opened < all && open(base_ + opened, all / 64) == hipSuccess) opened += all / 64;
  EXPECT_GT(opened, 0u);
  EXPECT_LE(opened, all / 2);
  EXPECT_EQ(close(base_), hipSuccess);
  EXPECT_EQ(open(base_ + opened, all / 64), hipSuccess) << "what is closed can be used again";
}

TEST_F(HostWindowOf, WhatIsWrittenIsThereAndIsRead) {
  ASSERT_EQ(open(base_, kUnit), hipSuccess);
  ASSERT_EQ(write(base_ + 100, "hello"), hipSuccess);
  std::string back(5, ' ');
  ASSERT_EQ(read(base_ + 100, back), hipSuccess);
  EXPECT_EQ(back, "hello");
  protocol::FillRequest fill{};
  fill.target = base_ + 101;
  fill.value = 'x';
  fill.width = 3;
  fill.form |= protocol::kFillSynchronous;
  ASSERT_EQ(rig_.call(fill), hipSuccess) << "devices reach it";
  ASSERT_EQ(read(base_ + 100, back), hipSuccess);
  EXPECT_EQ(back, "hxxxo");
  EXPECT_EQ(close(base_), hipSuccess);
  EXPECT_EQ(rig_.call(fill), hipErrorInvalidValue);
  ASSERT_EQ(open(base_, kUnit), hipSuccess);
  ASSERT_EQ(read(base_ + 100, back), hipSuccess);
  EXPECT_EQ(back, std::string(5, '\0')) << "closing gives the pages back";
}

// The payload is consumed, or the tag aborted, whatever is wrong: later copies are whole.
TEST_F(HostWindowOf, ForeignMemoryIsNeitherWrittenNorRead) {
  ASSERT_EQ(open(base_, kUnit), hipSuccess);
  std::string back(8, ' ');
  for (const std::uint64_t address : {base_ + kUnit - 7, base_ + kUnit, base_ - 8, end_ - 8, std::uint64_t{0},
                                      ~std::uint64_t{0} - 3, reinterpret_cast<std::uint64_t>(&back)}) {
    EXPECT_EQ(write(address, "12345678"), hipErrorInvalidValue) << std::hex << address;
    EXPECT_EQ(read(address, back), hipErrorInvalidValue) << std::hex << address;
  }
  ASSERT_EQ(write(base_ + kUnit - 8, "12345678"), hipSuccess);
  ASSERT_EQ(read(base_ + kUnit - 8, back), hipSuccess);
  EXPECT_EQ(back, "12345678");
}

TEST(HostWindowFile, CannotChangeItsSize) {
  protocol::WorkerSnapshot snapshot;
  snapshot.devices.resize(1);
  reserve_host_window(snapshot);
  if (snapshot.host_window.bytes == 0) GTEST_SKIP() << "no room for a host window here";
  const protocol::AddressWindow window = snapshot.host_window;
  const net::OwnedFd file = share_host_window(snapshot);
  ASSERT_TRUE(file);
  EXPECT_EQ(snapshot.host_access, protocol::HostAccess::kShared);
  EXPECT_NE(::ftruncate(file.get(), 0), 0);
  EXPECT_NE(::ftruncate(file.get(), static_cast<off_t>(window.bytes * 2)), 0);
  struct stat facts {};
  ASSERT_EQ(::fstat(file.get(), &facts), 0);
  EXPECT_EQ(facts.st_size, static_cast<off_t>(window.bytes));
  EXPECT_EQ(facts.st_blocks, 0) << "pages come with the first touch";
  std::memcpy(reinterpret_cast<void*>(window.base + 5), "seen", 4);
  char text[4] = {};
  ASSERT_EQ(::pread(file.get(), text, 4, 5), 4);
  EXPECT_EQ(std::memcmp(text, "seen", 4), 0);
  ::munmap(reinterpret_cast<void*>(window.base), window.bytes);
}

TEST(HostWindowFile, NoDeviceNoWindow) {
  protocol::WorkerSnapshot snapshot;
  reserve_host_window(snapshot);
  EXPECT_FALSE(share_host_window(snapshot));
  EXPECT_EQ(snapshot.host_access, protocol::HostAccess::kNone);
  EXPECT_EQ(snapshot.host_window.bytes, 0u);
}

}  // namespace
}  // namespace tf::worker
