// SPDX-License-Identifier: Apache-2.0
// No wake-up is lost between two processes. The one sign of a lost one is a wait that ends only with the
// sleep's own limit of 100 ms, so every round trip is timed.
#include <algorithm>
#include <random>
#include <thread>

#include "tests/support/peer_process.h"
#include "tests/unit/shm/pair.h"

namespace tf::shm {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kStall(90);  // the limit of one sleep is 100 ms
constexpr int kStallsForgiven = 3;  // a busy machine may stop a process that long, now and then
constexpr std::chrono::seconds kStress(2);

Status next(Endpoint& endpoint, Counter& sink, Deadline deadline) {
  for (;;) {
    Result<std::size_t> polled = endpoint.poll(sink, 1);
    if (!polled) return polled.status();
    if (polled.value() != 0) return Status::ok();
    TF_RETURN_IF_ERROR(endpoint.wait(Interest::kMessages, deadline));
  }
}

// Sleeps or spins around the time in which the other side goes to sleep.
void pause(std::minstd_rand& random) {
  const microseconds time(random() % 4 == 0 ? random() % 400 : random() % 70);
  const Deadline until = Deadline::after(time);
  if (random() % 2 == 0) std::this_thread::sleep_for(time);
  while (!until.passed()) {
  }
}

void echo(Endpoint& endpoint) {
  Counter sink;
  std::minstd_rand random(2);
  while (next(endpoint, sink, Deadline::after(seconds(20))).is_ok()) {
    pause(random);
    if (!test::try_publish(endpoint, 1, sink.count, {}).is_ok()) break;
  }
}

TEST(ShmWakeup, NoneIsLostBetweenTwoProcesses) {
  auto [ours, theirs] = socket_pair();
  net::OwnedFd file;
  Result<Segment> segment = Segment::create(file);
  ASSERT_TRUE(segment.is_ok());
  test::PeerProcess child = test::PeerProcess::start([&, socket = &theirs, parents = &ours] {
    parents->reset();
    Result<Segment> opened = Segment::open(file);
    ASSERT_TRUE(opened.is_ok());
    auto endpoint = make_endpoint(std::move(*opened), std::move(*socket), Side::kClient);
    ASSERT_TRUE(endpoint.is_ok());
    echo(**endpoint);
  });
  ASSERT_TRUE(child.started());
  theirs.reset();
  auto endpoint = make_endpoint(std::move(*segment), std::move(ours), Side::kWorker);
  ASSERT_TRUE(endpoint.is_ok());
  Counter sink;
  std::minstd_rand random(1);
  int stalls = 0;
  const Deadline end = Deadline::after(kStress);
  for (std::uint32_t round = 1; !end.passed(); ++round) {
    const auto start = Deadline::Clock::now();
    ASSERT_TRUE(test::try_publish(**endpoint, 1, round, {}).is_ok());
    const Status status = next(**endpoint, sink, Deadline::after(seconds(10)));
    ASSERT_TRUE(status.is_ok()) << status.to_string();
    if (Deadline::Clock::now() - start > kStall) ++stalls;
    pause(random);
  }
  EXPECT_GT(sink.count, 50u);
  EXPECT_LE(stalls, kStallsForgiven) << "of " << sink.count << " round trips";
  endpoint->reset();
  EXPECT_EQ(child.wait(seconds(10)), 0);
}

// A reader on a full ring: each time it makes room the sleeping writer must hear of it at once.
TEST(ShmWakeup, RoomIsAnnouncedAtOnce) {
  Pair pair = make_pair();
  const std::vector<std::byte> payload(4000);
  constexpr std::uint32_t kMessages = 4000;
  std::thread reader([&] {
    Counter sink;
    std::minstd_rand random(3);
    const Deadline deadline = Deadline::after(seconds(20));
    while (sink.count < kMessages && !deadline.passed()) {
      ASSERT_TRUE(pair.worker->poll(sink, 1 + random() % 60).is_ok());
      if (random() % 4 == 0) pause(random);
    }
    EXPECT_EQ(sink.count, kMessages);
  });
  int stalls = 0;
  for (std::uint32_t id = 1; id <= kMessages;) {
    const Status status = test::try_publish(*pair.client, 1, id, payload);
    if (status.is_ok()) {
      ++id;
      continue;
    }
    EXPECT_EQ(status.code(), Code::kWouldBlock) << status.to_string();
    const auto start = Deadline::Clock::now();
    (void)pair.client->wait(Interest::kMessages, Deadline::after(seconds(5)));
    if (Deadline::Clock::now() - start > kStall) ++stalls;
  }
  reader.join();
  EXPECT_LE(stalls, kStallsForgiven);
}

}  // namespace
}  // namespace tf::shm
