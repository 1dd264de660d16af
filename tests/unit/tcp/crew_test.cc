// SPDX-License-Identifier: Apache-2.0
// Records come back from a crew in the order in which they were posted, whoever worked on them.
#include "tcp/crew.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "transport/base/deadline.h"

namespace tf::tcp {
namespace {

constexpr std::chrono::seconds kLimit(20);

// Does what a function says, and checks that its numbers grow.
class Worker final : public secure::RecordWorker {
 public:
  using Work = std::function<Status(std::uint64_t)>;
  explicit Worker(Work work) : work_(std::move(work)) {}
  Status work(std::uint64_t number, std::span<const std::byte> from, std::span<std::byte> to) override {
    EXPECT_GE(number, next_) << "numbers of one worker only grow";
    next_ = number + 1;
    std::memcpy(to.data(), &number, sizeof number);
    std::memcpy(to.data() + sizeof number, from.data(), from.size());
    return work_(number);
  }

 private:
  const Work work_;
  std::uint64_t next_ = 0;
};

Crew::Workers workers(std::size_t count, const Worker::Work& work) {
  Crew::Workers made;
  for (std::size_t index = 0; index < count; ++index) made.push_back(std::make_unique<Worker>(work));
  return made;
}

// What one record is made of, and becomes.
struct CrewSlot {
  std::array<std::byte, 8> from{};
  std::array<std::byte, 16> to{};

  void fill(std::uint64_t value) { std::memcpy(from.data(), &value, sizeof value); }
  void expect(std::uint64_t number, std::uint64_t value) const {
    std::uint64_t words[2];
    std::memcpy(words, to.data(), sizeof words);
    EXPECT_EQ(words[0], number);
    EXPECT_EQ(words[1], value);
  }
};

class CrewTest : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Workers, CrewTest, testing::Values(1, 2, 4));

TEST_P(CrewTest, RecordsComeBackInOrder) {
  constexpr std::uint64_t kRecords = 20'000;
  std::vector<CrewSlot> slots(Crew::kRecordsMax);
  Crew crew(workers(GetParam(), [](std::uint64_t) { return Status::ok(); }));
  std::uint64_t posted = 0;
  for (std::uint64_t taken = 0; taken < kRecords; ++taken) {
    for (; posted < kRecords && !crew.full(); ++posted) {
      CrewSlot& slot = slots[posted % slots.size()];
      slot.fill(posted * 3);
      crew.post(slot.from, slot.to);
    }
    const CrewSlot& front = slots[taken % slots.size()];
    ASSERT_EQ(crew.front().from.data(), front.from.data());
    ASSERT_TRUE(crew.take_front().is_ok());
    front.expect(taken, taken * 3);
  }
  EXPECT_TRUE(crew.empty());
}

TEST_P(CrewTest, AFailureBelongsToItsRecord) {
  std::array<CrewSlot, 9> slots;
  Crew crew(workers(GetParam(), [](std::uint64_t number) {
    return number % 4 == 2 ? Status(Code::kProtocol, "record " + std::to_string(number)) : Status::ok();
  }));
  for (CrewSlot& slot : slots) crew.post(slot.from, slot.to);
  for (std::size_t number = 0; number < slots.size(); ++number) {
    const Status status = crew.take_front();
    if (number % 4 != 2)
      EXPECT_TRUE(status.is_ok()) << number;
    else
      EXPECT_EQ(status.message(), "record " + std::to_string(number));
  }
}

TEST_P(CrewTest, EndsWithRecordsThatNobodyTook) {
  std::array<CrewSlot, Crew::kRecordsMax> slots;
  for (int round = 0; round < 200; ++round) {
    Crew crew(workers(GetParam(), [](std::uint64_t) { return Status::ok(); }));
    for (CrewSlot& slot : slots) crew.post(slot.from, slot.to);
    if (round % 2 == 0) {
      crew.abandon();
      EXPECT_TRUE(crew.empty());
    }
  }
}

// The memory is the caller's again after abandon(), so it has to wait for a helper that is at work.
TEST(Crew, AbandonsNothingThatAHelperHasBegun) {
  std::array<CrewSlot, 4> slots;
  std::atomic<bool> begun{false};
  std::atomic<bool> go_on{false};
  std::atomic<bool> abandoned{false};
  const std::thread::id owner = std::this_thread::get_id();
  Crew crew(workers(2, [&](std::uint64_t) {
    EXPECT_NE(std::this_thread::get_id(), owner);
    begun.store(true);
    while (!go_on.load()) std::this_thread::yield();
    EXPECT_FALSE(abandoned.load());
    return Status::ok();
  }));
  for (CrewSlot& slot : slots) crew.post(slot.from, slot.to);
  const Deadline deadline = Deadline::after(kLimit);
  while (!begun.load() && !deadline.passed()) std::this_thread::yield();
  ASSERT_TRUE(begun.load()) << "no helper began";
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    go_on.store(true);
  });
  crew.abandon();
  abandoned.store(true);
  EXPECT_TRUE(go_on.load());
  EXPECT_TRUE(crew.empty());
  later.join();
}

// A call must not pay for a thread.
TEST(Crew, AFewRecordsWakeNobody) {
  std::array<CrewSlot, 2> slots;
  const std::thread::id owner = std::this_thread::get_id();
  Crew crew(workers(3, [owner](std::uint64_t) {
    EXPECT_EQ(std::this_thread::get_id(), owner);
    return Status::ok();
  }));
  for (int round = 0; round < 100; ++round) {
    for (CrewSlot& slot : slots) crew.post(slot.from, slot.to);
    while (!crew.empty()) EXPECT_TRUE(crew.take_front().is_ok());
  }
}

}  // namespace
}  // namespace tf::tcp
