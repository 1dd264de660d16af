// SPDX-License-Identifier: Apache-2.0
// Options, the io_uring probe's explanations, and the checks of a bulk chunk's header.
#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cerrno>
#include <string>

#include "tcp/bulk_lane.h"
#include "tcp/mirror_buffer.h"
#include "tcp/options.h"
#include "tcp/probe.h"
#include "tcp/seal.h"

namespace tf::tcp {
namespace {

TEST(TcpOptions, EnginesAndFeatures) {
  EXPECT_EQ(parse_engine("").value(), EngineKind::kAuto);
  EXPECT_EQ(parse_engine("uring").value(), EngineKind::kUring);
  EXPECT_EQ(parse_engine("poll").value(), EngineKind::kPoll);
  EXPECT_EQ(parse_engine("epoll").code(), Code::kInvalidArgument);
  EXPECT_TRUE(parse_features("multishot,files").value().multishot_receive);
  EXPECT_FALSE(parse_features("multishot,files").value().zero_copy_send);
  EXPECT_EQ(parse_features("multishot,sqpoll").code(), Code::kInvalidArgument);
}

TEST(TcpOptions, ThreadsThatHelpToEncrypt) {
  EXPECT_EQ(parse_crypto_helpers("").value(), std::nullopt);
  EXPECT_EQ(parse_crypto_helpers("0").value(), 0u);
  EXPECT_EQ(parse_crypto_helpers(std::to_string(kCryptoHelpersMax)).value(), kCryptoHelpersMax);
  for (const char* text : {"-1", "9", "1x", "x", " 1", "99999999999999999999"})
    EXPECT_EQ(parse_crypto_helpers(text).code(), Code::kInvalidArgument) << text;
  struct Row {
    unsigned lanes, processors, helpers;
  };
  for (const auto& [lanes, processors, helpers] :
       {Row{1, 2, 0}, Row{1, 3, 1}, Row{2, 7, 0}, Row{2, 8, 1}, Row{4, 15, 0}, Row{4, 16, 1}, Row{5, 64, 0}})
    EXPECT_EQ(default_crypto_helpers(lanes, processors), helpers) << lanes << " on " << processors;
}

TEST(TcpOptions, LanesForLargePayload) {
  EXPECT_EQ(parse_payload_lanes("").value(), default_payload_lanes());
  EXPECT_EQ(parse_payload_lanes("1").value(), 1u);
  EXPECT_EQ(parse_payload_lanes(std::to_string(kPayloadLanesMax)).value(), kPayloadLanesMax);
  for (const char* text : {"0", "-1", "9", "1x", "x", " 1", "99999999999999999999"}) {
    const Result<unsigned> lanes = parse_payload_lanes(text);
    EXPECT_EQ(lanes.code(), Code::kInvalidArgument) << text;
    EXPECT_NE(lanes.status().message().find("1 to 8"), std::string::npos);
  }
  EXPECT_GE(default_payload_lanes(), 1u);
  EXPECT_LE(default_payload_lanes(), kPayloadLanesMax);
}

TEST(TcpOptions, RailsAreHostsWithOrWithoutAPort) {
  EXPECT_TRUE(parse_rails("").value().empty());
  const std::vector<net::Address> rails = parse_rails("10.0.0.1,far:7,[fe80::1],[fe80::2]:9").value();
  ASSERT_EQ(rails.size(), 4U);
  EXPECT_EQ(rails[0].host() + rails[1].host() + rails[2].host(), "10.0.0.1farfe80::1");
  EXPECT_EQ(rails[0].port(), 0) << "that of the worker";
  EXPECT_EQ(rails[1].port(), 7);
  EXPECT_EQ(rails[2].port(), 0);
  EXPECT_EQ(rails[3].port(), 9);
  for (const char* bad : {",", "a,,b", "unix:/tmp/x", "a:b", "1,2,3,4,5,6,7,8,9", "http://a"}) {
    const Status refused = parse_rails(bad).status();
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << bad;
    EXPECT_NE(refused.message().find("TF_TCP_RAILS"), std::string::npos) << refused.message();
  }
}

TEST(TcpOptions, EveryLayoutSurvivesItsAttachFrame) {
  for (unsigned lanes = 1; lanes <= kPayloadLanesMax; ++lanes) {
    for (const bool recoverable : {false, true}) {
      const Layout layout{.payload_lanes = lanes, .recoverable = recoverable};
      EXPECT_LE(layout.connections(), kConnectionsMax);
      const Layout read = Layout::from_attach(layout.to_attach()).value();
      EXPECT_EQ(read.payload_lanes, lanes);
      EXPECT_EQ(read.recoverable, recoverable);
    }
  }
  EXPECT_EQ(Layout::from_attach(0).value().connections(), kConnectionsMin) << "as it always was";
  for (const std::uint32_t bad : {1U, 3U, 11U, 32U, 32U + 3, 32U + 12, 64U + 2, ~0U})
    EXPECT_EQ(Layout::from_attach(bad).status().code(), Code::kProtocol) << bad;
}

TEST(TcpProbe, SaysWhyNot) {
  EXPECT_NE(explain_setup_failure(EPERM, 2).message().find("io_uring_disabled=2"), std::string::npos);
  EXPECT_NE(explain_setup_failure(EPERM, 0).message().find("seccomp"), std::string::npos);
  EXPECT_NE(explain_setup_failure(ENOSYS, -1).message().find("ENOSYS"), std::string::npos);
  for (const int error : {EPERM, ENOSYS, ENOMEM, EMFILE})
    EXPECT_EQ(explain_setup_failure(error, 0).code(), Code::kUnavailable);
}

TEST(TcpProbe, RepeatsItself) { EXPECT_EQ(probe().available.code(), probe_now().available.code()); }

TEST(TcpBulkChunk, OnlySoundHeadersPass) {
  const auto judge = [](ChunkHeader header) {
    header.seal = seal_of(header);
    return validate(header).code();
  };
  EXPECT_EQ(judge({.tag = 1, .bytes = kChunkBytesMax}), Code::kOk);
  EXPECT_EQ(judge({.tag = 1, .flags = kChunkAbort, .reason = 7}), Code::kOk);
  for (const ChunkHeader& bad :
       {ChunkHeader{}, ChunkHeader{.bytes = kChunkBytesMax + 1}, ChunkHeader{.bytes = 1, .flags = 2},
        ChunkHeader{.bytes = 1, .flags = kChunkAbort}, ChunkHeader{.bytes = 1, .reason = 1},
        ChunkHeader{.bytes = 1, .magic = kFrameMagic}})
    EXPECT_EQ(judge(bad), Code::kProtocol);
}

// Whichever bit is changed on the way.
TEST(TcpSeal, EveryBitOfAHeaderCounts) {
  ChunkHeader chunk{.tag = 7, .bytes = 4096};
  chunk.seal = seal_of(chunk);
  FrameHeader frame{.opcode = 0x0210, .request_id = 9, .flags = 1, .payload_length = 40};
  frame.magic = seal_of(frame);
  const auto flipped = [](auto header, std::size_t bit) {
    auto bytes = std::bit_cast<std::array<unsigned char, sizeof header>>(header);
    bytes[bit / 8] = static_cast<unsigned char>(bytes[bit / 8] ^ 1u << bit % 8);
    return std::bit_cast<decltype(header)>(bytes);
  };
  EXPECT_TRUE(validate(chunk).is_ok());
  for (std::size_t bit = 0; bit < 8 * sizeof chunk; ++bit)
    EXPECT_EQ(validate(flipped(chunk, bit)).code(), Code::kProtocol) << bit;
  for (std::size_t bit = 0; bit < 8 * sizeof frame; ++bit) {
    const FrameHeader bad = flipped(frame, bit);
    EXPECT_NE(bad.magic, seal_of(bad)) << bit;
  }
}

TEST(TcpMirrorBuffer, WrapsWithoutASeam) {
  Result<MirrorBuffer> buffer = MirrorBuffer::create(65536);
  ASSERT_TRUE(buffer.is_ok());
  buffer->at(65535, 2)[1] = std::byte{7};
  EXPECT_EQ(buffer->at(65536 * 5, 1)[0], std::byte{7});
}

}  // namespace
}  // namespace tf::tcp
