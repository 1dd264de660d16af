// SPDX-License-Identifier: Apache-2.0
// Traces as files: what is appended is read, what is hostile or has no room is left out and counted.
#include "proxy/stats/trace.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>

namespace tf::proxy::stats {
namespace {

class TraceTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "hip-trace-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
    path_ = directory_ + "/trace";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  // The first `bytes` of the file, as another process finds them.
  Result<Trace> read(std::size_t bytes = sizeof(TraceFile)) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(file_.get()), static_cast<std::streamsize>(bytes));
    return read_trace(path_);
  }
  static TraceEvent event(std::uint32_t kind, std::uint32_t function = 0, std::uint64_t begin = 5,
                          std::uint64_t end = 7) {
    return {begin, end, 0, function, 1, kind, 0};
  }

  std::string directory_;
  std::string path_;
  TraceCursor cursor_;
  std::unique_ptr<TraceFile> file_ = std::make_unique<TraceFile>();
};

TEST_F(TraceTest, WhatIsAppendedIsRead) {
  std::memcpy(file_->head.program.data(), "saxpy", 5);
  append(*file_, cursor_, event(1, 3));
  append(*file_, cursor_, {10, 20, 4096, 4, 9, static_cast<std::uint32_t>(TraceKind::kToDevice), 0});
  const Result<Trace> trace = read();
  ASSERT_TRUE(trace.is_ok()) << trace.status().to_string();
  EXPECT_EQ(trace.value().program, "saxpy");
  EXPECT_EQ(trace.value().left_out, 0U);
  ASSERT_EQ(trace.value().events.size(), 2U);
  EXPECT_EQ(trace.value().events[0].function, 3U);
  EXPECT_EQ(trace.value().events[1].bytes, 4096U);
}

TEST_F(TraceTest, EventsWithoutRoomAreCounted) {
  for (std::size_t count = 0; count < kTraceEventsMax + 7; ++count) append(*file_, cursor_, event(1));
  const Result<Trace> trace = read();
  ASSERT_TRUE(trace.is_ok());
  EXPECT_EQ(trace.value().events.size(), kTraceEventsMax);
  EXPECT_EQ(trace.value().left_out, 7U);
}

TEST_F(TraceTest, NonsenseIsLeftOut) {
  const auto functions = static_cast<std::uint32_t>(kFunctionNames.size());
  for (const TraceEvent& one :
       {event(kTraceKinds), event(~0U), event(1, functions + 1), event(1, 0, 8, 7)})
    append(*file_, cursor_, one);
  append(*file_, cursor_, event(1, functions));
  const Result<Trace> trace = read();
  ASSERT_TRUE(trace.is_ok());
  EXPECT_EQ(trace.value().events.size(), 1U);
  EXPECT_EQ(trace.value().left_out, 4U);
}

TEST_F(TraceTest, EachThreadHasABlockAndWhatItHasNotWrittenIsNoEvent) {
  TraceCursor other;
  ASSERT_NE(make_room(*file_, other), nullptr);  // begun, not ended
  append(*file_, cursor_, event(1));
  append(*file_, other, event(1, 2));
  const Result<Trace> trace = read();
  ASSERT_TRUE(trace.is_ok());
  EXPECT_EQ(file_->head.given, 2 * kTraceBlockEvents);
  EXPECT_EQ(trace.value().events.size(), 2U);
  EXPECT_EQ(trace.value().left_out, 0U);
}

TEST_F(TraceTest, TicksBecomeNanoseconds) {
  begin_log(file_->head.clock, {1000, 50'000});
  add_reading(file_->head.clock, {3000, 51'000});
  append(*file_, cursor_, event(1, 0, 2000, 2500));
  append(*file_, cursor_, event(1, 0, 0, 5000));
  const Result<Trace> trace = read();
  ASSERT_TRUE(trace.is_ok());
  ASSERT_EQ(trace.value().events.size(), 2U);
  EXPECT_EQ(trace.value().events[0].begin, 50'500U);
  EXPECT_EQ(trace.value().events[0].end, 50'750U);
  EXPECT_EQ(trace.value().events[1].begin, 49'500U);
  EXPECT_EQ(trace.value().events[1].end, 52'000U);
}

TEST(ClockTest, ShowsMonotonicTime) {
  Clock::choose();
  ClockLog log;
  begin_log(log, Clock::read());
  const std::uint64_t ticks = Clock::now();
  const std::uint64_t begin = Clock::monotonic_ns();
  while (Clock::monotonic_ns() < begin + 20'000'000) {
  }
  const std::uint64_t later = Clock::now();
  const std::uint64_t end = Clock::monotonic_ns();
  add_reading(log, Clock::read());
  const ClockScale scale(log);
  EXPECT_NEAR(static_cast<double>(scale.time_of(later) - scale.time_of(ticks)),
              static_cast<double>(end - begin), 1e6);
  EXPECT_NEAR(static_cast<double>(scale.length_of(later - ticks)), static_cast<double>(end - begin), 1e6);
}

TEST(ClockTest, AnyLogGivesTimesThatDoNotFall) {
  const std::uint64_t most = ~std::uint64_t{0};
  const ClockLog logs[] = {{},
                           {{most, most}, {{{0, 0}, {0, 0}}}, 0},
                           {{0, 0}, {{{1, most}, {most, 1}}}, 0},
                           {{5, 5}, {{{5, 9}, {6, 5}}}, most},
                           {{most, 0}, {{{0, most}, {0, most}}}, 7}};
  for (const ClockLog& log : logs) {
    const ClockScale scale(log);
    std::uint64_t last = 0;
    for (const std::uint64_t ticks : {std::uint64_t{0}, std::uint64_t{6}, most / 2, most - 1, most}) {
      EXPECT_GE(scale.time_of(ticks), last);
      last = scale.time_of(ticks);
    }
  }
}

TEST_F(TraceTest, AFileThatPromisesMoreThanItHas) {
  append(*file_, cursor_, event(1));
  append(*file_, cursor_, event(1));
  file_->head.given = ~std::uint64_t{0};
  std::memset(file_->head.program.data(), 'x', file_->head.program.size());
  const Result<Trace> cut = read(offsetof(TraceFile, events) + sizeof(TraceEvent) + 3);
  ASSERT_TRUE(cut.is_ok());
  EXPECT_EQ(cut.value().events.size(), 1U);
  EXPECT_EQ(cut.value().program.size(), kTextBytes);
  EXPECT_FALSE(read(sizeof(TraceHead) - 1).is_ok());
  EXPECT_FALSE(read(0).is_ok());
  file_->head.functions_hash ^= 1;
  EXPECT_EQ(read().code(), Code::kProtocol);
}

}  // namespace
}  // namespace tf::proxy::stats
