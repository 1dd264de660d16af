// SPDX-License-Identifier: Apache-2.0
// What a program is told where no worker can be reached.
#include "proxy/session/connect_advice.h"

#include <gtest/gtest.h>

#include "transport/net/own_socket.h"

namespace tf::proxy {
namespace {

std::string advice(std::string_view worker) {
  const Status refused(Code::kUnavailable, "cannot reach it");
  return advise_unreachable(refused, net::Address::parse(worker).value(), Settings()).message();
}

TEST(ConnectAdvice, HowToStartAWorker) {
  EXPECT_EQ(advice("unix:/tmp/a"), "cannot reach it. To start a worker there: hip-worker --socket /tmp/a");
  EXPECT_EQ(advice("localhost:7"), "cannot reach it. To start a worker there: hip-worker --port 7");
  EXPECT_EQ(
      advice("gpuhost:7"),
      "cannot reach it. To start a worker for other hosts: hip-worker --listen 0.0.0.0 --port 7 --key-file "
      "FILE --authorized-keys FILE (docs/operating.md). One without keys listens on loopback only: tunnel "
      "its "
      "port (ssh -N -L 7:127.0.0.1:7 gpuhost), and set TF_WORKER_HOST=localhost");
}

TEST(ConnectAdvice, HowToStartAnOwnWorker) {
  Settings settings;
  settings.worker = "localhost:18515";
  const Status refused(Code::kUnavailable, "cannot reach it");
  const net::Address address = net::Address::parse("localhost:18515").value();
  EXPECT_EQ(advise_unreachable(refused, address, settings).message(),
            "cannot reach it, and no worker of this user listens on unix:" + net::own_socket() +
                ". To start one: hip-worker");
}

TEST(ConnectAdvice, WhoMayOpenASocket) {
  const Status denied(Code::kPermission, "cannot reach it");
  EXPECT_EQ(
      advise_unreachable(denied, net::Address::parse("unix:/run/a").value(), Settings()).message(),
      "cannot reach it. The mode of /run/a, or of a folder above it, keeps this user out. Whoever runs the "
      "worker can let others in: hip-worker --allow-uid, --allow-gid, --socket-mode");
}

}  // namespace
}  // namespace tf::proxy
