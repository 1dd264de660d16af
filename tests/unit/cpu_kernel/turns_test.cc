// SPDX-License-Identifier: Apache-2.0
// Who may run blocks when sessions share processors. Sessions are objects of one process here; the page is
// all that they share, as between processes.
#include "worker/runtime/cpu/kernel/turns.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace tf::cpu {
namespace {

using namespace std::chrono_literals;
using runtime::kTurnSlots;
using runtime::SlotSet;
using runtime::TurnPage;

constexpr std::uint64_t kMs = 1'000'000;  // in nanoseconds

std::uint64_t now_us() {
  const auto now = Turns::Clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(now).count());
}

class TurnsTest : public testing::Test {
 protected:
  TurnsTest() { page_->seats = 1; }

  // Another process's session, as the page shows it: with the seat, for so long.
  void other_has_seat(std::uint32_t slot, std::uint64_t used_ns, std::chrono::microseconds age = 0us) {
    page_->running.insert(slot);
    page_->slots[slot].used_ns = used_ns;
    page_->slots[slot].weight = 100;
    page_->seat[0] = (now_us() - static_cast<std::uint64_t>(age.count())) << 16 | (slot + 1);
  }
  // Slot of whom the seat is; kTurnSlots: nobody's.
  std::uint32_t who(std::size_t seat = 0) const {
    const std::uint64_t word = page_->seat[seat];
    return word == 0 ? kTurnSlots : static_cast<std::uint32_t>(word & 0xffff) - 1;
  }

  std::unique_ptr<TurnPage> page_ = std::make_unique<TurnPage>();
};

std::set<std::uint32_t> all_of(const SlotSet& set) {
  std::set<std::uint32_t> found;
  set.for_each([&](std::uint32_t slot) { found.insert(slot); });
  return found;
}

TEST(SlotSetTest, HasWhatWasInserted) {
  const auto set = std::make_unique<SlotSet>();
  EXPECT_FALSE(set->has_others_than(0));
  for (const std::uint32_t slot : {0u, 1u, 63u, 64u, 4095u}) set->insert(slot);
  set->insert(64);
  EXPECT_EQ(all_of(*set), (std::set<std::uint32_t>{0, 1, 63, 64, 4095}));
  for (const std::uint32_t slot : {0u, 63u, 64u, 64u, 4095u}) set->erase(slot);
  EXPECT_EQ(all_of(*set), (std::set<std::uint32_t>{1}));
  EXPECT_FALSE(set->has_others_than(1));
  EXPECT_TRUE(set->has_others_than(2));
  EXPECT_TRUE(set->has_others_than(4000));
}

TEST_F(TurnsTest, WhoIsAloneNeedsNoSeat) {
  Turns turns(*page_, 3, 100);
  Seat seat;
  seat.keep(turns);
  EXPECT_EQ(who(), kTurnSlots);
  EXPECT_EQ(all_of(page_->running), (std::set<std::uint32_t>{3}));
  seat.end();
  EXPECT_TRUE(all_of(page_->running).empty());
}

TEST_F(TurnsTest, AFreeSeatIsTakenAndLeft) {
  page_->running.insert(9);
  Turns turns(*page_, 3, 100);
  Seat seat;
  seat.keep(turns);
  EXPECT_EQ(who(), 3u);
  seat.keep(turns);
  EXPECT_EQ(who(), 3u);
  seat.end();
  EXPECT_EQ(who(), kTurnSlots);
}

TEST_F(TurnsTest, WhoIsAloneAgainGivesTheSeatBack) {
  page_->running.insert(9);
  Turns turns(*page_, 3, 100);
  Seat seat;
  seat.keep(turns);
  page_->running.erase(9);
  seat.keep(turns);
  EXPECT_EQ(who(), kTurnSlots);
}

TEST_F(TurnsTest, ANewcomerIsAGuestOfWhoHasHadMuch) {
  other_has_seat(9, 100 * kMs, -1h);  // in the future: the seat does not expire
  Turns turns(*page_, 3, 100);
  Seat seat;
  seat.keep(turns);  // does not wait
  EXPECT_EQ(who(), 9u) << "who has the seat keeps it";
  EXPECT_TRUE(all_of(page_->waiting).empty());
  EXPECT_EQ(page_->slots[3].used_ns, 87 * kMs);  // time without work was not saved
  std::this_thread::sleep_for(1ms);
  seat.keep(turns);
  EXPECT_EQ(who(), 9u);
  EXPECT_GE(page_->slots[3].used_ns, 88 * kMs) << "a guest's time counts";
  seat.end();
  EXPECT_EQ(who(), 9u);
}

TEST_F(TurnsTest, AGuestWaitsAfterItsVisitHoweverMuchTheOtherHasHad) {
  other_has_seat(9, 100 * kMs, -1h);
  Turns turns(*page_, 3, 100);
  Seat seat;
  seat.keep(turns);
  page_->slots[9].used_ns = 3'600'000 * kMs;
  std::this_thread::sleep_for(Turns::kVisit + 1ms);
  std::jthread other([&] {
    while (all_of(page_->waiting).empty()) std::this_thread::yield();
    page_->seat[0] = 0;
  });
  seat.keep(turns);
  EXPECT_EQ(who(), 3u);
}

TEST_F(TurnsTest, ThreadsOfOthersFillTheProcessors) {
  page_->seats = 2;
  Turns turns(*page_, 3, 100);
  Turns others(*page_, 4, 100);
  Seat first, second, own;
  own.keep(turns);
  EXPECT_FALSE(turns.crowded()) << "one's own threads do not count";
  std::thread([&] { first.keep(others); }).join();
  EXPECT_FALSE(turns.crowded()) << "there is another processor";
  std::thread([&] { second.keep(others); }).join();
  EXPECT_TRUE(turns.crowded());
  EXPECT_FALSE(others.crowded());
  second.end();
  EXPECT_TRUE(turns.crowded()) << "it may come back at once";
  first.end();
  EXPECT_FALSE(turns.crowded());
  first.keep(others);
  EXPECT_TRUE(turns.crowded()) << "it was away for a moment only";
  first.end();
  std::this_thread::sleep_for(Turns::kLinger);
  first.keep(others);
  EXPECT_FALSE(turns.crowded());
  others.want(2);
  EXPECT_TRUE(turns.crowded());
}

TEST_F(TurnsTest, WhoLosesItsSeatWaitsUntilItIsLeft) {
  page_->running.insert(9);
  Turns turns(*page_, 3, 100);
  Seat seat;
  seat.keep(turns);
  // In the future: nobody else may take it.
  const std::uint64_t taken = (now_us() + 3'600'000'000) << 16 | 10;
  page_->seat[0] = taken;
  std::jthread other([&] {
    while (all_of(page_->waiting).empty()) std::this_thread::yield();
    EXPECT_EQ(page_->seat[0], taken);
    page_->seat[0] = 0;
  });
  seat.keep(turns);
  EXPECT_EQ(who(), 3u);
  EXPECT_TRUE(all_of(page_->waiting).empty());
}

TEST_F(TurnsTest, WhoHasHadMoreLeavesTheSeatToTheOneThatWaits) {
  page_->running.insert(9);
  Turns turns(*page_, 3, 100);
  Seat seat;
  seat.keep(turns);
  page_->slots[9].used_ns = 3'600'000 * kMs;
  page_->waiting.insert(9);
  seat.keep(turns);
  EXPECT_EQ(who(), 3u);  // the other one has had more
  page_->slots[9].used_ns = 0;
  std::this_thread::sleep_for(2 * Turns::kSlice);
  std::jthread other([&] {
    while (page_->slots[9].bell == 0) std::this_thread::yield();
    EXPECT_EQ(who(), kTurnSlots);
    page_->waiting.erase(9);
  });
  seat.keep(turns);
  EXPECT_EQ(who(), 3u);
}

TEST_F(TurnsTest, WhoLeavesItRingsForTheOneThatWaits) {
  Turns first(*page_, 3, 100);
  Turns second(*page_, 4, 100);
  page_->running.insert(9);
  Seat seat;
  seat.keep(first);
  const std::uint32_t bell = page_->slots[4].bell;
  page_->waiting.insert(4);
  seat.end();
  EXPECT_EQ(page_->slots[4].bell, bell + 1);
}

TEST_F(TurnsTest, ASeatThatIsNotRenewedIsFree) {
  other_has_seat(9, 0, std::chrono::duration_cast<std::chrono::microseconds>(Turns::kLease) + 1ms);
  Turns turns(*page_, 3, 100);
  Seat seat;
  seat.keep(turns);
  EXPECT_EQ(who(), 3u);
}

TEST_F(TurnsTest, WhoWaitsTooLongRunsWithoutASeatAndAtLastTakesNoTurns) {
  page_->running.insert(9);
  page_->seat[0] = (now_us() + 3'600'000'000) << 16 | 10;
  Turns turns(*page_, 3, 100);
  Seat seat;
  for (unsigned time = 0; time < Turns::kPatience; ++time) {
    EXPECT_TRUE(turns.contended());
    seat.keep(turns);
    EXPECT_EQ(who(), 9u);
  }
  EXPECT_FALSE(turns.contended());
  seat.keep(turns);  // does not wait
}

TEST_F(TurnsTest, PartsFollowTheWeights) {
  constexpr auto kTogether = 400ms;
  Turns heavy(*page_, 3, 100);
  Turns light(*page_, 4, 50);
  std::atomic<bool> stop{false};
  std::atomic<std::int64_t> longest_ns{0};  // block of any of them: its thread may have lost its processor
  const auto run = [&](Turns& turns) {
    Seat seat;
    while (!stop) {
      seat.keep(turns);
      const auto start = Turns::Clock::now();
      auto now = start;
      while (now < start + 200us) now = Turns::Clock::now();
      const std::int64_t block_ns = std::chrono::nanoseconds(now - start).count();
      if (block_ns > longest_ns) longest_ns = block_ns;
    }
  };
  {
    std::jthread one([&] { run(heavy); });
    std::jthread other([&] { run(light); });
    std::this_thread::sleep_for(kTogether);
    stop = true;
  }
  const auto difference = static_cast<std::int64_t>(page_->slots[3].used_ns - page_->slots[4].used_ns);
  // Time by weight is equal, but for the last blocks and a seat that one kept while it did not run.
  EXPECT_LT(std::abs(difference), 2 * std::chrono::nanoseconds(Turns::kLease).count() + 4 * longest_ns)
      << page_->slots[3].used_ns << " and " << page_->slots[4].used_ns << " ns used";
}

TEST_F(TurnsTest, APageOfNonsenseHoldsNobodyUp) {
  std::mt19937_64 random(20261126);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::uint64_t> words(sizeof(TurnPage) / sizeof(std::uint64_t));
    for (std::uint64_t& word : words) word = round == 0 ? ~std::uint64_t{0} : random() & random();
    std::memcpy(static_cast<void*>(page_.get()), words.data(), sizeof(TurnPage));
    Turns turns(*page_, static_cast<std::uint32_t>(random() % kTurnSlots), 100);
    Seat seat;
    for (int block = 0; block < 3; ++block) seat.keep(turns);
  }
}

}  // namespace
}  // namespace tf::cpu
