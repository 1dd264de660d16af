// SPDX-License-Identifier: Apache-2.0
#include "transport/net/io_timeout.h"

#include <gtest/gtest.h>

#include <string>

namespace tf::net {
namespace {

using std::chrono::seconds;

TEST(IoTimeout, IsSeconds) {
  EXPECT_EQ(parse_io_timeout("").value(), kIoTimeout);
  EXPECT_EQ(parse_io_timeout("1").value(), seconds(1));
  EXPECT_EQ(parse_io_timeout("86400").value(), kIoTimeoutMax);
}

TEST(IoTimeout, OtherTextIsRefusedAndNamed) {
  for (const char* const text : {"0", "-1", "86401", "soon", "3s", " 3", "1.5", "99999999999999999999"}) {
    const Result<seconds> refused = parse_io_timeout(text);
    EXPECT_EQ(refused.code(), Code::kInvalidArgument) << text;
    EXPECT_NE(refused.status().message().find("TF_IO_TIMEOUT=" + std::string(text) + ": expected"),
              std::string::npos)
        << refused.status().message();
  }
}

}  // namespace
}  // namespace tf::net
