// SPDX-License-Identifier: Apache-2.0
#include "transport/shaper/shape.h"

#include <gtest/gtest.h>

#include <string>

namespace tf::shaper {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;

TEST(Shape, IsReadFromText) {
  const auto parsed = [](const char* text) {
    Result<Shape> shape = parse_shape(text);
    EXPECT_TRUE(shape) << text << ": " << shape.status().message();
    return shape ? *shape : Shape{};
  };
  EXPECT_EQ(parsed("rtt=100us,rate=10Gbit").rtt, microseconds(100));
  EXPECT_EQ(parsed("rtt=100us,rate=10Gbit").bits_per_second, 10'000'000'000u);
  EXPECT_EQ(parsed("rate=2.5Mbit,rtt=1.5ms").rtt, microseconds(1500));
  EXPECT_EQ(parsed("rate=2.5Mbit,rtt=1.5ms").bits_per_second, 2'500'000u);
  EXPECT_EQ(parsed("rtt=10s").rtt, std::chrono::seconds(10));
  EXPECT_EQ(parsed("rtt=7ns").bits_per_second, 0u);
  EXPECT_EQ(parsed("rtt=0us").rtt, nanoseconds(0));
  EXPECT_EQ(parsed("rate=1kbit").rtt, nanoseconds(0));
}

TEST(Shape, WrongTextIsRefusedWithWhatIsPossible) {
  for (const char* text : {"", "far", "rtt=", "rtt=100", "rtt=us", "rtt=-1us", "rtt=11s", "rtt=nanus",
                           "rtt=infs", "rtt=100 us", "rate=0Gbit", "rate=1bit", "rate=10GB", "rate=1e99Gbit",
                           "rtt=1us,", ",rtt=1us", "rtt=1us;rate=1Gbit", "RTT=1us", "rtt=1us,loss=1"}) {
    const Result<Shape> shape = parse_shape(text);
    ASSERT_EQ(shape.code(), Code::kInvalidArgument) << text;
    EXPECT_NE(shape.status().message().find("rtt=100us,rate=10Gbit"), std::string::npos);
  }
  EXPECT_LT(parse_shape(std::string(100'000, 'x')).status().message().size(), 400u);
}

TEST(Link, TakesOneThingAfterAnother) {
  const Time start{};
  Link link({.rtt = microseconds(100), .bits_per_second = 8'000'000'000});  // a byte a nanosecond
  EXPECT_EQ(link.send(start, 1000), start + microseconds(51));
  EXPECT_EQ(link.free(), start + microseconds(1));
  EXPECT_EQ(link.send(start, 2000), start + microseconds(53));  // behind the first
  EXPECT_EQ(link.send(start + microseconds(10), 1000), start + microseconds(61));
  EXPECT_EQ(link.send(start + microseconds(11), 0), start + microseconds(61));
}

TEST(Link, WhatFlowedMeanwhileTookTheWireMeanwhile) {
  const Time start{};
  Link link({.rtt = microseconds(100), .bits_per_second = 8'000'000'000});
  EXPECT_EQ(link.send(start, start + microseconds(30), 100'000), start + microseconds(150));
  EXPECT_EQ(link.send(start + microseconds(100), start + microseconds(300), 50'000),
            start + microseconds(350));
}

TEST(Link, WithoutARateOnlyDelays) {
  const Time start{};
  Link link({.rtt = microseconds(10), .bits_per_second = 0});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(link.send(start, std::size_t{1} << 40), start + microseconds(5));
}

}  // namespace
}  // namespace tf::shaper
