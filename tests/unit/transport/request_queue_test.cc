// SPDX-License-Identifier: Apache-2.0
// What the conformance suite does not reach: the queue's rules towards its own sink, and hostile replies.
#include "transport/request_queue.h"

#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "tests/support/peer.h"
#include "transport/loopback.h"

namespace tf {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using test::Peer;

class Notices final : public MessageSink {
 public:
  std::function<Status(const FrameHeader&)> handler = [](const FrameHeader&) { return Status::ok(); };
  Status on_message(const FrameHeader& header, std::span<const std::byte>) override {
    return handler(header);
  }
};

class RequestQueueTest : public testing::Test {
 protected:
  RequestQueueTest() {
    auto [client, server] = make_loopback_pair({.queue_bytes = 4096, .bulk_pipe_bytes = 4096});
    endpoint_ = std::move(client);
    server_ = std::make_unique<Peer>(std::move(server));
    queue_ = std::make_unique<RequestQueue>(*endpoint_, notices_);
  }
  Notices notices_;
  std::unique_ptr<Endpoint> endpoint_;
  std::unique_ptr<Peer> server_;
  std::unique_ptr<RequestQueue> queue_;
};

TEST_F(RequestQueueTest, IdsCountUpFromOne) {
  for (std::uint32_t expected = 1; expected <= 3; ++expected) {
    ASSERT_TRUE(queue_->post(5, kFlagNoReply, {}).is_ok());
    EXPECT_EQ(server_->receive().value().header.request_id, expected);
  }
}

TEST_F(RequestQueueTest, SinkMayPostButNotWait) {
  Status waited;
  notices_.handler = [&](const FrameHeader& header) {
    waited = queue_->call(6, 0, {}, {}, {}, Deadline::after(seconds(1))).status();
    return queue_->respond(header, 0, {});
  };
  ASSERT_TRUE(server_->send(7, 42).is_ok());
  ASSERT_TRUE(queue_->drive(Deadline::after(seconds(1))).is_ok());
  EXPECT_EQ(waited.code(), Code::kInvalidArgument);
  EXPECT_EQ(server_->receive().value().header.opcode, 6);
  const test::Message answer = server_->receive().value();
  EXPECT_EQ(answer.header.opcode, 7);
  EXPECT_EQ(answer.header.request_id, 42u);
  EXPECT_TRUE(answer.header.has(kFlagResponse));
}

// The sink answers into a full ring while another thread, waiting for room, has the turn.
TEST_F(RequestQueueTest, SinkPostsPastThreadsThatWaitForRoom) {
  constexpr int kEach = 200;
  const std::vector<std::byte> payload(500);
  notices_.handler = [&](const FrameHeader& header) { return queue_->respond(header, 0, payload); };
  std::vector<std::thread> posting;
  for (int thread = 0; thread < 3; ++thread)
    posting.emplace_back([&] {
      for (int post = 0; post < kEach; ++post) EXPECT_TRUE(queue_->post(5, kFlagNoReply, payload).is_ok());
    });
  std::thread serving([&] {
    const Deadline deadline = Deadline::after(seconds(20));
    int answers = 0;
    int posts = 0;
    int asked = 0;
    while ((answers < kEach || posts < 3 * kEach) && !deadline.passed()) {
      if (asked < kEach && asked - answers < 4 && test::try_publish(server_->endpoint(), 9, 1, {}).is_ok())
        ++asked;
      if (!server_->drive(Deadline::after(milliseconds(1))).is_ok()) std::this_thread::yield();
      for (; server_->inbox() > 0;)
        server_->receive().value().header.has(kFlagResponse) ? ++answers : ++posts;
    }
    EXPECT_EQ(answers, kEach);
    EXPECT_EQ(posts, 3 * kEach);
    queue_->endpoint().fail({Code::kClosed, "the end"});
  });
  while (queue_->drive(Deadline::after(seconds(10))).is_ok()) {
  }
  for (std::thread& thread : posting) thread.join();
  serving.join();
}

TEST_F(RequestQueueTest, ReplyOfAnotherKindFailsTheEndpoint) {
  std::thread serving([&] {
    const test::Message request = server_->receive().value();
    EXPECT_TRUE(server_->send(99, request.header.request_id, {}, kFlagResponse).is_ok());
  });
  EXPECT_EQ(queue_->call(5, 0, {}, {}, {}, Deadline::after(seconds(10))).code(), Code::kProtocol);
  EXPECT_EQ(endpoint_->status().code(), Code::kProtocol);
  serving.join();
}

TEST_F(RequestQueueTest, AnswerThatNobodyAskedForFailsTheEndpoint) {
  std::thread serving([&] {
    const test::Message request = server_->receive().value();
    EXPECT_TRUE(server_->send(5, request.header.request_id ^ 1, {}, kFlagResponse).is_ok());
  });
  const Status status = queue_->call(5, 0, {}, {}, {}, Deadline::after(seconds(10))).status();
  EXPECT_EQ(status.code(), Code::kProtocol);
  EXPECT_NE(status.message().find("which nobody asked for"), std::string::npos) << status.message();
  EXPECT_EQ(endpoint_->status().code(), Code::kProtocol);
  serving.join();
}

TEST_F(RequestQueueTest, SecondAnswerFailsTheEndpoint) {
  std::thread serving([&] {
    const test::Message request = server_->receive().value();
    for (int time = 0; time < 2; ++time)
      EXPECT_TRUE(server_->send(5, request.header.request_id, {}, kFlagResponse).is_ok());
  });
  EXPECT_TRUE(queue_->call(5, 0, {}, {}, {}, Deadline::after(seconds(10))).is_ok());
  serving.join();
  EXPECT_EQ(queue_->poll().code(), Code::kProtocol);
}

// One for each call that was given up, and no more.
TEST_F(RequestQueueTest, LateAnswersAreDropped) {
  for (int call = 0; call < 2; ++call)
    EXPECT_EQ(queue_->call(5, 0, {}, {}, {}, Deadline::after(milliseconds(10))).code(), Code::kTimeout);
  for (int call = 0; call < 2; ++call) {
    const test::Message request = server_->receive().value();
    EXPECT_TRUE(server_->send(5, request.header.request_id, {}, kFlagResponse).is_ok());
  }
  EXPECT_TRUE(queue_->poll().is_ok());
  EXPECT_EQ(queue_->dropped_replies(), 2u);
  EXPECT_TRUE(server_->send(5, 1, {}, kFlagResponse).is_ok());
  EXPECT_EQ(queue_->poll().code(), Code::kProtocol);
  EXPECT_EQ(queue_->dropped_replies(), 2u);
}

TEST_F(RequestQueueTest, NoticesAndRepliesKeepTheirOrder) {
  std::vector<int> order;
  notices_.handler = [&](const FrameHeader&) {
    order.push_back(1);
    return Status::ok();
  };
  std::thread serving([&] {
    const test::Message request = server_->receive().value();
    EXPECT_TRUE(server_->send(8, 0).is_ok());
    EXPECT_TRUE(server_->send(5, request.header.request_id, {}, kFlagResponse).is_ok());
  });
  EXPECT_TRUE(queue_->call(5, 0, {}, {}, {}, Deadline::after(seconds(10))).is_ok());
  order.push_back(2);
  serving.join();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

// Followers time out by themselves while the driver sleeps on.
TEST_F(RequestQueueTest, EveryWaiterHasItsOwnDeadline) {
  std::vector<std::thread> waiting;
  for (int thread = 0; thread < 4; ++thread)
    waiting.emplace_back([&, limit = milliseconds(40 * (4 - thread))] {
      const auto start = Deadline::Clock::now();
      EXPECT_EQ(queue_->call(5, 0, {}, {}, {}, Deadline::after(limit)).code(), Code::kTimeout);
      EXPECT_GE(Deadline::Clock::now() - start, limit);
      EXPECT_LT(Deadline::Clock::now() - start, limit + seconds(5));
    });
  for (std::thread& thread : waiting) thread.join();
}

}  // namespace
}  // namespace tf
