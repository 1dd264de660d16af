// SPDX-License-Identifier: Apache-2.0
// Payload that lands in device memory without staging, and what must wait for it.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>

#include "tests/unit/worker/session_rig.h"

namespace tf::worker {
namespace {

constexpr std::size_t kBytes = 3 << 20;

std::vector<std::byte> filled(int value, std::size_t bytes = kBytes) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

template <typename Request>
void fill(Request& request, std::uint64_t bytes, std::uint64_t stream, std::uint64_t tag) {
  request.bytes = bytes;
  request.stream = stream;
  request.tag = tag;
}

void post_copy_in(SessionRig& rig, std::uint64_t target, std::uint64_t bytes, std::uint64_t stream,
                  std::uint64_t tag) {
  protocol::CopyToDeviceRequest request{};
  request.target = target;
  fill(request, bytes, stream, tag);
  rig.post(request);
}

void post_copy_out(SessionRig& rig, std::uint64_t source, std::uint64_t bytes, std::uint64_t stream,
                   std::uint64_t tag) {
  protocol::CopyFromDeviceRequest request{};
  request.source = source;
  fill(request, bytes, stream, tag);
  rig.post(request);
}

class DirectCopies : public testing::Test {
 protected:
  DirectCopies() {
    rig_.let_host_address_devices();
    stream_ = rig_.add_stream();
    other_ = rig_.add_stream();
    rig_.start();
    memory_ = rig_.lease(16 << 20);
  }
  void send(std::uint64_t tag, std::span<const std::byte> data) {
    BulkCompletion sent;
    ASSERT_TRUE(rig_.bulk().send(tag, data, sent).is_ok());
    ASSERT_TRUE(rig_.await(sent).is_ok());
  }
  void receive(std::uint64_t tag, std::span<std::byte> data) {
    BulkCompletion received;
    ASSERT_TRUE(rig_.bulk().receive(tag, data, received).is_ok());
    ASSERT_TRUE(rig_.await(received).is_ok());
  }
  std::vector<std::byte> read(std::uint64_t source, std::size_t bytes, std::uint64_t tag) {
    std::vector<std::byte> data(bytes);
    post_copy_out(rig_, source, bytes, stream_, tag);
    receive(tag, data);
    return data;
  }

  SessionRig rig_;
  std::uint64_t stream_ = 0;
  std::uint64_t other_ = 0;
  std::uint64_t memory_ = 0;
};

TEST_F(DirectCopies, ManyInFlightLandInOrder) {
  constexpr std::size_t kCopies = 200;
  constexpr std::size_t kStep = 20'000;
  std::deque<std::vector<std::byte>> data;
  std::deque<BulkCompletion> sent;
  for (std::size_t copy = 0; copy < kCopies; ++copy) {
    data.push_back(filled(static_cast<int>(copy), 2 * kStep));
    // Every second half is written again by the next copy.
    post_copy_in(rig_, memory_ + copy * kStep, data.back().size(), stream_, copy + 1);
    ASSERT_TRUE(rig_.bulk().send(copy + 1, data.back(), sent.emplace_back()).is_ok());
  }
  for (const BulkCompletion& completion : sent) ASSERT_TRUE(rig_.await(completion).is_ok());
  const std::vector<std::byte> back = read(memory_, (kCopies + 1) * kStep, 1000);
  for (std::size_t copy = 0; copy < kCopies; ++copy)
    ASSERT_EQ(back[copy * kStep + kStep / 2], static_cast<std::byte>(copy)) << copy;
  EXPECT_TRUE(rig_.faults().empty());
}

TEST_F(DirectCopies, LatePayloadHoldsUpItsStreamOnly) {
  post_copy_in(rig_, memory_, kBytes, stream_, 1);
  EXPECT_EQ(rig_.synchronize(other_), hipSuccess);
  EXPECT_EQ(rig_.call(protocol::QueryStreamRequest{other_}), hipSuccess);
  EXPECT_EQ(rig_.call(protocol::QueryStreamRequest{stream_}), hipErrorNotReady);
  const std::vector<std::byte> data = filled(7);
  send(1, data);
  EXPECT_EQ(rig_.synchronize(stream_), hipSuccess);
  EXPECT_EQ(read(memory_, kBytes, 2), data);
  EXPECT_TRUE(rig_.faults().empty());
}

TEST_F(DirectCopies, WhatIsSentIsWhatTheMemoryHeldThen) {
  const std::vector<std::byte> before = filled(1);
  post_copy_in(rig_, memory_, kBytes, stream_, 1);
  send(1, before);
  post_copy_out(rig_, memory_, kBytes, stream_, 2);
  // Would overwrite what has not left yet.
  protocol::CopyToDeviceInlineRequest later{};
  later.target = memory_ + kBytes - 100;
  later.stream = stream_;
  rig_.post(later, filled(2, 100));
  EXPECT_EQ(rig_.synchronize(other_), hipSuccess);
  std::vector<std::byte> back(kBytes);
  receive(2, back);
  EXPECT_EQ(back, before);
  EXPECT_EQ(rig_.synchronize(stream_), hipSuccess);
  EXPECT_EQ(read(memory_ + kBytes - 100, 100, 3), filled(2, 100));
}

TEST_F(DirectCopies, BothDirectionsOfOneStreamKeepTheirOrder) {
  post_copy_in(rig_, memory_, kBytes, stream_, 1);
  std::vector<std::byte> back(kBytes);
  BulkCompletion received;
  ASSERT_TRUE(rig_.bulk().receive(2, back, received).is_ok());
  post_copy_out(rig_, memory_, kBytes, stream_, 2);
  const std::vector<std::byte> data = filled(9);
  send(1, data);
  ASSERT_TRUE(rig_.await(received).is_ok());
  EXPECT_EQ(back, data);
}

TEST_F(DirectCopies, TheSessionEndsInTheMiddleOfOne) {
  post_copy_in(rig_, memory_, kBytes, stream_, 1);
  EXPECT_EQ(rig_.call(protocol::QueryStreamRequest{stream_}), hipErrorNotReady);  // a gate stands now
  post_copy_in(rig_, memory_, kBytes, other_, 2);
  rig_.drop_client();
  EXPECT_FALSE(rig_.wait_end().is_ok());
}

}  // namespace
}  // namespace tf::worker
