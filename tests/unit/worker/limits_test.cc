// SPDX-License-Identifier: Apache-2.0
// Limits in an operator's words.
#include "worker/base/limits.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parsed_options.h"
#include "worker/base/weight.h"

namespace tf::worker {
namespace {

std::string said(std::string_view words) { return Limits::parse(words).status().message(); }

TEST(Limits, AreReadAsTheyAreWritten) {
  const Result<Limits> limits = Limits::parse("memory=8G  streams=256 devices=2,0 host=4096 weight=3");
  ASSERT_TRUE(limits.is_ok()) << limits.status().to_string();
  EXPECT_EQ(limits.value().of(Limit::kMemory), 8ull << 30);
  EXPECT_EQ(limits.value().of(Limit::kStreams), 256u);
  EXPECT_EQ(limits.value().of(Limit::kHost), 4096u);
  EXPECT_EQ(limits.value().of(Limit::kCompiles), 0u);
  EXPECT_EQ(limits.value().devices(), (std::vector<int>{2, 0}));
  EXPECT_EQ(limits_text(limits.value().values()), "memory=8G host=4K streams=256 weight=3");
  EXPECT_EQ(limits_text(Limits::parse("").value().values()), "");
}

TEST(Limits, WhatIsNoLimitIsToldWithWhatIsOne) {
  EXPECT_EQ(
      said("colour=red"),
      "unknown option \"colour=red\"; possible: devices, memory, host, streams, compiles, sessions, starts, "
      "idle, weight");
  for (const char* const wrong :
       {"memory", "memory=", "memory=8X", "memory=-1", "memory=8GB", "memory=99999999999G", "streams=8G",
        "streams=1.5", "streams=2000000", "weight=101", "devices=", "devices=0,", "devices=0,0", "devices=64",
        "devices=a", "memory=1 memory=2", "devices=0 devices=1"})
    EXPECT_NE(said(wrong), "") << wrong;
  EXPECT_EQ(said("memory=\x1b"),
            "\"memory=?\": expected memory=BYTES, with K, M, G or T behind the number for powers of "
            "1024; 0: no limit");
}

TEST(Limits, OfAKeyComeBeforeThoseOfAll) {
  const Limits all = Limits::parse("memory=1G streams=8 devices=0").value();
  const Limits own = Limits::parse("streams=0 compiles=2").value().over(all);
  EXPECT_EQ(own.of(Limit::kMemory), 1ull << 30);
  EXPECT_EQ(own.of(Limit::kStreams), 0u) << "0 says that there is none";
  EXPECT_EQ(own.of(Limit::kCompiles), 2u);
  EXPECT_EQ(own.devices(), std::vector<int>{0});
  EXPECT_EQ(Limits::parse("devices=3").value().over(all).devices(), std::vector<int>{3});
}

TEST(Limits, HostMemoryIsLimitedAsDeviceMemoryUnlessItSaysOtherwise) {
  EXPECT_EQ(limits_text(Limits::parse("memory=1G").value().values()), "memory=1G host=1G");
  EXPECT_EQ(limits_text(Limits::parse("memory=1G host=0").value().values()), "memory=1G");
}

TEST(Limits, AWeightIsAsMuchOfAProcessorAsItSays) {
  EXPECT_EQ(nice_of_weight(100), 0);
  EXPECT_EQ(nice_of_weight(80), 1);
  EXPECT_EQ(nice_of_weight(50), 3);  // 0.8 ^ 3
  EXPECT_EQ(nice_of_weight(10), 10);
  EXPECT_EQ(nice_of_weight(1), 19);
}

TEST(Limits, OfTheCommandLine) {
  const Parsed parsed = parse({"--limit", "memory=1G sessions=3"});
  ASSERT_EQ(parsed.result, ParseResult::kRun) << parsed.said;
  EXPECT_EQ(parsed.options.tenant_limits.of(Limit::kSessions), 3u);
  EXPECT_EQ(parse({"--sessions-per-tenant", "5"}).options.tenant_limits.of(Limit::kSessions), 5u);
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{"--limit", "memory=x"},
                                                {"--limit", "sessions=3", "--sessions-per-tenant", "3"},
                                                {"--limit", "devices=0", "--device", "0"}}) {
    const Parsed refused = parse(wrong);
    EXPECT_EQ(refused.result, ParseResult::kExitError) << wrong[1];
    EXPECT_NE(refused.said, "");
  }
}

}  // namespace
}  // namespace tf::worker
