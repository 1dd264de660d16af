// SPDX-License-Identifier: Apache-2.0
// Clients that open, write and read host memory which is not theirs, and what they may.
#include "worker/memory/host_window.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "session_rig.h"
#include "worker/memory/host_mirror.h"
#include "worker/memory/machine_memory.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kWindowUnit = protocol::kHostPartBytes;
using Pieces = std::vector<mirror::Piece>;

class HostWindowOf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (rig_.snapshot().host_window.bytes == 0) GTEST_SKIP() << "no room for a host window here";
    base_ = rig_.snapshot().host_window.base;
    end_ = base_ + rig_.snapshot().host_window.bytes;
    rig_.start();
  }
  hipError_t open(std::uint64_t address, std::uint64_t bytes) {
    return rig_.call(protocol::OpenHostPartRequest{address, bytes, 0});
  }
  // Answered, unlike the client's own.
  hipError_t close(std::uint64_t address) { return rig_.call(protocol::CloseHostPartRequest{address}); }
  static std::vector<std::byte> payload_of(const Pieces& pieces, const std::string& text) {
    const auto places = std::as_bytes(std::span(pieces));
    std::vector<std::byte> payload(places.begin(), places.end());
    for (const char letter : text) payload.push_back(static_cast<std::byte>(letter));
    return payload;
  }
  hipError_t write(const Pieces& pieces, const std::string& text) {
    const std::uint64_t tag = ++tag_;
    const auto payload = payload_of(pieces, text);
    BulkCompletion sent;
    EXPECT_TRUE(rig_.bulk().send(tag, payload, sent).is_ok());
    const hipError_t error = rig_.call(protocol::WriteHostPiecesRequest{tag, pieces.size(), text.size()});
    EXPECT_TRUE(rig_.await(sent).is_ok());
    return error;
  }
  hipError_t write(std::uint64_t address, const std::string& text) {
    return write(Pieces{{address, text.size()}}, text);
  }
  hipError_t write_inline(const Pieces& pieces, const std::string& text) {
    return rig_.call(protocol::WriteHostPiecesRequest{0, pieces.size(), text.size()},
                     payload_of(pieces, text));
  }
  // What has changed in the pieces. It comes behind the answer.
  hipError_t find(const Pieces& pieces) {
    const std::uint64_t tag = ++tag_;
    const hipError_t error =
        rig_.call(protocol::FindHostChangesRequest{tag}, std::as_bytes(std::span(pieces)));
    found_ = error == hipSuccess ? rig_.reply_body<protocol::FindHostChangesReply>()
                                 : protocol::FindHostChangesReply{};
    std::vector<std::byte> payload(found_.pieces * sizeof(mirror::Piece) + found_.bytes);
    BulkCompletion received;
    EXPECT_TRUE(rig_.bulk().receive(tag, payload, received).is_ok());
    EXPECT_TRUE(rig_.await(received).is_ok());
    places_.resize(found_.pieces);
    if (!places_.empty())  // an empty vector has no address
      std::memcpy(places_.data(), payload.data(), places_.size() * sizeof(mirror::Piece));
    text_.assign(reinterpret_cast<const char*>(payload.data()) + places_.size() * sizeof(mirror::Piece),
                 found_.bytes);
    return error;
  }
  static std::string at(std::uint64_t address, std::size_t bytes) {
    return {reinterpret_cast<const char*>(address), bytes};
  }

  void finds_what_the_device_has_changed() {
    ASSERT_EQ(open(base_, kWindowUnit), hipSuccess);
    const Pieces all{{base_, kWindowUnit / 2}, {base_ + kWindowUnit / 2, kWindowUnit / 2}};
    ASSERT_EQ(write(base_, std::string(100'000, 'a')), hipSuccess);
    ASSERT_EQ(find(all), hipSuccess);
    EXPECT_EQ(found_.pieces, 0u) << "the client knows what it has written";
    EXPECT_EQ(found_.idle, 1u);
    ASSERT_EQ(rig_.fill(base_ + 4096 * 3 + 5, 10, 'b'), hipSuccess);
    ASSERT_EQ(rig_.fill(base_ + kWindowUnit / 2, 200'000, 'c'), hipSuccess);
    ASSERT_EQ(find({{base_ + 4096 * 3, 100}}), hipSuccess);
    EXPECT_EQ(found_.bytes, 100u) << "nothing but what was asked for";
    ASSERT_EQ(rig_.fill(base_ + 4096 * 3 + 5, 10, 'd'), hipSuccess);
    ASSERT_EQ(find(all), hipSuccess);
    ASSERT_EQ(places_, (Pieces{{base_ + 4096 * 3, 4096}, {base_ + kWindowUnit / 2, 49 * 4096}}));
    EXPECT_EQ(text_.substr(0, 16), std::string(5, 'a') + std::string(10, 'd') + 'a');
    EXPECT_EQ(text_.substr(4096, 200'000), std::string(200'000, 'c'));
    ASSERT_EQ(find(all), hipSuccess);
    EXPECT_EQ(found_.pieces, 0u);
  }

  explicit HostWindowOf(const SessionRig::Adjust& adjust = {})
      : rig_(TF_CPU_RUNTIME, make_loopback_pair(), adjust) {}

  SessionRig rig_;
  std::uint64_t base_ = 0;
  std::uint64_t end_ = 0;
  std::uint64_t tag_ = 0;
  protocol::FindHostChangesReply found_{};
  Pieces places_;     // of what was found
  std::string text_;  // its bytes, one after another
};

// Else copies between buffers that lie at the same offsets take up to three times as long on some processors.
TEST_F(HostWindowOf, ACacheThatHashesAddressesTellsItsOffsetsFromThoseOfADevice) {
  constexpr std::uint64_t kBitsHashed = 0x0fe0'0000;
  ASSERT_FALSE(rig_.snapshot().devices.empty());
  for (const protocol::DeviceSnapshot& device : rig_.snapshot().devices)
    EXPECT_NE((device.window.base ^ base_) & kBitsHashed, 0u);
}

TEST_F(HostWindowOf, OnlyWholeFreePartsAreOpened) {
  ASSERT_EQ(open(base_ + 2 * kWindowUnit, 2 * kWindowUnit), hipSuccess);
  for (const auto& [address, bytes] : {std::pair{base_, 0ul},
                                       {base_, kWindowUnit + 1},
                                       {base_ + 4096, kWindowUnit},
                                       {base_ + kWindowUnit, 2 * kWindowUnit},
                                       {base_ + 3 * kWindowUnit, kWindowUnit},
                                       {base_ + 3 * kWindowUnit, 2 * kWindowUnit},
                                       {base_, 8 * kWindowUnit},
                                       {base_ - kWindowUnit, kWindowUnit},
                                       {end_, kWindowUnit},
                                       {end_ - kWindowUnit, 2 * kWindowUnit},
                                       {base_ + 4 * kWindowUnit, ~0ul - kWindowUnit + 1},
                                       {0ul, kWindowUnit},
                                       {rig_.snapshot().devices[0].window.base, kWindowUnit}})
    EXPECT_EQ(open(address, bytes), hipErrorInvalidValue) << std::hex << address << ' ' << bytes;
  EXPECT_EQ(open(base_ + 4 * kWindowUnit, kWindowUnit), hipSuccess);
  EXPECT_EQ(open(base_ + kWindowUnit, kWindowUnit), hipSuccess);
  EXPECT_EQ(close(base_ + 3 * kWindowUnit), hipErrorInvalidValue) << "not where a part starts";
  EXPECT_EQ(close(base_ + 2 * kWindowUnit), hipSuccess);
  EXPECT_EQ(close(base_ + 2 * kWindowUnit), hipErrorInvalidValue);
  EXPECT_EQ(open(base_ + 2 * kWindowUnit, kWindowUnit), hipSuccess);
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

TEST_F(HostWindowOf, WhatIsWrittenIsThere) {
  ASSERT_EQ(open(base_, kWindowUnit), hipSuccess);
  ASSERT_EQ(write({{base_ + 100, 5}, {base_ + 9000, 3}}, "hellobye"), hipSuccess);
  ASSERT_EQ(write_inline({{base_ + 200, 2}, {base_ + 203, 1}}, "abc"), hipSuccess);
  EXPECT_EQ(at(base_ + 100, 5), "hello");
  EXPECT_EQ(at(base_ + 9000, 3), "bye");
  EXPECT_EQ(at(base_ + 200, 4), std::string("ab\0c", 4));
  const std::string large(300'000, 'x');  // straight into its place, unlike the small one behind it
  ASSERT_EQ(write({{base_ + 8192, large.size()}, {base_, 1}}, large + "y"), hipSuccess);
  EXPECT_EQ(at(base_ + 8192, large.size()), large);
  EXPECT_EQ(at(base_, 1), "y");
  EXPECT_EQ(rig_.fill(base_ + 101, 3, 'x'), hipSuccess) << "devices reach it";
  EXPECT_EQ(at(base_ + 100, 5), "hxxxo");
  EXPECT_EQ(close(base_), hipSuccess);
  EXPECT_EQ(rig_.fill(base_ + 101, 3, 'x'), hipErrorInvalidValue);
  ASSERT_EQ(open(base_, kWindowUnit), hipSuccess);
  EXPECT_EQ(at(base_ + 100, 5), std::string(5, '\0')) << "closing gives the pages back";
}

TEST_F(HostWindowOf, WhatTheDeviceHasChangedIsFoundOnce) { finds_what_the_device_has_changed(); }

// The same where nobody says what a device writes.
class ComparedHostWindow : public HostWindowOf {
 protected:
  ComparedHostWindow()
      : HostWindowOf([](OptionalFunctions& optional, protocol::WorkerSnapshot&) {
          optional.runs_on_host = nullptr;
        }) {}
};

TEST_F(ComparedHostWindow, WhatTheDeviceHasChangedIsFoundOnce) { finds_what_the_device_has_changed(); }

// Payload is consumed, or the tag aborted, whatever is wrong: later pieces are whole.
TEST_F(HostWindowOf, ForeignMemoryIsNeitherWrittenNorRead) {
  ASSERT_EQ(open(base_, kWindowUnit), hipSuccess);
  const std::string local(8, ' ');
  for (const std::uint64_t address :
       {base_ + kWindowUnit - 7, base_ + kWindowUnit, base_ - 8, end_ - 8, std::uint64_t{0},
        ~std::uint64_t{0} - 3, reinterpret_cast<std::uint64_t>(local.data())}) {
    const Pieces pieces{{base_, 8}, {address, 8}};
    EXPECT_EQ(write(pieces, "1234567812345678"), hipErrorInvalidValue) << std::hex << address;
    EXPECT_EQ(write_inline(pieces, "1234567812345678"), hipErrorInvalidValue) << std::hex << address;
    EXPECT_EQ(find(pieces), hipErrorInvalidValue) << std::hex << address;
  }
  EXPECT_EQ(local, std::string(8, ' '));
  EXPECT_EQ(find({{base_ + 8192, 4096}, {base_, 8193}}), hipErrorInvalidValue) << "a byte is in both";
  EXPECT_EQ(find({{base_ + 8192, 4096}, {base_, 8192}}), hipSuccess) << "in any order";
  EXPECT_EQ(write({{base_, 8}, {base_ + 8, 0}}, "12345678"), hipErrorInvalidValue);
  EXPECT_EQ(write({{base_, 8}}, "123456789"), hipErrorInvalidValue) << "not as long as its pieces";
  EXPECT_EQ(write_inline({{base_, 9}}, "12345678"), hipErrorInvalidValue);
  EXPECT_EQ(write_inline({{base_, ~0ul}, {base_, 9}}, "12345678"), hipErrorInvalidValue) << "the sum wraps";
  EXPECT_EQ(at(base_, 8), std::string(8, '\0'));
  ASSERT_EQ(write(base_ + kWindowUnit - 8, "12345678"), hipSuccess);
  EXPECT_EQ(at(base_ + kWindowUnit - 8, 8), "12345678");
}

TEST_F(HostWindowOf, WhatWasFoundLeavesBeforeItsPartIsClosed) {
  ASSERT_EQ(open(base_, kWindowUnit), hipSuccess);
  ASSERT_EQ(rig_.fill(base_, 1, 'x'), hipSuccess);
  ASSERT_EQ(find({{base_, kWindowUnit}}), hipSuccess);
  EXPECT_EQ(found_.pieces, 1u);
  EXPECT_EQ(text_.front(), 'x');
  ASSERT_EQ(close(base_), hipSuccess);
  EXPECT_EQ(find({{base_, kWindowUnit}}), hipErrorInvalidValue) << "the part is closed";
}

TEST_F(HostWindowOf, MorePiecesThanAnyClientSendsEndTheSession) {
  ASSERT_EQ(open(base_, kWindowUnit), hipSuccess);
  rig_.post(protocol::WriteHostPiecesRequest{1, kMirrorPiecesMax + 1, 8});
  EXPECT_EQ(rig_.wait_end().code(), Code::kProtocol);
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
