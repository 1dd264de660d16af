// SPDX-License-Identifier: Apache-2.0
// The message plane: framing, order, back-pressure.
#include "tests/conformance/fixture.h"

namespace tf::conformance {
namespace {

using test::Message;
using test::Peer;

class Messages : public Conformance {};
INSTANTIATE_TEST_SUITE_P(All, Messages, testing::ValuesIn(all_cases()), case_name);
class MessagesHere : public Conformance {};
INSTANTIATE_TEST_SUITE_P(All, MessagesHere, testing::ValuesIn(in_process_cases()), case_name);

// Sends back what it receives until the other side closes.
void echo(std::unique_ptr<Endpoint> endpoint) {
  Peer peer(std::move(endpoint));
  for (;;) {
    Result<Message> message = peer.receive();
    if (message.code() == Code::kPeerLost) return;
    ASSERT_OK(message.status());
    ASSERT_OK(peer.send(message->header.opcode, message->header.request_id, message->payload,
                        message->header.flags));
  }
}

TEST_P(Messages, EverySizeArrivesExactly) {
  const auto client = [](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    const std::size_t largest = peer.endpoint().capabilities().max_message_bytes - kFrameHeaderBytes;
    std::vector<std::size_t> sizes;
    for (std::size_t size = 0; size < 200; ++size) sizes.push_back(size);
    for (std::size_t size = 256; size < largest; size = size * 3 / 2)
      sizes.insert(sizes.end(), {size - 1, size, size + 1});
    for (std::size_t less = 0; less < 10; ++less) sizes.push_back(largest - less);
    std::uint32_t id = 0;
    for (const std::size_t size : sizes) {
      ++id;
      const std::uint32_t flags = kFlagInlineData | (id % kDeviceMax) << kDeviceShift;
      const auto opcode = static_cast<std::uint16_t>(0x0200 + id % 16);
      ASSERT_OK(peer.send(opcode, id, test::pattern(size, id), flags));
      Result<Message> message = peer.receive();
      ASSERT_OK(message.status());
      ASSERT_EQ(message->header.opcode, opcode);
      ASSERT_EQ(message->header.request_id, id);
      ASSERT_EQ(message->header.flags, flags);
      ASSERT_EQ(message->payload.size(), size);
      ASSERT_EQ(test::find_mismatch(message->payload, id), test::kNoMismatch) << "size " << size;
    }
  };
  run(client, echo);
}

TEST_P(MessagesHere, RefusesWrongSizes) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  const std::size_t largest = pair.client->capabilities().max_message_bytes;
  for (const std::size_t bytes :
       {std::size_t{0}, kFrameHeaderBytes - 1, largest + 1, std::size_t{1} << 30, SIZE_MAX})
    EXPECT_CODE(pair.client->reserve(bytes).status(), Code::kInvalidArgument);
  EXPECT_OK(pair.client->status());
  EXPECT_OK(test::try_publish(*pair.client, 1, 1, test::pattern(largest - kFrameHeaderBytes, 0)));
}

TEST_P(MessagesHere, AbandonedSlotsLeaveNoTrace) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  Peer server(std::move(pair.server));
  for (std::uint32_t id = 1; id <= 2000; ++id) {
    Result<Slot> slot = pair.client->reserve(1000 + id);
    ASSERT_OK(slot.status());
    std::memset(slot->bytes.data(), 0xff, slot->bytes.size());
    pair.client->abandon(*slot);
    ASSERT_OK(test::try_publish(*pair.client, 1, id, {}));
    Result<Message> message = server.receive();
    ASSERT_OK(message.status());
    ASSERT_EQ(message->header.request_id, id);
  }
}

TEST_P(Messages, KeepTheirOrder) {
  constexpr std::uint32_t kMessages = 100'000;
  const auto size_of = [](std::uint32_t id) { return std::size_t{id} * 7 % 120; };
  const auto client = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    const std::vector<std::byte> payload = test::pattern(128, 3);
    for (std::uint32_t id = 1; id <= kMessages; ++id)
      ASSERT_OK(peer.send(0x0101, id, std::span(payload).first(size_of(id))));
    EXPECT_OK(peer.receive().status());
  };
  const auto server = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    for (std::uint32_t id = 1; id <= kMessages; ++id) {
      Result<Message> message = peer.receive();
      ASSERT_OK(message.status());
      ASSERT_EQ(message->header.request_id, id);
      ASSERT_EQ(message->payload.size(), size_of(id));
      ASSERT_EQ(test::find_mismatch(message->payload, 3), test::kNoMismatch);
    }
    EXPECT_OK(peer.send(0x0102, 1));
    (void)peer.until_failure(std::chrono::seconds(10));
  };
  run(client, server);
}

TEST_P(Messages, FlowBothWaysAtOnce) {
  constexpr std::uint32_t kMessages = 10'000;
  const auto half = [](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    const std::vector<std::byte> payload = test::pattern(300, 4);
    std::uint32_t received = 0;
    for (std::uint32_t id = 1; id <= kMessages; ++id) {
      ASSERT_OK(peer.send(0x0101, id, payload));
      while (peer.inbox() > 0) {
        auto got = peer.receive();
        ASSERT_OK(got.status());
        ASSERT_EQ(got->header.request_id, ++received);
      }
    }
    while (received < kMessages) {
      Result<Message> message = peer.receive();
      ASSERT_OK(message.status());
      ASSERT_EQ(message->header.request_id, ++received);
    }
    // Leave together: closing with the peer's last messages unread would be a loss for it.
    ASSERT_OK(peer.send(0x0102, 0));
    ASSERT_OK(peer.receive().status());
  };
  run(half, half);
}

// Publishes until there is no room and, because a kernel's buffers move by themselves for a while, no more
// comes.
std::uint32_t fill(Endpoint& endpoint, std::span<const std::byte> payload) {
  constexpr std::uint32_t kFarTooMany = 50'000;  // 100 MB: no transport may buffer that
  std::uint32_t accepted = 0;
  Status waited;
  while (waited.is_ok() && accepted < kFarTooMany) {
    const Status status = test::try_publish(endpoint, 0x0101, accepted + 1, payload);
    if (status.is_ok()) {
      ++accepted;
      continue;
    }
    EXPECT_CODE(status, Code::kWouldBlock);
    waited = endpoint.wait(Interest::kMessages, Deadline::after(std::chrono::milliseconds(20)));
  }
  EXPECT_CODE(waited, Code::kTimeout);
  return accepted;
}

TEST_P(Messages, FullMeansWouldBlockAndNothingIsLost) {
  const Gate full;
  const auto client = [&](std::unique_ptr<Endpoint> endpoint) {
    const std::vector<std::byte> payload = test::pattern(2000, 5);
    const std::uint32_t accepted = fill(*endpoint, payload);
    EXPECT_OK(endpoint->status());
    full.open();
    Peer peer(std::move(endpoint));
    for (std::uint32_t id = accepted + 1; id <= accepted + 1000; ++id)
      ASSERT_OK(peer.send(0x0101, id, payload));
    ASSERT_OK(peer.send(0x0102, accepted + 1000));
    ASSERT_OK(peer.receive().status());
  };
  const auto server = [&](std::unique_ptr<Endpoint> endpoint) {
    Peer peer(std::move(endpoint));
    ASSERT_TRUE(full.wait());
    std::uint32_t count = 0;
    for (;;) {
      Result<Message> message = peer.receive();
      ASSERT_OK(message.status());
      if (message->header.opcode == 0x0102) {
        EXPECT_EQ(message->header.request_id, count);
        break;
      }
      ASSERT_EQ(message->header.request_id, ++count);
      ASSERT_EQ(test::find_mismatch(message->payload, 5), test::kNoMismatch);
    }
    EXPECT_GT(count, 1000u);
    ASSERT_OK(peer.send(0x0103, 1));
    (void)peer.until_failure(std::chrono::seconds(10));
  };
  run(client, server);
}

class Refuser final : public MessageSink {
 public:
  Status on_message(const FrameHeader&, std::span<const std::byte>) override {
    return {Code::kProtocol, "refused by the sink"};
  }
};

TEST_P(MessagesHere, FailureOfTheSinkSticks) {
  test::EndpointPair pair = make_pair();
  ASSERT_TRUE(pair.client && pair.server);
  ASSERT_OK(test::try_publish(*pair.client, 1, 1, {}));
  Refuser refuser;
  const Deadline deadline = Deadline::after(std::chrono::seconds(5));
  Status status;
  while (status.is_ok() && !deadline.passed()) {
    status = pair.server->poll(refuser, 10).status();
    if (status.is_ok()) status = pair.server->wait(Interest::kMessages, deadline);
  }
  EXPECT_CODE(status, Code::kProtocol);
  EXPECT_EQ(pair.server->status().message(), "refused by the sink");
}

}  // namespace
}  // namespace tf::conformance
