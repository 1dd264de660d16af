// SPDX-License-Identifier: Apache-2.0
// What stands in a stream until the client has done its part: copies whose payload comes when the stream is
// there, and host functions that wait for payload while the executor is held up.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>

#include "hipcore/wire/control_message.h"
#include "session_rig.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kBytes = 1000;

protocol::CopyInTurnRequest copy_request(std::uint64_t target, std::uint64_t stream, std::uint64_t cookie) {
  protocol::CopyInTurnRequest request{};
  request.target = target;
  request.target_pitch = request.target_slice = request.width = kBytes;
  request.height = request.depth = 1;
  request.stream = stream;
  request.cookie = cookie;
  return request;
}

// The client's payload, as the thread that reads the control connection takes it.
Status send(SessionRig& rig, std::uint64_t cookie, char value, std::uint64_t bytes = kBytes) {
  return rig.session().callbacks.take_payload(cookie, bytes, [value](std::span<std::byte> landing) {
    std::memset(landing.data(), value, landing.size());
    return Status::ok();
  });
}

std::vector<std::byte> fetch(SessionRig& rig, std::uint64_t source, std::uint64_t bytes) {
  std::vector<std::byte> found(bytes);
  BulkCompletion received;
  EXPECT_TRUE(rig.bulk().receive(99, found, received).is_ok());
  rig.post(protocol::CopyFromDeviceRequest{source, bytes, 0, 99});
  EXPECT_TRUE(rig.await(received).is_ok());
  return found;
}

std::vector<std::byte> filled(std::uint64_t bytes, char value) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(value));
}

TEST(InTurn, ThePayloadComesWhenTheStreamIsThere) {
  SessionRig rig;
  const std::uint64_t stream = rig.add_stream();
  rig.start();
  const std::uint64_t memory = rig.lease(2 * kBytes);
  rig.post(protocol::HostCallbackRequest{stream, 1});
  rig.post(copy_request(memory, stream, 2));
  rig.post(copy_request(memory + kBytes, stream, 3));
  ASSERT_EQ(rig.callback_due(), 1u);
  rig.callback_done(1);
  ASSERT_EQ(rig.callback_due(), 2u);
  EXPECT_TRUE(send(rig, 2, 'a').is_ok());
  ASSERT_EQ(rig.callback_due(), 3u);
  EXPECT_TRUE(send(rig, 3, 'b').is_ok());
  ASSERT_EQ(rig.synchronize(stream), hipSuccess);
  EXPECT_EQ(fetch(rig, memory, kBytes), filled(kBytes, 'a'));
  EXPECT_EQ(fetch(rig, memory + kBytes, kBytes), filled(kBytes, 'b'));
  EXPECT_TRUE(rig.faults().empty());
}

// All pieces of a copy are due when the first is, so that one travels while another is copied.
TEST(InTurn, PiecesThatFollowAreDueAtOnce) {
  SessionRig rig;
  const std::uint64_t stream = rig.add_stream();
  rig.start();
  constexpr std::uint64_t kPieces = 3;
  const std::uint64_t memory = rig.lease(kPieces * kBytes);
  rig.post(protocol::HostCallbackRequest{stream, 10});
  for (std::uint64_t piece = 0; piece < kPieces; ++piece) {
    protocol::CopyInTurnRequest request = copy_request(memory + piece * kBytes, stream, piece + 1);
    request.follows = piece;
    rig.post(request);
  }
  ASSERT_EQ(rig.callback_due(), 10u);
  ASSERT_EQ(rig.call(protocol::QueryStreamRequest{0}), hipSuccess);  // all pieces are queued
  rig.callback_done(10);
  for (std::uint64_t piece = 1; piece <= kPieces; ++piece) ASSERT_EQ(rig.callback_due(), piece);
  protocol::CopyInTurnRequest late = copy_request(memory, stream, 20);  // behind one that is due
  late.follows = kPieces;
  rig.post(late);
  ASSERT_EQ(rig.callback_due(), 20u);
  EXPECT_TRUE(send(rig, 20, 'z').is_ok());
  for (std::uint64_t piece = kPieces; piece > 0; --piece) EXPECT_TRUE(send(rig, piece, 'a').is_ok());
  ASSERT_EQ(rig.synchronize(stream), hipSuccess);
  EXPECT_EQ(fetch(rig, memory, kBytes), filled(kBytes, 'z'));
  EXPECT_EQ(fetch(rig, memory + kBytes, kBytes), filled(kBytes, 'a'));
  late.cookie = 21;  // behind one that is done
  late.follows = 20;
  rig.post(late);
  ASSERT_EQ(rig.callback_due(), 21u);
  EXPECT_TRUE(send(rig, 21, 'b').is_ok());
  EXPECT_EQ(rig.synchronize(stream), hipSuccess);
}

// No client sends these; the stream goes on all the same.
TEST(InTurn, APieceThatFollowsItselfIsDueOnce) {
  SessionRig rig;
  const std::uint64_t stream = rig.add_stream();
  rig.start();
  const std::uint64_t memory = rig.lease(kBytes);
  for (const std::uint64_t cookie : {0, 7}) {
    protocol::CopyInTurnRequest request = copy_request(memory, stream, cookie);
    request.follows = cookie;
    rig.post(protocol::HostCallbackRequest{stream, 100});
    rig.post(request);
    ASSERT_EQ(rig.callback_due(), 100u);
    rig.callback_done(100);
    ASSERT_EQ(rig.callback_due(), cookie);
    EXPECT_TRUE(send(rig, cookie, 'a').is_ok());
    ASSERT_EQ(rig.synchronize(stream), hipSuccess);
  }
}

TEST(InTurn, TheRowsArePacked) {
  SessionRig rig;
  rig.start();
  const std::uint64_t memory = rig.lease(4096);
  for (const std::uint64_t cookie : {8, 9}) {
    rig.post(copy_request(memory + (cookie - 8) * kBytes, 0, cookie));
    ASSERT_EQ(rig.callback_due(), cookie);
    EXPECT_TRUE(send(rig, cookie, '.').is_ok());
  }
  protocol::CopyInTurnRequest request{memory, 100, 1000, 10, 3, 2, 0, 1, 0};
  rig.post(request);
  ASSERT_EQ(rig.callback_due(), 1u);
  EXPECT_TRUE(send(rig, 1, 'r', 60).is_ok());
  ASSERT_EQ(rig.synchronize(0), hipSuccess);
  std::vector<std::byte> expected = filled(2000, '.');
  for (const std::size_t row : {0, 100, 200, 1000, 1100, 1200})
    std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(row), 10, std::byte{'r'});
  EXPECT_EQ(fetch(rig, memory, 2000), expected);
}

TEST(InTurn, PayloadThatNobodyWaitsForIsRefused) {
  SessionRig rig;
  const std::uint64_t stream = rig.add_stream();
  rig.start();
  const std::uint64_t memory = rig.lease(kBytes);
  rig.post(copy_request(memory, stream, 5));
  ASSERT_EQ(rig.callback_due(), 5u);
  EXPECT_EQ(send(rig, 6, 'x').code(), Code::kProtocol);              // unknown
  EXPECT_EQ(send(rig, 5, 'x', kBytes - 1).code(), Code::kProtocol);  // of another size
  EXPECT_EQ(send(rig, 5, 'x', kBytes + 1).code(), Code::kProtocol);
  EXPECT_TRUE(send(rig, 5, 'y').is_ok());
  EXPECT_EQ(send(rig, 5, 'x').code(), Code::kProtocol);  // once more
  ASSERT_EQ(rig.synchronize(stream), hipSuccess);
  EXPECT_EQ(fetch(rig, memory, kBytes), filled(kBytes, 'y'));
  rig.post(protocol::HostCallbackRequest{stream, 7});
  ASSERT_EQ(rig.callback_due(), 7u);
  EXPECT_EQ(send(rig, 7, 'x', 0).code(), Code::kProtocol);
  rig.callback_done(7);
  EXPECT_EQ(rig.synchronize(stream), hipSuccess);
}

TEST(InTurn, SizesThatNoClientSendsEndTheSession) {
  for (const std::uint64_t width :
       {std::uint64_t{0}, std::uint64_t{protocol::kTurnPayloadMax} + 1, UINT64_MAX}) {
    SessionRig rig;
    rig.start();
    protocol::CopyInTurnRequest request = copy_request(rig.lease(kBytes), 0, 1);
    request.width = width;
    request.height = width == UINT64_MAX ? 2 : 1;
    rig.post(request);
    EXPECT_EQ(rig.wait_end().code(), Code::kProtocol) << width;
  }
}

// The client is told that it need not wait, and why.
TEST(InTurn, WhatCannotBeQueuedIsRefused) {
  SessionRig rig;
  rig.start();
  rig.post(copy_request(rig.lease(kBytes), 0x7777, 1));  // no such stream
  rig.post(copy_request(0x1234, 0, 2));                  // not the session's memory
  rig.post(protocol::HostCallbackRequest{0x7777, 3});
  ASSERT_EQ(rig.synchronize(0), hipSuccess);
  EXPECT_EQ(rig.refused(), (std::vector<std::uint64_t>{1, 2, 3}));
  EXPECT_EQ(rig.faults().size(), 3u);
}

// A slot that the client still fills is not given to another copy.
TEST(InTurn, ACopyThatTheRuntimeRefusesKeepsItsSlotUntilThePayloadIsThere) {
  static std::atomic<bool> fails{true};
  static decltype(protocol::HipTable::hipMemcpyAsync) copy;
  fails = true;
  SessionRig rig;
  const std::uint64_t stream = rig.add_stream();
  copy = rig.hip().hipMemcpyAsync;
  rig.hip().hipMemcpyAsync = [](void* to, const void* from, size_t bytes, hipMemcpyKind kind,
                                hipStream_t on) {
    return fails.exchange(false) ? hipErrorInvalidValue : copy(to, from, bytes, kind, on);
  };
  rig.start();
  const std::uint64_t memory = rig.lease(kBytes);
  rig.post(copy_request(memory, stream, 1));
  rig.post(copy_request(memory, 0, 2));
  ASSERT_EQ(rig.callback_due(), 1u);
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(send(rig, 1, 'a').is_ok());
  ASSERT_EQ(rig.callback_due(), 2u);
  EXPECT_TRUE(send(rig, 2, 'b').is_ok());
  ASSERT_EQ(rig.synchronize(0), hipSuccess);
  EXPECT_EQ(fetch(rig, memory, kBytes), filled(kBytes, 'b'));
  ASSERT_EQ(rig.faults().size(), 1u);
  EXPECT_EQ(rig.faults()[0].error, hipErrorInvalidValue);
}

// More than may stand in streams at a time: the rest waits.
TEST(InTurn, ManyFunctionsAreNotLost) {
  SessionRig rig;
  const std::uint64_t stream = rig.add_stream();
  rig.start();
  constexpr std::uint64_t kFunctions = kCallbacksMax + 500;
  std::thread client([&] {
    for (std::uint64_t cookie = 1; cookie <= kFunctions; ++cookie)
      rig.post(protocol::HostCallbackRequest{stream, cookie});
  });
  for (std::uint64_t cookie = 1; cookie <= kFunctions; ++cookie) {
    ASSERT_EQ(rig.callback_due(), cookie);
    if (cookie == 1) std::this_thread::sleep_for(100ms);  // the executor gets as far as it can
    rig.callback_done(cookie);
  }
  client.join();
  EXPECT_EQ(rig.synchronize(stream), hipSuccess);
  EXPECT_TRUE(rig.faults().empty());
  EXPECT_TRUE(rig.refused().empty());
}

// As on a GPU, whose runtime holds up the thread that launches on a full stream.
TEST(InTurn, PayloadInFrontOfAHostFunctionLeavesWhileTheExecutorIsHeldUp) {
  static std::atomic<bool> full{true};
  static std::atomic<bool> held{false};
  static decltype(protocol::HipTable::hipMemsetAsync) set;
  full = true;
  held = false;
  SessionRig rig;
  const std::uint64_t stream = rig.add_stream();
  set = rig.hip().hipMemsetAsync;
  rig.hip().hipMemsetAsync = [](void* target, int value, size_t bytes, hipStream_t on) {
    for (held = true; full; std::this_thread::sleep_for(1ms)) {
    }
    return set(target, value, bytes, on);
  };
  rig.start();
  const std::uint64_t memory = rig.lease(kBytes);
  rig.post(protocol::HostCallbackRequest{stream, 1});  // keeps the copy from being ready at once
  std::vector<std::byte> found(kBytes);
  BulkCompletion received;
  ASSERT_TRUE(rig.bulk().receive(7, found, received).is_ok());
  rig.post(protocol::CopyFromDeviceRequest{memory, kBytes, stream, 7});
  rig.post(protocol::HostCallbackRequest{stream, 2});
  protocol::FillRequest fill{};
  fill.target = memory;
  fill.width = kBytes;
  fill.stream = stream;
  rig.post(fill);
  while (!held) std::this_thread::sleep_for(1ms);
  ASSERT_EQ(rig.callback_due(), 1u);
  rig.callback_done(1);
  EXPECT_TRUE(rig.await(received).is_ok());
  full = false;
  ASSERT_EQ(rig.callback_due(), 2u);
  rig.callback_done(2);
  EXPECT_EQ(rig.synchronize(stream), hipSuccess);
}

}  // namespace
}  // namespace tf::worker
