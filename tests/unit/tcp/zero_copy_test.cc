// SPDX-License-Identifier: Apache-2.0
// When a lane stops sending without copies.
#include "tcp/zero_copy.h"

#include <gtest/gtest.h>

namespace tf::tcp {
namespace {

TEST(TcpZeroCopy, LargeSendsOnlyAndOnlyWhenWanted) {
  EXPECT_TRUE(ZeroCopyPolicy(true).takes(kZeroCopyBytesMin));
  EXPECT_FALSE(ZeroCopyPolicy(true).takes(kZeroCopyBytesMin - 1));
  EXPECT_FALSE(ZeroCopyPolicy(false).takes(kZeroCopyBytesMin));
}

TEST(TcpZeroCopy, OneCopyReportedEndsIt) {
  ZeroCopyPolicy policy(true);
  policy.on_notification(0);
  EXPECT_TRUE(policy.takes(kZeroCopyBytesMin));
  policy.on_notification(kNotifyCopied);
  EXPECT_FALSE(policy.takes(kZeroCopyBytesMin));
  policy.on_notification(0);
  EXPECT_FALSE(policy.takes(kZeroCopyBytesMin));
}

TEST(TcpZeroCopy, RefusalsEndItOtherFailuresDoNot) {
  for (const int error : {EINVAL, EOPNOTSUPP, ENOBUFS, ENOMEM}) {
    ZeroCopyPolicy policy(true);
    EXPECT_TRUE(policy.on_result(-error)) << error;
    EXPECT_FALSE(policy.takes(kZeroCopyBytesMin)) << error;
  }
  ZeroCopyPolicy policy(true);
  for (const int result : {4096, 0, -EAGAIN, -ECONNRESET}) EXPECT_FALSE(policy.on_result(result)) << result;
  EXPECT_TRUE(policy.takes(kZeroCopyBytesMin));
}

}  // namespace
}  // namespace tf::tcp
