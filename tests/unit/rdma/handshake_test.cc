// SPDX-License-Identifier: Apache-2.0
#include "rdma/handshake.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cstring>
#include <functional>
#include <string>

#include "transport/net/fd.h"
#include "transport/net/socket.h"

namespace tf::rdma {
namespace {

class HandshakeTest : public testing::Test {
 protected:
  void SetUp() override {
    std::array<int, 2> ends{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
    near_ = net::OwnedFd(ends[0]);
    far_ = net::OwnedFd(ends[1]);
  }
  static Hello good() {
    Hello hello;
    hello.mtu = IBV_MTU_1024;
    hello.global = 1;
    hello.reads_asked = hello.reads_answered = 4;
    return hello;
  }
  static Deadline soon() { return Deadline::after(std::chrono::milliseconds(200)); }

  net::OwnedFd near_, far_;
};

TEST_F(HandshakeTest, WhatIsSentArrives) {
  Hello hello = good();
  hello.lid = 17;
  hello.messages.ring_bytes = 4096;
  hello.bulk.writable_key = 99;
  ASSERT_TRUE(send_hello(near_.get(), hello, soon()).is_ok());
  const Result<Hello> got = receive_hello(far_.get(), soon());
  ASSERT_TRUE(got.is_ok()) << got.status().to_string();
  EXPECT_EQ(std::memcmp(&got.value(), &hello, sizeof hello), 0);
  ASSERT_TRUE(send_ready(near_.get(), soon()).is_ok());
  EXPECT_TRUE(receive_ready(far_.get(), soon()).is_ok());
}

TEST_F(HandshakeTest, WhatCannotBeIsRefusedByName) {
  const std::pair<const char*, std::function<void(Hello&)>> cases[] = {
      {"not a Hello", [](Hello& hello) { hello.magic ^= 1; }},
      {"version", [](Hello& hello) { hello.version = 7; }},
      {"unknown refusal", [](Hello& hello) { hello.code = 4711; }},
      {"MTU", [](Hello& hello) { hello.mtu = 0; }},
      {"MTU", [](Hello& hello) { hello.mtu = 6; }},
      {"reserved", [](Hello& hello) { hello.global = 2; }},
      {"reserved", [](Hello& hello) { hello.reserved[1] = 1; }},
      {"READs", [](Hello& hello) { hello.reads_answered = 0; }},
  };
  for (const auto& [word, spoil] : cases) {
    Hello hello = good();
    spoil(hello);
    ASSERT_TRUE(send_hello(near_.get(), hello, soon()).is_ok());
    const Result<Hello> got = receive_hello(far_.get(), soon());
    EXPECT_EQ(got.code(), Code::kProtocol) << word;
    EXPECT_NE(got.status().message().find(word), std::string::npos) << got.status().to_string();
  }
  const Ready none{.magic = 1};
  ASSERT_TRUE(net::write_all(near_.get(), std::as_bytes(std::span(&none, 1)), soon()).is_ok());
  EXPECT_EQ(receive_ready(far_.get(), soon()).code(), Code::kProtocol);
}

TEST_F(HandshakeTest, ARefusalCarriesItsReason) {
  refuse(near_.get(), {Code::kUnavailable, "there is no device"});
  const Result<Hello> got = receive_hello(far_.get(), soon());
  EXPECT_EQ(got.code(), Code::kUnavailable);
  EXPECT_NE(got.status().message().find("there is no device"), std::string::npos);
  // However long, and without an end.
  refuse(near_.get(), {Code::kUnavailable, std::string(500, 'x')});
  EXPECT_LT(receive_hello(far_.get(), soon()).status().message().size(), 200u);
  Hello endless = good();
  endless.code = static_cast<std::uint32_t>(Code::kUnavailable);
  std::memset(endless.reason, 'y', sizeof endless.reason);
  ASSERT_TRUE(send_hello(near_.get(), endless, soon()).is_ok());
  EXPECT_LT(receive_hello(far_.get(), soon()).status().message().size(), 200u);
}

// It may be anything, and people read it in a terminal.
TEST_F(HandshakeTest, AStrangeReasonIsMadePrintable) {
  Hello hello = good();
  hello.code = static_cast<std::uint32_t>(Code::kUnavailable);
  std::memcpy(hello.reason, "no\x1b[2J\ndevice", 13);
  ASSERT_TRUE(send_hello(near_.get(), hello, soon()).is_ok());
  const Result<Hello> got = receive_hello(far_.get(), soon());
  EXPECT_EQ(got.code(), Code::kUnavailable);
  EXPECT_NE(got.status().message().find("no?[2J?device"), std::string::npos) << got.status().to_string();
}

TEST_F(HandshakeTest, NobodyWaitsForEver) {
  EXPECT_EQ(receive_hello(far_.get(), soon()).code(), Code::kTimeout);
  const std::array<std::byte, 100> part{};
  ASSERT_TRUE(net::write_all(near_.get(), part, soon()).is_ok());
  EXPECT_EQ(receive_hello(far_.get(), soon()).code(), Code::kTimeout);
  near_ = {};
  EXPECT_EQ(receive_ready(far_.get(), soon()).code(), Code::kPeerLost);
}

}  // namespace
}  // namespace tf::rdma
