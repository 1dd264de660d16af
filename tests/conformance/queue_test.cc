// SPDX-License-Identifier: Apache-2.0
// RequestQueue over every transport, with one application thread and with four.
#include <thread>

#include "tests/conformance/fixture.h"
#include "tests/support/faulty.h"
#include "transport/request_queue.h"

namespace tf::conformance {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class Queue : public Conformance {};
INSTANTIATE_TEST_SUITE_P(All, Queue, testing::ValuesIn(all_cases()), case_name);
class QueueHere : public Conformance {};
INSTANTIATE_TEST_SUITE_P(All, QueueHere, testing::ValuesIn(in_process_cases()), case_name);

constexpr std::uint16_t kEcho = 0x0101;     // call: answered with its payload
constexpr std::uint16_t kCount = 0x0102;    // post: counted
constexpr std::uint16_t kTotal = 0x0103;    // call: answered with the count
constexpr std::uint16_t kSilence = 0x0104;  // call: answered only before the next echo
constexpr std::uint16_t kReceive = 0x0105;  // post {tag, bytes}: receives that and sends it back

struct BulkRequest {
  std::uint64_t tag;
  std::uint64_t bytes;
};

template <typename T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

// A worker in small: answers from inside the notices sink, as a session's executor does.
class Server final : private MessageSink {
 public:
  explicit Server(std::unique_ptr<Endpoint> endpoint)
      : endpoint_(std::move(endpoint)), queue_(*endpoint_, *this) {}

  void serve() {
    while (queue_.drive(Deadline::never()).is_ok()) move_transfers();
    EXPECT_CODE(endpoint_->status(), Code::kPeerLost);
  }

 private:
  struct Transfer {
    BulkRequest request{};
    std::vector<std::byte> memory;
    BulkCompletion received;
    BulkCompletion sent;
    bool sending = false;
  };

  Status on_message(const FrameHeader& header, std::span<const std::byte> payload) override {
    switch (header.opcode) {
      case kEcho:
        if (silenced_.request_id != 0)
          TF_RETURN_IF_ERROR(queue_.respond(std::exchange(silenced_, {}), 0, {}));
        return queue_.respond(header, 0, payload);
      case kCount: ++count_; return Status::ok();
      case kTotal: return queue_.respond(header, 0, bytes_of(count_));
      case kSilence: silenced_ = header; return Status::ok();
      default: return start(payload);
    }
  }

  Status start(std::span<const std::byte> payload) {
    Transfer& transfer = *transfers_.emplace_back(std::make_unique<Transfer>());
    std::memcpy(&transfer.request, payload.data(), sizeof transfer.request);
    transfer.memory.resize(transfer.request.bytes);
    return queue_.endpoint().bulk().receive(transfer.request.tag, transfer.memory, transfer.received);
  }

  void move_transfers() {
    for (auto& transfer : transfers_) {
      if (!transfer->received.done() || !transfer->received.status().is_ok() || transfer->sending) continue;
      EXPECT_EQ(test::find_mismatch(transfer->memory, transfer->request.tag), test::kNoMismatch);
      transfer->sending = true;
      const Status status =
          queue_.endpoint().bulk().send(transfer->request.tag, transfer->memory, transfer->sent);
      if (!status.is_ok()) {
        EXPECT_CODE(status, Code::kPeerLost);  // the client may leave at any time
        return;
      }
    }
    std::erase_if(transfers_,
                  [](const auto& transfer) { return transfer->sending && transfer->sent.done(); });
  }

  std::uint64_t count_ = 0;
  FrameHeader silenced_;
  std::vector<std::unique_ptr<Transfer>> transfers_;  // before the endpoint: their memory outlives it
  std::unique_ptr<Endpoint> endpoint_;
  RequestQueue queue_;
};

void serve(std::unique_ptr<Endpoint> endpoint) { Server(std::move(endpoint)).serve(); }

class NoNotices final : public MessageSink {
 public:
  Status on_message(const FrameHeader& header, std::span<const std::byte>) override {
    ADD_FAILURE() << "unexpected notice " << header.opcode;
    return Status::ok();
  }
};

void on_threads(int threads, const std::function<void(int)>& body) {
  std::vector<std::thread> running;
  for (int index = 1; index < threads; ++index) running.emplace_back(body, index);
  body(0);
  for (std::thread& thread : running) thread.join();
}

void echo_calls(RequestQueue& queue, int thread, int calls) {
  for (int call = 0; call < calls; ++call) {
    const auto seed = static_cast<std::uint64_t>(thread * 100'000 + call);
    const std::vector<std::byte> payload = test::pattern(static_cast<std::size_t>(call * 37 % 2000), seed);
    std::vector<std::byte> reply(2000);
    const std::size_t cut = payload.size() / 3;
    Result<Reply> got = queue.call(kEcho, 0, std::span(payload).first(cut), std::span(payload).subspan(cut),
                                   reply, Deadline::after(seconds(20)));
    ASSERT_OK(got.status());
    ASSERT_EQ(got->bytes, payload.size());
    ASSERT_EQ(test::find_mismatch(std::span(reply).first(got->bytes), seed), test::kNoMismatch);
  }
}

TEST_P(Queue, CallsGetTheirOwnReplies) {
  const auto client = [](std::unique_ptr<Endpoint> endpoint) {
    NoNotices notices;
    RequestQueue queue(*endpoint, notices);
    for (const int threads : {1, 4}) on_threads(threads, [&](int thread) { echo_calls(queue, thread, 300); });
    EXPECT_EQ(queue.dropped_replies(), 0u);
  };
  run(client, serve);
}

TEST_P(Queue, PostsArriveUnderBackPressure) {
  constexpr int kPosts = 5000;
  const auto client = [](std::unique_ptr<Endpoint> endpoint) {
    NoNotices notices;
    RequestQueue queue(*endpoint, notices);
    const std::vector<std::byte> payload(700);
    std::uint64_t expected = 0;
    for (const int threads : {1, 4}) {
      on_threads(threads, [&](int) {
        for (int post = 0; post < kPosts; ++post) ASSERT_OK(queue.post(kCount, kFlagNoReply, payload));
      });
      expected += static_cast<std::uint64_t>(threads) * kPosts;
      std::uint64_t total = 0;
      const std::span<std::byte> reply = std::as_writable_bytes(std::span(&total, 1));
      ASSERT_OK(queue.call(kTotal, 0, {}, {}, reply, Deadline::after(seconds(20))).status());
      EXPECT_EQ(total, expected);
    }
  };
  run(client, serve);
}

TEST_P(Queue, TransfersAndCallsShareTheEndpoint) {
  const auto client = [](std::unique_ptr<Endpoint> endpoint) {
    NoNotices notices;
    RequestQueue queue(*endpoint, notices);
    std::atomic<std::uint64_t> next_tag{1};
    const auto copy_there_and_back = [&](std::size_t bytes) {
      const BulkRequest request{.tag = next_tag.fetch_add(1, std::memory_order_relaxed), .bytes = bytes};
      const std::vector<std::byte> source = test::pattern(bytes, request.tag);
      std::vector<std::byte> target(bytes);
      BulkCompletion sent;
      BulkCompletion received;
      ASSERT_OK(endpoint->bulk().receive(request.tag, target, received));
      ASSERT_OK(endpoint->bulk().send(request.tag, source, sent));
      ASSERT_OK(queue.post(kReceive, kFlagNoReply, bytes_of(request)));
      ASSERT_OK(queue.await(sent, Deadline::after(seconds(20))));
      ASSERT_OK(queue.await(received, Deadline::after(seconds(20))));
      ASSERT_EQ(test::find_mismatch(target, request.tag), test::kNoMismatch);
    };
    for (const int threads : {1, 4}) {
      on_threads(threads, [&](int thread) {
        for (std::size_t round = 0; round < 10; ++round) {
          if (thread % 2 == 0) copy_there_and_back(round * 77'777 + 1);
          echo_calls(queue, thread, 20);
        }
      });
    }
  };
  run(client, serve);
}

TEST_P(Queue, LateRepliesAreDropped) {
  const auto client = [](std::unique_ptr<Endpoint> endpoint) {
    NoNotices notices;
    RequestQueue queue(*endpoint, notices);
    EXPECT_CODE(queue.call(kSilence, 0, {}, {}, {}, Deadline::after(milliseconds(30))).status(),
                Code::kTimeout);
    echo_calls(queue, 0, 1);
    EXPECT_EQ(queue.dropped_replies(), 1u);
    std::byte small[8];
    const std::vector<std::byte> payload(9);
    EXPECT_CODE(queue.call(kEcho, 0, payload, {}, small, Deadline::after(seconds(5))).status(),
                Code::kProtocol);
    const std::vector<std::byte> huge(endpoint->capabilities().max_message_bytes);
    EXPECT_CODE(queue.post(kCount, 0, huge), Code::kInvalidArgument);
    echo_calls(queue, 0, 1);
  };
  run(client, serve);
}

TEST_P(QueueHere, LossEndsEveryWait) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  NoNotices notices;
  RequestQueue queue(*pair.client, notices);
  std::atomic<int> waiting{0};
  std::thread closer([&] {
    while (waiting.load(std::memory_order_acquire) < 4) std::this_thread::yield();
    std::this_thread::sleep_for(milliseconds(10));
    pair.server.reset();
  });
  on_threads(4, [&](int thread) {
    waiting.fetch_add(1, std::memory_order_release);  // pairs with the closer's load
    if (thread == 3) {
      std::vector<std::byte> target(1000);
      BulkCompletion received;
      ASSERT_OK(pair.client->bulk().receive(1, target, received));
      EXPECT_CODE(queue.await(received, Deadline::after(seconds(10))), Code::kPeerLost);
      EXPECT_TRUE(received.done());
      return;
    }
    EXPECT_CODE(queue.call(kSilence, 0, {}, {}, {}, Deadline::after(seconds(10))).status(), Code::kPeerLost);
  });
  closer.join();
  EXPECT_CODE(queue.post(kCount, 0, {}), Code::kPeerLost);
}

TEST_P(QueueHere, CutInMidCallIsSticky) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  std::thread serving([server = std::move(pair.server)]() mutable { serve(std::move(server)); });
  {
    const auto faulty =
        test::make_faulty(std::move(pair.client), {.cut_after_message_bytes = 20'000, .at_cut = {}});
    NoNotices notices;
    RequestQueue queue(*faulty, notices);
    on_threads(4, [&](int) {
      const std::vector<std::byte> payload(100);
      std::vector<std::byte> reply(100);
      Status status;
      int calls = 0;
      for (; status.is_ok() && calls < 1000; ++calls)
        status = queue.call(kEcho, 0, payload, {}, reply, Deadline::after(seconds(10))).status();
      EXPECT_CODE(status, Code::kPeerLost);
      EXPECT_EQ(status.message(), "cut by the test");
      EXPECT_LT(calls, 200);
    });
  }
  serving.join();
}

TEST_P(QueueHere, CutInMidTransferIsSticky) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  std::thread serving([server = std::move(pair.server)]() mutable { serve(std::move(server)); });
  {
    const std::vector<std::byte> source = test::pattern(64 << 20, 1);
    std::vector<std::byte> target(64 << 20);
    const auto faulty =
        test::make_faulty(std::move(pair.client), {.cut_after_bulk_bytes = 10 << 20, .at_cut = {}});
    NoNotices notices;
    RequestQueue queue(*faulty, notices);
    BulkCompletion sent;
    BulkCompletion received;
    ASSERT_OK(faulty->bulk().receive(1, target, received));
    ASSERT_OK(faulty->bulk().send(1, source, sent));
    const BulkRequest request{.tag = 1, .bytes = source.size()};
    ASSERT_OK(queue.post(kReceive, kFlagNoReply, bytes_of(request)));
    EXPECT_CODE(queue.await(received, Deadline::after(seconds(10))), Code::kPeerLost);
    // A fast transport may have sent everything in one step, before it was cut.
    const Status sending = queue.await(sent, Deadline::after(seconds(10)));
    EXPECT_TRUE(sending.is_ok() || sending.code() == Code::kPeerLost) << sending.to_string();
    EXPECT_TRUE(sent.done());
  }
  serving.join();
}

TEST_P(QueueHere, SlowEndpointsLoseNothing) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  std::thread serving([server = std::move(pair.server)]() mutable {
    serve(test::make_faulty(std::move(server), {.at_cut = {}, .delay_max = std::chrono::microseconds(300)}));
  });
  {
    const auto slow = test::make_faulty(std::move(pair.client),
                                        {.at_cut = {}, .delay_max = std::chrono::microseconds(300)});
    NoNotices notices;
    RequestQueue queue(*slow, notices);
    on_threads(4, [&](int thread) { echo_calls(queue, thread, 50); });
  }
  serving.join();
}

}  // namespace
}  // namespace tf::conformance
