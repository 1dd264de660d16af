// SPDX-License-Identifier: Apache-2.0
// Two shm endpoints over a socket pair, in this process or in two, and what the tests here need around them.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "shm/endpoint.h"
#include "tests/support/peer.h"
#include "tests/support/peer_process.h"

namespace tf::shm {

struct Pair {
  std::unique_ptr<Endpoint> client;
  std::unique_ptr<Endpoint> worker;
};

inline std::pair<net::OwnedFd, net::OwnedFd> socket_pair() {
  int fds[2] = {-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
  return {net::OwnedFd(fds[0]), net::OwnedFd(fds[1])};
}

inline Pair make_pair() {
  auto [ours, theirs] = socket_pair();
  net::OwnedFd file;
  Result<Segment> made = Segment::create(file);
  EXPECT_TRUE(made.is_ok()) << made.status().to_string();
  Result<Segment> opened = Segment::open(file);
  EXPECT_TRUE(opened.is_ok()) << opened.status().to_string();
  Pair pair;
  pair.worker = std::move(make_endpoint(std::move(*made), std::move(ours), Side::kWorker).value());
  pair.client = std::move(make_endpoint(std::move(*opened), std::move(theirs), Side::kClient).value());
  return pair;
}

// The worker's end here; the client's in a process of its own, which ends when its body returns.
struct ProcessPair {
  test::PeerProcess client;
  std::unique_ptr<Endpoint> worker;  // null: it did not start, and the test has failed
};

inline ProcessPair start_client(const std::function<void(Endpoint&)>& body) {
  auto [ours, theirs] = socket_pair();
  net::OwnedFd file;
  Result<Segment> made = Segment::create(file);
  EXPECT_TRUE(made.is_ok()) << made.status().to_string();
  ProcessPair pair{.client = test::PeerProcess::start([&, socket = &theirs, parents = &ours] {
                     parents->reset();
                     Result<Segment> opened = Segment::open(file);
                     ASSERT_TRUE(opened.is_ok()) << opened.status().to_string();
                     auto endpoint = make_endpoint(std::move(*opened), std::move(*socket), Side::kClient);
                     ASSERT_TRUE(endpoint.is_ok()) << endpoint.status().to_string();
                     body(**endpoint);
                   }),
                   .worker = nullptr};
  EXPECT_TRUE(pair.client.started());
  if (!made || !pair.client.started()) return pair;
  pair.worker = std::move(make_endpoint(std::move(*made), std::move(ours), Side::kWorker).value());
  return pair;
}

class Counter final : public MessageSink {
 public:
  Status on_message(const FrameHeader&, std::span<const std::byte>) override {
    ++count;
    return Status::ok();
  }
  std::uint32_t count = 0;
};

// Processor time of the calling thread.
inline std::chrono::microseconds thread_time() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  const auto of = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

}  // namespace tf::shm
