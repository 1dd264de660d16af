// SPDX-License-Identifier: Apache-2.0
// Programs and results of hiprtc as bytes: there and back, limits, and bytes of somebody hostile.
#include "hipcore/wire/rtc_program.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tf::protocol {
namespace {

RtcProgram some_program() {
  return {"__global__ void f() {}", "f.hip",         {{"a.h", "int a;"}, {"b.h", ""}}, {"-O2", ""},
          {"f<int>", "&g"},         {{"m.bc", "BC"}}};
}
RtcResult some_result() {
  return {6, "f.hip:1: wrong\n", std::string("\0\1code\0", 7), {{"f<int>", "_Z1fIiEvv"}}};
}

TEST(RtcProgram, ThereAndBack) {
  for (const RtcProgram& program : {some_program(), RtcProgram{}}) {
    auto bytes = encode(program);
    ASSERT_TRUE(bytes.is_ok()) << bytes.status().to_string();
    auto back = decode_rtc_program(*bytes);
    ASSERT_TRUE(back.is_ok()) << back.status().to_string();
    EXPECT_EQ(*back, program);
  }
  for (const RtcResult& result : {some_result(), RtcResult{}}) {
    auto bytes = encode(result);
    ASSERT_TRUE(bytes.is_ok()) << bytes.status().to_string();
    auto back = decode_rtc_result(*bytes);
    ASSERT_TRUE(back.is_ok()) << back.status().to_string();
    EXPECT_EQ(*back, result);
  }
}

TEST(RtcProgram, WhatIsBeyondTheLimitsIsNotEncoded) {
  RtcProgram program = some_program();
  program.text.assign(kRtcTextBytesMax, 'x');
  EXPECT_FALSE(encode(program).is_ok()) << "its headers count too";
  program = some_program();
  program.options.assign(kRtcWordsMax + 1, "-w");
  EXPECT_FALSE(encode(program).is_ok());
  program = some_program();
  program.name.assign(kRtcWordBytesMax + 1, 'x');
  EXPECT_FALSE(encode(program).is_ok());
  program = some_program();
  program.options.assign(kRtcWordsMax, std::string(kRtcWordBytesMax, 'x'));
  EXPECT_FALSE(encode(program).is_ok());
  RtcResult result = some_result();
  result.log.assign(kRtcLogBytesMax + 1, 'x');
  EXPECT_FALSE(encode(result).is_ok());
}

TEST(RtcProgram, HostileBytesAreRefused) {
  auto program = encode(some_program());
  auto result = encode(some_result());
  for (std::size_t size = 0; size < program->size(); ++size)
    EXPECT_FALSE(decode_rtc_program(std::span(*program).first(size)).is_ok()) << size;
  for (std::size_t size = 0; size < result->size(); ++size)
    EXPECT_FALSE(decode_rtc_result(std::span(*result).first(size)).is_ok()) << size;
  std::vector<std::byte> longer = *program;
  longer.push_back(std::byte{0});
  EXPECT_FALSE(decode_rtc_program(longer).is_ok());
  const std::vector<std::byte> ones(100, std::byte{0xff});
  EXPECT_FALSE(decode_rtc_program(ones).is_ok());
  EXPECT_FALSE(decode_rtc_result(ones).is_ok());
  std::mt19937 random(7);
  for (int round = 0; round < 20000; ++round) {  // whatever comes of it, without harm
    std::vector<std::byte> bytes = *program;
    bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    static_cast<void>(decode_rtc_program(bytes));
    static_cast<void>(decode_rtc_result(bytes));
  }
}

}  // namespace
}  // namespace tf::protocol
