// SPDX-License-Identifier: Apache-2.0
#include "transport/frame.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>

namespace tf {
namespace {

std::array<std::byte, kFrameHeaderBytes> encode(const FrameHeader& header) {
  std::array<std::byte, kFrameHeaderBytes> bytes;
  write_header(header, bytes.data());
  return bytes;
}

TEST(Frame, HasTheDocumentedLayout) {
  const auto bytes =
      encode({.opcode = 0x0510, .request_id = 7, .flags = 8 | 3u << kDeviceShift, .payload_length = 9});
  const std::array<unsigned, kFrameHeaderBytes> expected = {'R', 'P', 'I', 'H', 1, 0, 0x10, 5, 7, 0, 0, 0,
                                                            8,   0,   3,   0,   9, 0, 0,    0, 0, 0, 0, 0};
  for (std::size_t index = 0; index < expected.size(); ++index)
    EXPECT_EQ(std::to_integer<unsigned>(bytes[index]), expected[index]) << "offset " << index;
}

TEST(Frame, RoundTrips) {
  const Result<FrameHeader> header = read_header(
      encode({.opcode = 3, .flags = kFlagResponse | 2u << kDeviceShift, .payload_length = 100}), 100);
  ASSERT_TRUE(header.is_ok());
  EXPECT_EQ(header.value().opcode, 3);
  EXPECT_EQ(header.value().device(), 2u);
  EXPECT_TRUE(header.value().has(kFlagResponse));
  EXPECT_FALSE(header.value().has(kFlagError));
}

TEST(Frame, RefusesEveryWrongField) {
  const auto expect_refused = [](FrameHeader header, const char* field) {
    const Status status = read_header(encode(header), 100).status();
    EXPECT_EQ(status.code(), Code::kProtocol);
    EXPECT_NE(status.message().find(field), std::string::npos) << status.message();
  };
  expect_refused({.magic = kFrameMagic + 1}, "magic");
  expect_refused({.version = 2}, "version");
  expect_refused({.flags = 0x20}, "flags");
  expect_refused({.flags = 0x8000}, "flags");
  expect_refused({.payload_length = 101}, "payload_length");
  expect_refused({.payload_length = UINT64_MAX}, "payload_length");
  const auto bytes = encode({});
  for (std::size_t length = 0; length < kFrameHeaderBytes; ++length)
    EXPECT_EQ(read_header(std::span(bytes).first(length), 100).code(), Code::kProtocol);
}

TEST(Status, SaysWhatAndWhy) {
  EXPECT_TRUE(Status().is_ok());
  EXPECT_EQ(Status::from_errno("connect", ECONNREFUSED).code(), Code::kUnavailable);
  EXPECT_EQ(Status::from_errno("send", EPIPE).code(), Code::kPeerLost);
  EXPECT_EQ(Status::from_errno("recv", EAGAIN).code(), Code::kWouldBlock);
  const std::string text = Status(Code::kPeerLost, "the worker left").to_string();
  EXPECT_EQ(text, "peer lost: the worker left");
}

}  // namespace
}  // namespace tf
