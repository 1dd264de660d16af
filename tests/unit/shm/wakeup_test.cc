// SPDX-License-Identifier: Apache-2.0
// No wake-up is lost between two processes. The one sign of a lost one is a wait that ends only with the
// sleep's own limit of 100 ms, so every round trip is timed.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <thread>

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
  ProcessPair pair = start_client(echo);
  ASSERT_NE(pair.worker, nullptr);
  Counter sink;
  std::minstd_rand random(1);
  int stalls = 0;
  const Deadline end = Deadline::after(kStress);
  for (std::uint32_t round = 1; !end.passed(); ++round) {
    const auto start = Deadline::Clock::now();
    ASSERT_TRUE(test::try_publish(*pair.worker, 1, round, {}).is_ok());
    const Status status = next(*pair.worker, sink, Deadline::after(seconds(10)));
    ASSERT_TRUE(status.is_ok()) << status.to_string();
    if (Deadline::Clock::now() - start > kStall) ++stalls;
    pause(random);
  }
  EXPECT_GT(sink.count, 50u);
  EXPECT_LE(stalls, kStallsForgiven) << "of " << sink.count << " round trips";
  pair.worker.reset();
  EXPECT_EQ(pair.client.wait(seconds(10)), 0);
}

// Whoever has waited in vain for long looks seldom whether the peer still lives.
TEST(ShmWakeup, AnIdleWaiterSleepsOn) {
  const Pair pair = make_pair();
  rusage before{};
  rusage after{};
  ASSERT_EQ(::getrusage(RUSAGE_THREAD, &before), 0);
  EXPECT_EQ(pair.worker->wait(Interest::kMessages, Deadline::after(seconds(3))).code(), Code::kTimeout);
  ASSERT_EQ(::getrusage(RUSAGE_THREAD, &after), 0);
  EXPECT_LE(after.ru_nvcsw - before.ru_nvcsw, 8);  // a nap of 100 ms each were 30
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

// Bursts long enough for the ringer to leave out its fences, each followed by a pause in which the other side
// falls asleep or is about to: the last message of a burst must be answered at once.
class Answering final : public MessageSink {
 public:
  explicit Answering(Endpoint& endpoint) : endpoint_(endpoint) {}
  Status on_message(const FrameHeader& header, std::span<const std::byte>) override {
    if (header.opcode != kLast) return Status::ok();
    return test::try_publish(endpoint_, kLast, header.request_id, {});
  }
  static constexpr std::uint16_t kLast = 2;

 private:
  Endpoint& endpoint_;
};

void answer_bursts(Endpoint& endpoint) {
  Answering sink(endpoint);
  for (;;) {
    Result<std::size_t> polled = endpoint.poll(sink, 64);
    if (!polled) return;
    if (polled.value() != 0) continue;
    const Status waited = endpoint.wait(Interest::kMessages, Deadline::after(seconds(20)));
    if (!waited.is_ok()) return;
  }
}

Status post_burst(Endpoint& endpoint, std::uint32_t messages, Deadline deadline) {
  for (std::uint32_t left = messages; left != 0;) {
    const Status posted = test::try_publish(endpoint, left == 1 ? Answering::kLast : 1, left, {});
    if (posted.is_ok()) --left;
    if (!posted.is_ok() && posted.code() != Code::kWouldBlock) return posted;
    if (deadline.passed()) return {Code::kTimeout, "the ring stays full"};
  }
  return Status::ok();
}

std::chrono::seconds stress_time() {
  const char* const wanted = std::getenv("TF_STRESS_SECONDS");  // for more than a test's time
  return wanted == nullptr ? kStress : std::chrono::seconds(std::atoi(wanted));
}

TEST(ShmWakeup, NoneIsLostAfterBursts) {
  ProcessPair pair = start_client(answer_bursts);
  ASSERT_NE(pair.worker, nullptr);
  Counter sink;
  std::minstd_rand random(3);
  int stalls = 0;
  std::uint32_t bursts = 0;
  for (const Deadline end = Deadline::after(stress_time()); !end.passed(); ++bursts) {
    const auto messages = 1 + static_cast<std::uint32_t>(random() % 200);
    ASSERT_TRUE(post_burst(*pair.worker, messages, Deadline::after(seconds(10))).is_ok());
    const auto start = Deadline::Clock::now();
    const Status status = next(*pair.worker, sink, Deadline::after(seconds(10)));
    ASSERT_TRUE(status.is_ok()) << status.to_string();
    if (Deadline::Clock::now() - start > kStall) ++stalls;
    const microseconds time(random() % 2 == 0 ? random() % 3 : 250 + random() % 300);
    for (const Deadline until = Deadline::after(time); !until.passed();) continue;
  }
  EXPECT_GT(bursts, 50u);
  EXPECT_LE(stalls, kStallsForgiven) << "of " << bursts << " bursts";
  std::printf("%u bursts, %d of them answered late\n", bursts, stalls);
  pair.worker.reset();
  EXPECT_EQ(pair.client.wait(seconds(10)), 0);
}

}  // namespace
}  // namespace tf::shm
