// SPDX-License-Identifier: Apache-2.0
// Orders on the control connection: done while the executor waits, behind the requests that were posted
// before, and never for memory that is not mirrored.
#include "worker/memory/mirror_orders.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "session_rig.h"

namespace tf::worker {
namespace {

using namespace std::chrono_literals;
using mirror::Order;
using mirror::OrderReply;
using Pieces = std::vector<mirror::Piece>;

constexpr std::uint64_t kOrderUnit = protocol::kHostPartBytes;

// What the runtime's hipMemGetInfo waits for.
std::atomic<bool> release{false};

class MirrorOrdersOf : public ::testing::Test {
 protected:
  void SetUp() override {
    if (rig_.snapshot().host_window.bytes == 0) GTEST_SKIP() << "no room for a host window here";
    base_ = rig_.snapshot().host_window.base;
    release = true;
    rig_.hip().hipMemGetInfo = [](std::size_t* free, std::size_t* total) {
      while (!release) std::this_thread::sleep_for(1ms);
      *free = *total = 1 << 20;
      return hipSuccess;
    };
    rig_.start();
    ASSERT_EQ(rig_.call(protocol::OpenHostPartRequest{base_, kOrderUnit, 0}), hipSuccess);
  }
  void TearDown() override { release = true; }

  // The reply of the order, and what follows it.
  Status order(const Order& order, const Pieces& pieces, const std::string& text, BulkCompletion& answered) {
    answer_.assign(sizeof(OrderReply), std::byte{});
    EXPECT_TRUE(rig_.bulk().receive(order.tag, answer_, answered).is_ok());
    return post(order, pieces, text);
  }
  Status post(Order order, const Pieces& pieces, const std::string& text) {
    order.pieces = pieces.size();
    order.bytes = text.size();
    std::vector<std::byte> message = mirror::order_message(order, pieces);
    std::memcpy(message.data() + message.size() - text.size(), text.data(), text.size());
    return rig_.session().mirror_orders.order(std::move(message));
  }
  Status write(const Pieces& pieces, const std::string& text, std::uint64_t after = 0) {
    BulkCompletion answered;
    const Status taken = order({Order::What::kWrite, 0, ++tag_, after, 0, 0}, pieces, text, answered);
    return taken.is_ok() ? rig_.await(answered) : taken;
  }
  Status find(const Pieces& pieces, Pieces& found, std::string& text) {
    BulkCompletion answered;
    const std::uint64_t tag = ++tag_;
    TF_RETURN_IF_ERROR(order({Order::What::kFind, 0, tag, 0, 0, 0}, pieces, "", answered));
    TF_RETURN_IF_ERROR(rig_.await(answered));
    OrderReply reply;
    std::memcpy(&reply, answer_.data(), sizeof reply);
    found.resize(reply.pieces);
    text.resize(reply.bytes);
    if (reply.pieces == 0) return Status::ok();
    BulkCompletion places;
    BulkCompletion bytes;
    TF_RETURN_IF_ERROR(rig_.bulk().receive(tag, std::as_writable_bytes(std::span(found)), places));
    TF_RETURN_IF_ERROR(rig_.bulk().receive(tag, std::as_writable_bytes(std::span(text)), bytes));
    TF_RETURN_IF_ERROR(rig_.await(places));
    return rig_.await(bytes);
  }
  std::string at(std::uint64_t offset, std::size_t bytes) const {
    return {reinterpret_cast<const char*>(base_ + offset), bytes};
  }

  explicit MirrorOrdersOf(const SessionRig::Adjust& adjust = {})
      : rig_(TF_CPU_RUNTIME, make_loopback_pair(), adjust) {}

  SessionRig rig_;
  std::uint64_t base_ = 0;
  std::uint64_t tag_ = 100;
  std::vector<std::byte> answer_;
};

TEST_F(MirrorOrdersOf, AreCarriedOutWhileTheExecutorWaits) {
  ASSERT_EQ(rig_.fill(base_ + 3 * 4096, 10, 'd'), hipSuccess);
  release = false;
  std::thread asking([this] { EXPECT_EQ(rig_.call(protocol::FindFreeMemoryRequest{}), hipSuccess); });
  EXPECT_TRUE(write({{base_ + 100, 5}, {base_ + 9000, 3}}, "hellobye").is_ok());
  EXPECT_EQ(at(100, 5), "hello");
  EXPECT_EQ(at(9000, 3), "bye");
  Pieces found;
  std::string text;
  EXPECT_TRUE(find({{base_, kOrderUnit}}, found, text).is_ok());
  EXPECT_EQ(found, (Pieces{{base_ + 3 * 4096, 4096}})) << "not what the client has written itself";
  EXPECT_EQ(text.substr(0, 11), std::string(10, 'd') + '\0');
  EXPECT_TRUE(find({{base_, kOrderUnit}}, found, text).is_ok());
  EXPECT_TRUE(found.empty());
  release = true;
  asking.join();
}

// As on a GPU, whose writes nobody sees: all memory is compared, and may change while it travels.
class MirrorOrdersOfADevice : public MirrorOrdersOf {
 protected:
  MirrorOrdersOfADevice()
      : MirrorOrdersOf([](OptionalFunctions& optional, protocol::WorkerSnapshot&) {
          optional.runs_on_host = nullptr;
        }) {}
};

// The client may have written there in between, and would lose that.
TEST_F(MirrorOrdersOfADevice, FindWhatHasTravelledOnce) {
  constexpr std::uint64_t kParts = 4 * kOrderUnit;  // more than travels in one go
  ASSERT_EQ(rig_.call(protocol::OpenHostPartRequest{base_ + kOrderUnit, kParts, 0}), hipSuccess);
  ASSERT_EQ(rig_.fill(base_ + 3 * 4096, 10, 'd'), hipSuccess);
  ASSERT_EQ(rig_.fill(base_ + kOrderUnit, kParts, 'e'), hipSuccess);
  const Pieces all{{base_, kOrderUnit}, {base_ + kOrderUnit, kParts}};
  Pieces found;
  std::string text;
  EXPECT_TRUE(find(all, found, text).is_ok());
  EXPECT_EQ(found, (Pieces{{base_ + 3 * 4096, 4096}, {base_ + kOrderUnit, kParts}}));
  EXPECT_EQ(text, std::string(10, 'd') + std::string(4086, '\0') + std::string(kParts, 'e'));
  EXPECT_TRUE(find(all, found, text).is_ok());
  EXPECT_TRUE(found.empty());
  ASSERT_EQ(rig_.fill(base_ + kOrderUnit + 2 * 4096, 1, 'f'), hipSuccess);
  EXPECT_TRUE(find(all, found, text).is_ok());
  EXPECT_EQ(found, (Pieces{{base_ + kOrderUnit + 2 * 4096, 4096}}));
}

// What was posted before is older, and must not replace what is ordered.
TEST_F(MirrorOrdersOf, WaitForTheRequestsBefore) {
  BulkCompletion answered;
  ASSERT_TRUE(order({Order::What::kWrite, 0, ++tag_, 2, 0, 0}, {{base_, 3}}, "new", answered).is_ok());
  const auto write_old = [&] {
    const mirror::Piece place{base_, 3};
    const auto head = std::as_bytes(std::span(&place, 1));
    std::vector<std::byte> tail(head.begin(), head.end());
    for (const char letter : std::string("old")) tail.push_back(static_cast<std::byte>(letter));
    return rig_.call(protocol::WriteHostPiecesRequest{0, 1, 3}, tail);
  };
  ASSERT_EQ(write_old(), hipSuccess);
  std::this_thread::sleep_for(20ms);
  EXPECT_TRUE(rig_.queue().poll().is_ok());
  EXPECT_FALSE(answered.done());
  ASSERT_EQ(write_old(), hipSuccess);
  EXPECT_TRUE(rig_.await(answered).is_ok());
  EXPECT_EQ(at(0, 3), "new");
}

TEST_F(MirrorOrdersOf, ForMemoryThatIsNotMirroredEndTheSession) {
  EXPECT_TRUE(post({Order::What::kWrite, 0, ++tag_, 0, 0, 0}, {{base_ + kOrderUnit - 2, 4}}, "1234").is_ok());
  EXPECT_EQ(rig_.wait_end().code(), Code::kProtocol);
}

// Else one order could find the same pages thousands of times, and the list of them would have no limit.
TEST_F(MirrorOrdersOf, ForTheSameMemoryTwiceEndTheSession) {
  const Pieces twice{{base_ + 8192, 4096}, {base_, 8193}};
  EXPECT_TRUE(post({Order::What::kFind, 0, ++tag_, 0, 0, 0}, twice, "").is_ok());
  const Status end = rig_.wait_end();
  EXPECT_EQ(end.code(), Code::kProtocol);
  EXPECT_NE(end.message().find("twice"), std::string::npos) << end.to_string();
}

TEST_F(MirrorOrdersOf, ThatAreNoneEndTheSession) {
  EXPECT_TRUE(rig_.session().mirror_orders.order(std::vector<std::byte>(17)).is_ok());
  EXPECT_EQ(rig_.wait_end().code(), Code::kProtocol);
}

TEST_F(MirrorOrdersOf, MoreThanOneThatWaitsIsRefused) {
  std::vector<Status> taken;
  for (int i = 0; i < 3; ++i) {
    taken.push_back(post({Order::What::kWrite, 0, ++tag_, 9, 0, 0}, {{base_, 3}}, "abc"));
    std::this_thread::sleep_for(20ms);
  }
  EXPECT_TRUE(taken[0].is_ok() && taken[1].is_ok()) << "one is being carried out, one waits";
  EXPECT_EQ(taken[2].code(), Code::kProtocol);
}

// Its pages are not given back while somebody sends them.
TEST_F(MirrorOrdersOf, APartIsClosedWhenItsAnswerIsAway) {
  ASSERT_EQ(rig_.fill(base_, 1 << 20, 'x'), hipSuccess);
  BulkCompletion answered;
  const std::uint64_t tag = ++tag_;
  ASSERT_TRUE(order({Order::What::kFind, 0, tag, 0, 0, 0}, {{base_, kOrderUnit}}, "", answered).is_ok());
  ASSERT_TRUE(rig_.await(answered).is_ok());
  hipError_t closed = hipErrorUnknown;
  std::thread closing([&] { closed = rig_.call(protocol::CloseHostPartRequest{base_}); });
  std::vector<std::byte> rest(sizeof(mirror::Piece) + (1 << 20));
  BulkCompletion received;
  std::this_thread::sleep_for(20ms);
  ASSERT_TRUE(rig_.bulk().receive(tag, rest, received).is_ok());
  EXPECT_TRUE(rig_.await(received).is_ok());
  closing.join();
  EXPECT_EQ(closed, hipSuccess);
  EXPECT_EQ(rest.back(), std::byte{'x'});
}

}  // namespace
}  // namespace tf::worker
