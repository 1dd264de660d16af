// SPDX-License-Identifier: Apache-2.0
// Fills of every shape by one message, and clients that ask for what no fill is.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "hipcore/wire/fill.h"
#include "session_rig.h"

namespace tf::worker {
namespace {

constexpr std::uint64_t kBytes = 4096;

class Fills : public ::testing::Test {
 protected:
  void SetUp() override {
    rig_.start();
    ASSERT_EQ(rig_.call(protocol::LeaseMemoryRequest{kBytes, 0, 0}), hipSuccess);
    protocol::LeaseMemoryReply lease;
    ASSERT_EQ(rig_.body.size(), sizeof lease);
    std::memcpy(&lease, rig_.body.data(), sizeof lease);
    base_ = lease.address;
    end_ = base_ + lease.bytes;
    protocol::FillRequest clear;
    clear.target = base_;
    clear.width = kBytes;
    clear.value = '.';
    ASSERT_EQ(rig_.call(clear), hipSuccess);
  }
  protocol::FillRequest at(std::uint64_t offset, std::uint64_t width, std::uint32_t value) const {
    protocol::FillRequest fill;
    fill.target = base_ + offset;
    fill.width = width;
    fill.value = value;
    return fill;
  }
  // The first bytes of the lease.
  std::string bytes(std::size_t count) {
    std::string back(count, ' ');
    BulkCompletion received;
    EXPECT_TRUE(rig_.bulk().receive(1, std::as_writable_bytes(std::span(back)), received).is_ok());
    rig_.post(protocol::CopyFromDeviceRequest{base_, count, 0, 1});
    EXPECT_TRUE(rig_.await(received).is_ok());
    return back;
  }
  // Ends the session: no correct client sends it.
  void refused(const protocol::FillRequest& fill, const std::string& why) {
    rig_.post(fill);
    const Status ended = rig_.wait_end();
    EXPECT_EQ(ended.code(), Code::kProtocol) << why;
    EXPECT_NE(ended.to_string().find(why), std::string::npos) << ended.to_string();
  }

  static std::span<const std::byte> head_of(const protocol::FillRequest& fill, std::size_t size) {
    return std::as_bytes(std::span(&fill, 1)).first(size);
  }

  SessionRig rig_{TF_CPU_RUNTIME};
  std::uint64_t base_ = 0;
  std::uint64_t end_ = 0;
};

TEST_F(Fills, RowsOfEveryElement) {
  ASSERT_EQ(rig_.call(at(1, 3, 'a' | 0xff00)), hipSuccess) << "the low byte";
  protocol::FillRequest two = at(4, 4, 'b' | 'c' << 8 | 0xff0000);
  two.form = 2;
  ASSERT_EQ(rig_.call(two), hipSuccess);
  protocol::FillRequest four = at(8, 8, 'd' | 'e' << 8 | 'f' << 16 | 'g' << 24);
  four.form = 4;
  ASSERT_EQ(rig_.call(four), hipSuccess);
  EXPECT_EQ(bytes(17), ".aaabcbcdefgdefg.");
}

TEST_F(Fills, WithAndWithoutWaiting) {
  protocol::FillRequest fill = at(0, 2, 'a');
  fill.form |= protocol::kFillSynchronous;
  ASSERT_EQ(rig_.call(fill), hipSuccess);
  fill = at(4, 2, 'b' | 'c' << 8);
  fill.form = 2;
  fill.form |= protocol::kFillSynchronous;
  ASSERT_EQ(rig_.call(fill), hipSuccess);
  fill = at(8, 4, 'd' | 'd' << 8 | 'd' << 16 | 'd' << 24);
  fill.form = 4;
  fill.form |= protocol::kFillSynchronous;
  ASSERT_EQ(rig_.call(fill), hipSuccess);
  fill = at(12, 1, 'e');
  fill.pitch = 2;
  fill.height = 2;
  fill.form |= protocol::kFillSynchronous;
  ASSERT_EQ(rig_.call(fill), hipSuccess);
  fill = at(16, 1, 'f');
  fill.pitch = 2;
  fill.slice = 4;
  fill.height = fill.depth = 2;
  fill.form |= protocol::kFillSynchronous;
  ASSERT_EQ(rig_.call(fill), hipSuccess);
  EXPECT_EQ(bytes(24), "aa..bc..dddde.e.f.f.f.f.");
}

TEST_F(Fills, RowsAndSlicesLeaveTheGaps) {
  protocol::FillRequest rows = at(0, 2, 'r');
  rows.pitch = 4;
  rows.height = 2;
  ASSERT_EQ(rig_.call(rows), hipSuccess);
  protocol::FillRequest slices = at(8, 1, 's');
  slices.pitch = 2;
  slices.slice = 6;
  slices.height = slices.depth = 2;
  ASSERT_EQ(rig_.call(slices), hipSuccess);
  EXPECT_EQ(bytes(20), "rr..rr..s.s...s.s...");
}

TEST_F(Fills, NothingIsFilledWithoutSize) {
  for (std::uint64_t protocol::FillRequest::*side :
       {&protocol::FillRequest::width, &protocol::FillRequest::height, &protocol::FillRequest::depth}) {
    protocol::FillRequest fill = at(0, 1, 'x');
    fill.*side = 0;
    EXPECT_EQ(rig_.call(fill), hipSuccess);
  }
  EXPECT_EQ(bytes(4), "....");
}

TEST_F(Fills, ForeignMemoryIsLeftAlone) {
  const std::uint64_t bytes = end_ - base_;
  EXPECT_EQ(rig_.call(at(bytes - 1, 2, 'x')), hipErrorInvalidValue);
  EXPECT_EQ(rig_.call(at(-base_, 1, 'x')), hipErrorInvalidValue) << "null";
  protocol::FillRequest rows = at(0, 16, 'x');
  rows.pitch = 16;
  rows.height = bytes / 16 + 1;
  EXPECT_EQ(rig_.call(rows), hipErrorInvalidValue);
  rows.pitch = ~std::uint64_t{0} / 2;
  rows.height = 4;
  EXPECT_EQ(rig_.call(rows), hipErrorInvalidValue) << "wraps";
  rows.pitch = 8;
  EXPECT_EQ(rig_.call(rows), hipErrorInvalidValue) << "rows that overlap";
  protocol::FillRequest slices = at(0, 8, 'x');
  slices.pitch = 8;
  slices.slice = 8;
  slices.height = slices.depth = 2;
  EXPECT_EQ(rig_.call(slices), hipErrorInvalidValue) << "slices that overlap";
  slices.slice = 20;
  EXPECT_EQ(rig_.call(slices), hipErrorInvalidValue) << "half a row from slice to slice";
  protocol::FillRequest stranger = at(0, 1, 'x');
  stranger.stream = protocol::Handle(protocol::HandleKind::kStream, 1, 77).raw();
  EXPECT_EQ(rig_.call(stranger), hipErrorInvalidHandle);
}

// The null stream waits for a host function.
TEST_F(Fills, OneThatCannotStartHoldsUpNoRequest) {
  rig_.post(protocol::HostCallbackRequest{0, 7});
  ASSERT_EQ(rig_.callback_due(), 7u);
  protocol::FillRequest fill = at(0, 1, 'x');
  fill.form |= protocol::kFillSynchronous;
  rig_.post(fill);
  EXPECT_EQ(rig_.call(protocol::ProbeModuleRequest{}), hipSuccess);
  EXPECT_EQ(rig_.call(protocol::QueryStreamRequest{0}), hipErrorNotReady);
  rig_.callback_done(7);
  EXPECT_EQ(bytes(2), "x.");
}

TEST_F(Fills, AreDoneBeforeAccessChangesOrOthersGetTheMemory) {
  std::uint64_t cookie = 7;
  const auto waits = [&](auto request) {
    rig_.post(protocol::HostCallbackRequest{0, ++cookie});
    ASSERT_EQ(rig_.callback_due(), cookie);
    protocol::FillRequest fill = at(0, 1, 'x');
    fill.form |= protocol::kFillSynchronous;
    rig_.post(fill);
    std::atomic<bool> answered{false};
    std::thread caller([&] {
      static_cast<void>(rig_.call(request));
      answered = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(answered);
    rig_.callback_done(cookie);
    caller.join();
  };
  waits(protocol::SetAccessRequest{});
  waits(protocol::ShareLeaseRequest{});
  waits(protocol::SharePhysicalRequest{});
}

TEST_F(Fills, FlagsAreKnown) {
  protocol::FillRequest fill = at(0, 1, 'x');
  fill.form |= 16;
  refused(fill, "an element is of 1, 2 or 4 bytes");
}

// One row needs no pitch: its message leaves the end out, or not.
TEST_F(Fills, TheEndIsLeftOutOrThere) {
  const protocol::FillRequest one = at(0, 1, 'x');
  const protocol::FillRequest two = at(1, 1, 'y');
  EXPECT_LT(protocol::wire_bytes(one), sizeof one);
  rig_.post_head<protocol::FillRequest>(protocol::wire_of(one));
  rig_.post_head<protocol::FillRequest>(head_of(two, sizeof two));
  EXPECT_EQ(bytes(3), "xy.");
}

TEST_F(Fills, NothingElseIsLeftOut) {
  const protocol::FillRequest fill = at(0, 1, 'x');
  rig_.post_head<protocol::FillRequest>(head_of(fill, sizeof fill - 8));
  EXPECT_EQ(rig_.wait_end().code(), Code::kProtocol);
}

TEST_F(Fills, OnlyTheNullStreamIsWaitedFor) {
  protocol::FillRequest fill = at(0, 1, 'x');
  fill.form |= protocol::kFillSynchronous;
  fill.stream = protocol::Handle(protocol::HandleKind::kStream, 1, 0).raw();
  refused(fill, "on a stream");
}

TEST_F(Fills, ElementsHaveASize) {
  protocol::FillRequest fill = at(0, 3, 'x');
  fill.form = 3;
  refused(fill, "an element is of 1, 2 or 4 bytes");
}

TEST_F(Fills, ElementsAreWhole) {
  protocol::FillRequest fill = at(0, 3, 'x');
  fill.form = 2;
  refused(fill, "width is not a multiple of the element");
}

TEST_F(Fills, SlicesAreOfBytes) {
  protocol::FillRequest fill = at(0, 4, 'x');
  fill.form = 4;
  fill.pitch = 4;
  fill.slice = 8;
  fill.depth = 2;
  refused(fill, "more than one slice needs elements of 1 byte");
}

}  // namespace
}  // namespace tf::worker
