// SPDX-License-Identifier: Apache-2.0
// Tables of benchmarks: in words that people use, with the outliers named.
#include "benchmarks/report/report.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "benchmarks/report/provenance.h"
#include "benchmarks/report/statistics.h"
#include "benchmarks/report/words.h"

namespace tf::bench {
namespace {

std::string table_of(const std::vector<Row>& rows) {
  ::testing::internal::CaptureStdout();
  print_table(rows);
  return ::testing::internal::GetCapturedStdout();
}

Row row(const char* metric, std::uint64_t bytes, double value, const char* unit, double p99) {
  return {"hip_bench", "shm", metric, bytes, value, unit, value, p99, value * 2, "native", false};
}

TEST(BenchTable, CountsAreMillionsOfWhatIsCounted) {
  const std::string text =
      table_of({row("launch_drained", 0, 19.6e6, "1/s", 18e6), row("posted", 64, 5.5e6, "1/s", 5e6),
                row("event_record_drained", 0, 199'631, "1/s", 1e5)});
  EXPECT_NE(text.find("39.2  million launches/s"), std::string::npos) << text;
  EXPECT_NE(text.find("million messages/s"), std::string::npos) << text;
  EXPECT_NE(text.find("399262  calls/s"), std::string::npos) << text;
  EXPECT_EQ(text.find("1/s"), std::string::npos) << text;
}

TEST(BenchTable, TheUnitFitsTheFigure) {
  EXPECT_EQ(scale_for("ns", "x", 9'999).unit, "ns");
  EXPECT_EQ(scale_for("ns", "x", 10'000).unit, "us");
  EXPECT_EQ(scale_for("ns", "x", 10e6).unit, "ms");
  EXPECT_EQ(scale_for("GB/s", "x", 0.016).unit, "MB/s");
  EXPECT_EQ(scale_for("GB/s", "x", 1.6).unit, "GB/s");
  EXPECT_EQ(digits(0), "0");
  EXPECT_EQ(digits(0.123), "0.123");
  EXPECT_EQ(digits(9.999), "10.0");
  EXPECT_EQ(digits(45.64), "45.6");
  EXPECT_EQ(digits(12345.6), "12346");
}

TEST(BenchTable, SaysWhichWayIsGood) {
  const std::string text = table_of({row("sync_call", 0, 500, "ns", 600)});
  EXPECT_NE(text.find("Better is less of ns, us and ms, and more of bytes"), std::string::npos) << text;
  EXPECT_NE(text.find("1 is as good as the limit"), std::string::npos) << text;
  EXPECT_EQ(text.find('*'), std::string::npos) << text;
}

TEST(BenchTable, NamesWhatTheTailIsFarOff) {
  const std::string text = table_of({row("h2d_pinned", 1 << 20, 21.0, "GB/s", 0.21),
                                     row("d2h_pinned", 1 << 20, 21.0, "GB/s", 20.0),
                                     row("sync_call", 0, 500, "ns", 50'000), row("x", 0, 500, "ns", 4'000)});
  EXPECT_NE(text.find("shm h2d_pinned of 1 MiB: 100 times"), std::string::npos) << text;
  EXPECT_NE(text.find("shm sync_call: 100 times"), std::string::npos) << text;
  EXPECT_EQ(text.find("d2h_pinned of"), std::string::npos) << text;
  EXPECT_EQ(text.find("shm x:"), std::string::npos) << text;
}

TEST(BenchTable, PointsOfCurvesAreNotInIt) {
  Report report(false);
  Row point = row("h2d_pinned", 64, 1, "GB/s", 1);
  point.plot_only = true;
  report.add(point);
  report.add(row("h2d_pinned", 4096, 1, "GB/s", 1));
  ::testing::internal::CaptureStdout();
  report.finish();
  const std::string text = ::testing::internal::GetCapturedStdout();
  EXPECT_EQ(text.find(" 64 B"), std::string::npos) << text;
  EXPECT_NE(text.find("4 KiB"), std::string::npos) << text;
  EXPECT_EQ(report.rows().size(), 2u);
}

TEST(BenchProvenance, NamesMachineDayAndCommit) {
  const std::string text = provenance();
  EXPECT_NE(text.find(" processors, "), std::string::npos) << text;
  EXPECT_NE(text.find(" GiB of memory; 20"), std::string::npos) << text;
  EXPECT_NE(text.find("; hip-remote commit "), std::string::npos) << text;
  EXPECT_GT(available_memory(), 1u << 20);
}

// Gives one limit after the other, and the last one for ever.
struct Limits {
  std::vector<double> values;
  std::size_t next = 0;
  double operator()() { return values[std::min(next++, values.size() - 1)]; }
};

TEST(MeasureBeside, ALimitThatStayedIsMeasuredTwice) {
  int measured = 0;
  const auto row = measure_beside(Limits{{100, 110}}, [&] { return ++measured; });
  EXPECT_EQ(row.found, 1);
  EXPECT_DOUBLE_EQ(row.limit, 105);
}

TEST(MeasureBeside, WhatWasMeasuredWhileTheLimitMovedIsMeasuredAgain) {
  int measured = 0;
  const auto row = measure_beside(Limits{{100, 500, 120, 120}}, [&] { return ++measured; });
  EXPECT_EQ(row.found, 3);
  EXPECT_DOUBLE_EQ(row.limit, 120);
}

TEST(MeasureBeside, AMachineThatNeverSettlesIsGivenUp) {
  int measured = 0;
  const auto row = measure_beside(Limits{{100, 500, 100, 500, 100, 500}}, [&] { return ++measured; });
  EXPECT_EQ(row.found, 4);
}

}  // namespace
}  // namespace tf::bench
