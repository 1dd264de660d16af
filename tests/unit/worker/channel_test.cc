// SPDX-License-Identifier: Apache-2.0
// The channel between the supervisor and a session process: what is no envelope is refused, packet by packet.
#include "worker/base/channel.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <vector>

namespace tf::worker {
namespace {

class Channel : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<ChannelPair> made = make_channel();
    ASSERT_TRUE(made.is_ok()) << made.status().to_string();
    ends_ = std::move(*made);
    ASSERT_TRUE(say(1).is_ok());
    packet_.resize(8192);
    const ssize_t bytes = ::recv(ends_.supervisor.get(), packet_.data(), packet_.size(), 0);
    ASSERT_GT(bytes, 0);
    packet_.resize(static_cast<std::size_t>(bytes));
  }
  Status say(std::uint64_t number) {
    ChannelMessage message;
    message.kind = Envelope::kWant;
    message.number = number;
    return send_message(ends_.session.get(), message, Deadline::now());
  }
  void send_bytes(std::size_t bytes) {
    std::vector<char> sent = packet_;
    sent.resize(bytes);
    ASSERT_EQ(::send(ends_.session.get(), sent.data(), sent.size(), 0), static_cast<ssize_t>(bytes));
  }
  Result<ChannelMessage> hear() { return receive_message(ends_.supervisor.get(), Deadline::now()); }

  ChannelPair ends_;
  std::vector<char> packet_;  // an envelope
};

TEST_F(Channel, CarriesEnvelopes) {
  ASSERT_TRUE(say(7).is_ok());
  Result<ChannelMessage> heard = hear();
  ASSERT_TRUE(heard.is_ok()) << heard.status().to_string();
  EXPECT_EQ(heard->number, 7u);
  EXPECT_EQ(hear().code(), Code::kTimeout);
}

TEST_F(Channel, CarriesRowsOfSessions) {
  ChannelMessage sent;
  sent.kind = Envelope::kAnswer;
  sent.number = 3;
  sent.whom = "program";
  sent.row = {true, 5, 77, 1234, 4321, 90, {}, "unix pid 1234"};
  sent.row.memory_bytes.front() = 1;
  sent.row.memory_bytes.back() = 2;
  ASSERT_TRUE(send_message(ends_.session.get(), sent, Deadline::now()).is_ok());
  Result<ChannelMessage> heard = hear();
  ASSERT_TRUE(heard.is_ok()) << heard.status().to_string();
  EXPECT_TRUE(heard->row.known);
  EXPECT_EQ(heard->row.index, 5u);
  EXPECT_EQ(heard->row.session, 77u);
  EXPECT_EQ(heard->row.client_pid, 1234u);
  EXPECT_EQ(heard->row.worker_pid, 4321u);
  EXPECT_EQ(heard->row.age_ms, 90u);
  EXPECT_EQ(heard->row.memory_bytes, sent.row.memory_bytes);
  EXPECT_EQ(heard->row.peer, "unix pid 1234");
  EXPECT_EQ(heard->whom, "program");
}

// One packet for each look: a process that sends them in pieces costs the supervisor no more than others do.
TEST_F(Channel, RefusesPacketsOfAnotherSize) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, packet_.size() / 2, packet_.size() - 1,
                                  packet_.size() + 1, 2 * packet_.size()}) {
    send_bytes(bytes);
    ASSERT_TRUE(say(9).is_ok());
    EXPECT_EQ(hear().code(), Code::kProtocol) << bytes;
    Result<ChannelMessage> next = hear();
    ASSERT_TRUE(next.is_ok()) << bytes << ": " << next.status().to_string();
    EXPECT_EQ(next->number, 9u) << bytes;
  }
}

TEST_F(Channel, EndsWithTheOtherEnd) {
  ASSERT_TRUE(say(7).is_ok());
  ends_.session.reset();
  EXPECT_TRUE(hear().is_ok());
  EXPECT_EQ(hear().code(), Code::kPeerLost);
}

}  // namespace
}  // namespace tf::worker
