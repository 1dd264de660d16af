// SPDX-License-Identifier: Apache-2.0
// Traces as files: what is appended is read, what is hostile or has no room is left out and counted.
#include "proxy/stats/trace.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <tuple>

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
  for (const TraceEvent& one : {event(kTraceKinds), event(~0U), event(1, functions + 1), event(1, 0, 8, 7)})
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

class ExecutionsInTraces : public TraceTest {
 protected:
  static constexpr std::uint64_t kKernel = std::uint64_t{4} << 56 | 7;  // a function's handle

  void add(std::uint64_t begin, std::uint64_t end, std::uint64_t subject = 64, std::uint32_t stream = 0) {
    append(*file_, cursor_,
           {begin, end, subject, 3U << 16 | 0x510, stream, static_cast<std::uint32_t>(TraceKind::kExecution),
            11});
  }
};

TEST_F(ExecutionsInTraces, AreTimesOfTheOwnClock) {
  file_->head.worker_first = {1'000'000, 5'000'000, 100};
  file_->head.worker_last = {2'000'000, 5'000'100, 300};  // it goes faster by 100 ns in a millisecond
  file_->head.executions_error_ns = 40;
  add_name(*file_, kKernel, "saxpy\n\xff");
  add(6'000'000, 6'500'050, kKernel, 2);
  add(7'000'100, 7'000'100);
  const Result<Trace> read_back = read();
  ASSERT_TRUE(read_back.is_ok());
  const Trace& trace = read_back.value();
  EXPECT_TRUE(trace.events.empty());
  ASSERT_EQ(trace.executions.size(), 2U);
  EXPECT_EQ(trace.executions[0].begin, 2'000'000U);
  const TracedExecution& kernel = trace.executions[1];
  EXPECT_EQ(kernel.begin, 1'000'000U);
  EXPECT_EQ(kernel.end, 1'500'000U);
  EXPECT_EQ(kernel.name, "saxpy??");
  EXPECT_EQ(std::tuple(kernel.opcode, kernel.device, kernel.stream, kernel.request, kernel.bytes),
            std::tuple(0x510, 3, 2U, 11U, 0U));
  EXPECT_EQ(trace.worker_ahead_ns, 5'000'100);
  EXPECT_EQ(trace.executions_error_ns, 340U);
}

TEST_F(ExecutionsInTraces, ClocksThatCannotBeToldApartAreOne) {
  file_->head.worker_first = {1'000'000, -90, 100};
  file_->head.worker_last = {2'000'000, 250, 300};
  add(1'500'000, 1'500'001);
  const Result<Trace> trace = read();
  ASSERT_TRUE(trace.is_ok());
  ASSERT_EQ(trace.value().executions.size(), 1U);
  EXPECT_EQ(trace.value().executions[0].begin, 1'500'000U);
  EXPECT_EQ(trace.value().worker_ahead_ns, 0);
}

TEST_F(ExecutionsInTraces, DoNotOverlapOnAStream) {
  file_->head.worker_first = file_->head.worker_last = {1, 0, 10};
  add(100, 200);
  add(150, 260);
  add(155, 157);
  add(120, 140, 64, 1);
  const Result<Trace> read_back = read();
  ASSERT_TRUE(read_back.is_ok());
  const std::vector<TracedExecution>& all = read_back.value().executions;
  ASSERT_EQ(all.size(), 4U);
  for (std::size_t i = 0; i < 2; ++i) EXPECT_LE(all[i].end, all[i + 1].begin);
  EXPECT_EQ(all[3].begin, 120U);
}

TEST_F(ExecutionsInTraces, AWorkerMaySayAnything) {
  const std::uint64_t most = ~std::uint64_t{0};
  file_->head.worker_first = {most, INT64_MIN, 1};
  file_->head.worker_last = {0, INT64_MAX, 1};
  file_->head.names = most;
  for (const std::uint64_t time : {std::uint64_t{0}, most / 2, most}) add(time, most, most, ~0U);
  const Result<Trace> read_back = read();
  ASSERT_TRUE(read_back.is_ok());
  ASSERT_EQ(read_back.value().executions.size(), 3U);
  for (const TracedExecution& each : read_back.value().executions) EXPECT_LE(each.begin, each.end);
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
