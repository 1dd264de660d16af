// SPDX-License-Identifier: Apache-2.0
#include "transport/base/codec.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

namespace tf {
namespace {

TEST(Codec, RoundTripsEveryKind) {
  std::array<std::byte, 256> memory;
  Writer writer(memory);
  writer.put<std::uint8_t>(0xfe);
  writer.put<std::int16_t>(-2);
  writer.put<std::uint32_t>(0x12345678);
  writer.put<std::uint64_t>(~0ull);
  writer.put<double>(0.1);
  writer.flag(true);
  writer.text("gfx942", 16);
  writer.text("", 16);
  writer.count(3, 3);
  for (std::uint32_t element = 0; element < 3; ++element) writer.put(element);
  ASSERT_TRUE(writer.status().is_ok()) << writer.status().to_string();
  Reader reader(writer.written());
  EXPECT_EQ(reader.get<std::uint8_t>(), 0xfe);
  EXPECT_EQ(reader.get<std::int16_t>(), -2);
  EXPECT_EQ(reader.get<std::uint32_t>(), 0x12345678u);
  EXPECT_EQ(reader.get<std::uint64_t>(), ~0ull);
  EXPECT_EQ(reader.get<double>(), 0.1);
  EXPECT_TRUE(reader.flag());
  EXPECT_EQ(reader.text(16), "gfx942");
  EXPECT_EQ(reader.text(16), "");
  ASSERT_EQ(reader.count(3, 4), 3u);
  for (std::uint32_t element = 0; element < 3; ++element) EXPECT_EQ(reader.get<std::uint32_t>(), element);
  EXPECT_TRUE(reader.finish().is_ok()) << reader.status().to_string();
}

TEST(Codec, IsLittleEndian) {
  std::array<std::byte, 4> memory;
  Writer writer(memory);
  writer.put<std::uint32_t>(0x0a0b0c0d);
  EXPECT_EQ(memory[0], std::byte{0x0d});
  EXPECT_EQ(memory[3], std::byte{0x0a});
}

TEST(Writer, StaysInsideAndFailsForGood) {
  std::array<std::byte, 8> memory;
  memory.fill(std::byte{0xcc});
  const std::span<std::byte> seven = std::span(memory).first(7);
  Writer writer(seven);
  writer.put<std::uint32_t>(1);
  writer.put<std::uint32_t>(2);  // one byte too many
  writer.put<std::uint8_t>(3);   // would fit, comes too late
  EXPECT_EQ(writer.status().code(), Code::kResourceExhausted);
  EXPECT_EQ(writer.size(), 4u);
  for (std::size_t index = 4; index < 8; ++index) EXPECT_EQ(memory[index], std::byte{0xcc});
}

TEST(Writer, RefusesWhatTheReaderWould) {
  std::array<std::byte, 64> memory;
  Writer text(memory);
  text.text("four", 3);
  EXPECT_EQ(text.status().code(), Code::kInvalidArgument);
  Writer count(memory);
  count.count(4, 3);
  EXPECT_EQ(count.status().code(), Code::kInvalidArgument);
}

TEST(Reader, FirstFailureSticksAndYieldsZeroes) {
  const std::array<std::byte, 6> memory = {std::byte{1}, std::byte{2}, std::byte{3},
                                           std::byte{4}, std::byte{5}, std::byte{6}};
  Reader reader(memory);
  EXPECT_EQ(reader.get<std::uint32_t>(), 0x04030201u);
  EXPECT_EQ(reader.get<std::uint32_t>(), 0u);
  EXPECT_EQ(reader.get<std::uint16_t>(), 0u);  // the bytes are there, but the reader has failed
  EXPECT_EQ(reader.text(10), "");
  EXPECT_EQ(reader.count(10, 1), 0u);
  EXPECT_EQ(reader.finish().code(), Code::kProtocol);
  EXPECT_NE(reader.status().message().find("offset 4 of 6"), std::string::npos) << reader.status().message();
}

TEST(Reader, HostileLengthsAllocateNothing) {
  std::array<std::byte, 8> memory{};
  Writer writer(memory);
  writer.put<std::uint32_t>(0xffffffff);
  Reader text(memory);
  EXPECT_EQ(text.text(SIZE_MAX), "");
  EXPECT_EQ(text.status().code(), Code::kProtocol);
  Reader limit(memory);
  EXPECT_EQ(limit.count(1000, 1), 0u);
  EXPECT_EQ(limit.status().code(), Code::kProtocol);
  Reader elements(memory);
  EXPECT_EQ(elements.count(SIZE_MAX, 1 << 20), 0u);
  EXPECT_EQ(elements.status().code(), Code::kProtocol);
}

TEST(Reader, RefusesLeftoversAndStrangeFlags) {
  std::array<std::byte, 8> memory{};
  memory[0] = std::byte{2};
  Reader flag(memory);
  (void)flag.flag();
  EXPECT_EQ(flag.status().code(), Code::kProtocol);
  Reader leftover(memory);
  (void)leftover.get<std::uint32_t>();
  EXPECT_EQ(leftover.finish().code(), Code::kProtocol);
}

TEST(Reader, SurvivesRandomBytes) {
  std::minstd_rand random(1);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> memory(random() % 64);
    for (std::byte& byte : memory) byte = static_cast<std::byte>(random() % 4 == 0 ? random() : 0);
    Reader reader(memory);
    for (int step = 0; step < 8; ++step) {
      EXPECT_LE(reader.text(32).size(), 32u);
      EXPECT_LE(reader.count(16, 2), 16u);
      (void)reader.flag();
    }
    EXPECT_LE(reader.remaining(), memory.size());
  }
}

}  // namespace
}  // namespace tf
