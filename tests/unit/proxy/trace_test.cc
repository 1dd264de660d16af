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
  static TraceEvent event(std::uint32_t kind, std::uint32_t function = 0, std::uint64_t begin_ns = 5,
                          std::uint64_t end_ns = 7) {
    return {begin_ns, end_ns, 0, function, 1, kind, 0};
  }

  std::string directory_;
  std::string path_;
  std::unique_ptr<TraceFile> file_ = std::make_unique<TraceFile>();
};

TEST_F(TraceTest, WhatIsAppendedIsRead) {
  std::memcpy(file_->head.program.data(), "saxpy", 5);
  append(*file_, event(1, 3));
  append(*file_, {10, 20, 4096, 4, 9, static_cast<std::uint32_t>(TraceKind::kToDevice), 0});
  const Result<Trace> trace = read();
  ASSERT_TRUE(trace.is_ok()) << trace.status().to_string();
  EXPECT_EQ(trace.value().program, "saxpy");
  EXPECT_EQ(trace.value().left_out, 0U);
  ASSERT_EQ(trace.value().events.size(), 2U);
  EXPECT_EQ(trace.value().events[0].function, 3U);
  EXPECT_EQ(trace.value().events[1].bytes, 4096U);
}

TEST_F(TraceTest, EventsWithoutRoomAreCounted) {
  for (std::size_t count = 0; count < kTraceEventsMax + 7; ++count) append(*file_, event(1));
  const Result<Trace> trace = read();
  ASSERT_TRUE(trace.is_ok());
  EXPECT_EQ(trace.value().events.size(), kTraceEventsMax);
  EXPECT_EQ(trace.value().left_out, 7U);
}

TEST_F(TraceTest, NonsenseIsLeftOut) {
  const auto functions = static_cast<std::uint32_t>(kFunctionNames.size());
  for (const TraceEvent& one :
       {event(0), event(kTraceKinds), event(~0U), event(1, functions + 1), event(1, 0, 8, 7)})
    append(*file_, one);
  append(*file_, event(1, functions));
  const Result<Trace> trace = read();
  ASSERT_TRUE(trace.is_ok());
  EXPECT_EQ(trace.value().events.size(), 1U);
  EXPECT_EQ(trace.value().left_out, 5U);
}

TEST_F(TraceTest, AFileThatPromisesMoreThanItHas) {
  append(*file_, event(1));
  append(*file_, event(1));
  file_->head.appended = ~std::uint64_t{0};
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
