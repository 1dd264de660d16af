// SPDX-License-Identifier: Apache-2.0
// What a program is told where no worker can be reached.
#include "proxy/session/connect_advice.h"

#include <gtest/gtest.h>

namespace tf::proxy {
namespace {

std::string advice(std::string_view worker) {
  const Status refused(Code::kUnavailable, "cannot reach it");
  return advise_unreachable(refused, net::Address::parse(worker).value(), Settings()).message();
}

TEST(ConnectAdvice, HowToStartAWorker) {
  EXPECT_EQ(advice("unix:/tmp/a"), "cannot reach it. To start a worker there: hip-worker --socket /tmp/a");
  EXPECT_EQ(advice("localhost:7"), "cannot reach it. To start a worker there: hip-worker --port 7");
  EXPECT_EQ(advice("gpuhost:7"),
            "cannot reach it. A worker listens on loopback only. Start hip-worker on gpuhost, then run here: "
            "ssh -N -L 7:127.0.0.1:7 gpuhost, and set TF_WORKER_HOST=localhost");
}

}  // namespace
}  // namespace tf::proxy
