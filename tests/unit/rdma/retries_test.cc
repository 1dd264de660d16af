// SPDX-License-Identifier: Apache-2.0
#include "rdma/retries.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/rdma/endpoints_fixture.h"
#include "transport/net/io_timeout.h"

namespace tf::rdma {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

// Until a queue pair gives up, on a device that takes every ack timeout for what it says.
nanoseconds patience(const Retries& retries) {
  return nanoseconds(4096) * (std::int64_t{1} << retries.ack_timeout) * (retries.count + 1);
}

TEST(Retries, StayWithinTheTimeout) {
  for (int s = 2; s < 100; ++s) {
    const Retries retries = retries_within(seconds(s));
    EXPECT_LE(patience(retries) * kAckTimeoutStretch, seconds(s)) << s;
  }
}

TEST(Retries, OutlastAShortLoss) {
  EXPECT_GT(patience(retries_within(net::kIoTimeout)), seconds(6));
  EXPECT_GT(patience(retries_within(seconds(15))), seconds(3));
  EXPECT_GT(patience(retries_within(seconds(10))), milliseconds(1800));
}

TEST(Retries, GrowWithTheTimeoutAndHaveBounds) {
  nanoseconds before{0};
  for (int s = 1; s < 100; ++s) {
    const Retries retries = retries_within(seconds(s));
    EXPECT_GE(patience(retries), before) << s;
    before = patience(retries);
    EXPECT_GE(retries.count, kRetriesMin) << s;
    EXPECT_LT(retries.count, 7) << "for ever, to some drivers";
    EXPECT_GE(retries.ack_timeout, kAckTimeoutMin) << s;
    EXPECT_LE(retries.ack_timeout, kAckTimeoutMax) << "a single loss would look like a hang, with " << s;
  }
  EXPECT_EQ(retries_within(seconds(86'400)).ack_timeout, kAckTimeoutMax);
  EXPECT_EQ(retries_within(milliseconds(1)).ack_timeout, kAckTimeoutMin);
  EXPECT_EQ(retries_within(milliseconds(0)).ack_timeout, kAckTimeoutMin);
}

// --- Of queue pairs ---------------------------------------------------------------------------------------

class RetriesOfQueuePairs : public EndpointsTest {
 protected:
  // Each end has an environment of its own.
  void SetUp() override {}
  static Options with_timeout(const char* text) {
    ::setenv("TF_IO_TIMEOUT", text, 1);
    Result<Options> options = options_from_environment();
    ::unsetenv("TF_IO_TIMEOUT");
    EXPECT_TRUE(options.is_ok()) << options.status().to_string();
    return options ? *options : Options();
  }
  void expect(const char* device, const Retries& retries) {
    const std::vector<std::uint32_t> numbers = fabric_.queue_pairs(device);
    EXPECT_EQ(numbers.size(), 4u) << "two for each plane";
    for (const std::uint32_t number : numbers) {
      const ibv_qp_attr set = fabric_.attributes(number);
      EXPECT_EQ(set.timeout, retries.ack_timeout) << device;
      EXPECT_EQ(set.retry_cnt, retries.count) << device;
      EXPECT_GT(set.rnr_retry, 0) << "a receive may be posted a moment late";
      EXPECT_LT(set.rnr_retry, 7) << "for ever";
      EXPECT_GT(set.min_rnr_timer, 0) << "0 is the longest, 655 ms";
    }
  }
};

TEST_F(RetriesOfQueuePairs, AreWhatTheEnvironmentSays) {
  const Retries short_ones = retries_within(seconds(2)), long_ones = retries_within(seconds(60));
  ASSERT_LT(short_ones.ack_timeout, long_ones.ack_timeout);
  open(with_timeout("2"), with_timeout("60"));
  expect("fake0", short_ones);
  expect("fake1", long_ones);
}

TEST_F(RetriesOfQueuePairs, AreTheUsualOnesWhereItSaysNothing) {
  open(with_timeout(""), with_timeout("30"));
  expect("fake0", retries_within(net::kIoTimeout));
  expect("fake1", retries_within(net::kIoTimeout));
}

TEST_F(RetriesOfQueuePairs, AreRefusedWhereItSaysNothingThatCanBeRead) {
  ::setenv("TF_IO_TIMEOUT", "soon", 1);
  EXPECT_EQ(options_from_environment().code(), Code::kInvalidArgument);
  ::unsetenv("TF_IO_TIMEOUT");
}

}  // namespace
}  // namespace tf::rdma
