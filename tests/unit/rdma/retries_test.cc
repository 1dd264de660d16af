// SPDX-License-Identifier: Apache-2.0
#include "rdma/retries.h"

#include <gtest/gtest.h>

#include "net/io_timeout.h"

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

}  // namespace
}  // namespace tf::rdma
