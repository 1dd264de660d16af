// SPDX-License-Identifier: Apache-2.0
// PendingWork: who may say that nothing is left to wait for.
#include "proxy/session/pending_work.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace tf::proxy {
namespace {

constexpr std::uint64_t kNull = PendingWork::mark_of(0, 0);
constexpr std::uint64_t kStream = PendingWork::mark_of(0, std::uint64_t{1} << 56 | 7);
constexpr std::uint64_t kOther = PendingWork::mark_of(0, std::uint64_t{1} << 56 | 8);

void wait_for(PendingWork& work, std::uint64_t mark, bool all = false) {
  work.end(work.begin(mark, all), true);
}

TEST(PendingWork, IsIdleOnceItsStreamWasWaitedFor) {
  PendingWork work;
  EXPECT_TRUE(work.quiet());
  work.started(kStream);
  EXPECT_FALSE(work.idle());
  wait_for(work, kOther);
  EXPECT_FALSE(work.idle()) << "another stream says nothing of it";
  wait_for(work, kStream);
  EXPECT_TRUE(work.quiet());
}

TEST(PendingWork, OfSeveralStreamsEachIsWaitedFor) {
  PendingWork work;
  work.started(kStream);
  work.started(kNull);
  work.started(kOther);
  wait_for(work, kStream);
  wait_for(work, kOther);
  EXPECT_FALSE(work.idle());
  wait_for(work, kNull);
  EXPECT_TRUE(work.idle());
  work.started(kStream);
  work.started(kNull);
  wait_for(work, kNull, true);
  EXPECT_TRUE(work.idle()) << "a wait for all is one for each";
}

TEST(PendingWork, OfStreamsThatShareAWordOnlyAWaitForAllTells) {
  PendingWork work;
  constexpr std::uint64_t kTwin = kStream + PendingWork::kStreamWords;
  work.started(kStream);
  work.started(kTwin);
  wait_for(work, kStream);
  wait_for(work, kTwin);
  EXPECT_FALSE(work.idle());
  wait_for(work, kNull, true);
  EXPECT_TRUE(work.idle());
}

// Marks that were left by others come and go in the same word; what is counted stays true.
TEST(PendingWork, CountsNothingTwice) {
  PendingWork work;
  for (int round = 0; round < 100; ++round) {
    const std::uint64_t mark = PendingWork::mark_of(0, (std::uint64_t{1} << 56) + 3 + round);
    work.started(mark);
    work.started(mark);
    EXPECT_FALSE(work.idle());
    wait_for(work, mark);
    EXPECT_TRUE(work.idle());
  }
}

// Arrivals are work like any other, but that a wait for them shows nothing.
TEST(PendingWork, KnowsWhenOnlyArrivalsAreLeft) {
  PendingWork work;
  EXPECT_TRUE(work.only_arrivals(kStream)) << "none is not more";
  work.started(kStream, Leaves::kArrival);
  work.started(kStream, Leaves::kArrival);
  EXPECT_FALSE(work.idle());
  EXPECT_TRUE(work.only_arrivals(kStream));
  EXPECT_TRUE(work.only_arrivals());
  work.started(kOther, Leaves::kWork);
  EXPECT_TRUE(work.only_arrivals(kStream));
  EXPECT_FALSE(work.only_arrivals());
  work.started(kOther, Leaves::kArrival);
  EXPECT_FALSE(work.only_arrivals(kOther)) << "the earlier work is still there";
  work.started(kStream, Leaves::kHostWork);
  EXPECT_FALSE(work.only_arrivals(kStream));
  wait_for(work, kStream);
  wait_for(work, kOther);
  EXPECT_TRUE(work.idle());
  work.started(kStream, Leaves::kArrival);
  constexpr std::uint64_t kTwin = kStream + PendingWork::kStreamWords;
  work.started(kTwin, Leaves::kArrival);
  EXPECT_FALSE(work.only_arrivals(kStream)) << "whose work it is, a shared word does not say";
  wait_for(work, kNull, true);
  EXPECT_TRUE(work.idle());
}

TEST(PendingWork, OwesArrivalsAsOtherWork) {
  PendingWork work;
  work.started(kStream, Leaves::kArrival);
  work.owe([](std::uint64_t mark) { return mark == kStream; });
  EXPECT_TRUE(work.owes(kStream));
  EXPECT_FALSE(work.only_arrivals(kStream));
  wait_for(work, kStream);
  EXPECT_TRUE(work.idle());
}

TEST(PendingWork, AStreamThatComesOrGoesHasNothingToDo) {
  PendingWork work;
  protocol::StreamCreateRequest create{};
  create.stream = kStream;
  work.note(0, trace_of(create));
  protocol::DestroyStreamRequest destroy{};
  destroy.stream = kStream;
  work.note(0, trace_of(destroy));
  EXPECT_TRUE(work.idle());
  EXPECT_FALSE(work.quiet()) << "either may fail";
  protocol::EventRecordRequest record{};
  record.stream = kStream;
  work.note(0, trace_of(record));
  EXPECT_FALSE(work.idle());
}

TEST(PendingWork, APostDuringTheWaitSpoilsTheProof) {
  PendingWork work;
  work.started(kStream);
  const PendingWork::Proof proof = work.begin(kStream, false);
  EXPECT_FALSE(work.idle());
  work.started(kStream);
  work.end(proof, true);
  EXPECT_FALSE(work.idle());
}

TEST(PendingWork, AWaitThatDidNotEndLeavesWhatWas) {
  PendingWork work;
  work.started(kStream);
  work.end(work.begin(kStream, false), false);
  EXPECT_FALSE(work.idle());
  wait_for(work, kStream);
  EXPECT_TRUE(work.idle());
}

TEST(PendingWork, TheSecondOfTwoWaitsProvesNothing) {
  PendingWork work;
  work.started(kStream);
  const PendingWork::Proof first = work.begin(kStream, false);
  const PendingWork::Proof second = work.begin(kStream, true);
  work.end(second, true);
  EXPECT_FALSE(work.idle());
  work.end(first, true);
  EXPECT_TRUE(work.idle());
}

TEST(PendingWork, DevicesHaveNullStreamsOfTheirOwn) {
  PendingWork work;
  work.started(PendingWork::mark_of(1, 0));
  wait_for(work, PendingWork::mark_of(0, 0));
  EXPECT_FALSE(work.idle());
  wait_for(work, PendingWork::mark_of(1, 0));
  EXPECT_TRUE(work.idle());
}

TEST(PendingWork, WhatMayFailIsNotWorkButNotQuietEither) {
  PendingWork work;
  EXPECT_TRUE(work.quiet());
  work.note(0, {Leaves::kNothing, 0});
  EXPECT_TRUE(work.idle());
  EXPECT_FALSE(work.quiet());
  wait_for(work, kNull);
  EXPECT_TRUE(work.quiet());
}

TEST(PendingWork, KnowsWhetherWorkMayTouchTheProgramsMemory) {
  PendingWork work;
  work.note(0, trace_of(protocol::CopyToDeviceRequest{}));
  EXPECT_FALSE(work.idle());
  EXPECT_FALSE(work.any_host_work());
  protocol::LaunchRequest launch{};
  launch.stream = kStream;
  work.note(0, trace_of(launch));
  EXPECT_TRUE(work.any_host_work());
  wait_for(work, kStream);
  EXPECT_FALSE(work.any_host_work());
  EXPECT_FALSE(work.idle()) << "the copy";
  work.started(kNull);
  wait_for(work, kNull);
  EXPECT_TRUE(work.idle()) << "one wait for both";
}

// A copy returned without waiting for what was before it.
class OwedWork : public testing::Test {
 protected:
  static bool is_any(std::uint64_t) { return true; }
  bool owes(std::uint64_t mark) const { return work_.owes(mark); }
  PendingWork work_;
};

TEST_F(OwedWork, IsAskedForByItsStream) {
  work_.started(kStream);
  EXPECT_FALSE(owes(kStream));
  work_.started(kNull, Leaves::kWork);
  work_.owe(is_any);
  EXPECT_TRUE(owes(kStream));
  EXPECT_TRUE(owes(kNull));
  EXPECT_FALSE(owes(kOther)) << "it has none";
  EXPECT_TRUE(work_.owes_all(is_any));
  EXPECT_FALSE(work_.idle());
  work_.started(kOther);
  EXPECT_TRUE(owes(kStream));
  EXPECT_FALSE(work_.owes_all(is_any)) << "some came later";
  wait_for(work_, kStream);
  EXPECT_FALSE(owes(kStream)) << "it is over";
}

TEST_F(OwedWork, IsNotDistinguishedFromLaterWorkOfItsStream) {
  work_.started(kStream);
  work_.owe(is_any);
  work_.started(kStream, Leaves::kWork);
  EXPECT_FALSE(owes(kStream));
  work_.owe(is_any);
  EXPECT_TRUE(owes(kStream));
  work_.started(kStream);
  EXPECT_FALSE(owes(kStream));
  wait_for(work_, kStream);
  EXPECT_TRUE(work_.idle()) << "counted once for each kind of work";
}

TEST_F(OwedWork, StaysOwedIfAWaitFails) {
  work_.started(kStream);
  work_.owe(is_any);
  work_.end(work_.begin(kStream, false), false);
  EXPECT_TRUE(owes(kStream));
  wait_for(work_, kStream);
  EXPECT_TRUE(work_.idle());
}

TEST_F(OwedWork, IsThatOfOneDevice) {
  constexpr std::uint64_t kSecond = PendingWork::mark_of(1, 0);
  work_.started(kStream);
  work_.owe([](std::uint64_t mark) { return mark == kSecond; });
  EXPECT_FALSE(owes(kStream));
}

TEST_F(OwedWork, StreamsThatShareAWordOweNothing) {
  constexpr std::uint64_t kTwin = kStream + PendingWork::kStreamWords;
  work_.started(kStream);
  work_.started(kTwin);
  work_.owe(is_any);
  EXPECT_FALSE(owes(kStream));
  EXPECT_FALSE(owes(kTwin));
  work_.started(kOther);
  work_.owe(is_any);
  EXPECT_TRUE(owes(kOther));
}

// A model of two threads that post, to one stream or to one each, and of one that waits for the streams in
// turn: what a post has counted before it returned is either waited for or keeps the words from saying
// "idle". `done` trails `posted`, as a worker does.
class Model {
 public:
  explicit Model(std::vector<std::uint64_t> marks) : streams_(marks.size()) {
    for (std::size_t i = 0; i < marks.size(); ++i) streams_[i].mark = marks[i];
  }

  int wrong() {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < 2; ++i)
      threads.emplace_back([this, i] { post(streams_[i % streams_.size()]); });
    threads.emplace_back([this] {
      while (!stop_.load())
        for (Stream& stream : streams_) wait(stream);
    });
    threads.emplace_back([this] {
      while (!stop_.load()) look();
    });
    for (std::thread& thread : threads) thread.join();
    return wrong_.load();
  }

 private:
  struct Stream {
    std::uint64_t mark = 0;
    std::atomic<std::uint64_t> posted{0};
    std::atomic<std::uint64_t> returned{0};
    std::atomic<std::uint64_t> done{0};
  };
  static void raise(std::atomic<std::uint64_t>& value, std::uint64_t to) {
    std::uint64_t seen = value.load();
    while (seen < to && !value.compare_exchange_weak(seen, to)) {
    }
  }

  void post(Stream& stream) {
    for (int n = 0; n < 20000; ++n) {
      const std::uint64_t mine = stream.posted.fetch_add(1) + 1;
      work_.started(stream.mark);
      raise(stream.returned, mine);
      if (n % 64 == 0) std::this_thread::yield();
    }
    stop_.store(true);
  }
  void wait(Stream& stream) {
    const PendingWork::Proof proof = work_.begin(stream.mark, false);
    raise(stream.done, stream.posted.load());
    work_.end(proof, true);
  }
  void look() {
    std::vector<std::uint64_t> known;
    for (const Stream& stream : streams_) known.push_back(stream.returned.load());
    if (!work_.idle()) return;
    for (std::size_t i = 0; i < streams_.size(); ++i)
      if (streams_[i].done.load() < known[i]) wrong_.fetch_add(1);
  }

  PendingWork work_;
  std::vector<Stream> streams_;
  std::atomic<bool> stop_{false};
  std::atomic<int> wrong_{0};
};

TEST(PendingWork, NeverForgetsWhatWasPostedBeforeAWaitEnded) {
  EXPECT_EQ(Model({kStream}).wrong(), 0);
  EXPECT_EQ(Model({kStream, kOther}).wrong(), 0) << "two words";
  EXPECT_EQ(Model({kStream, kStream + PendingWork::kStreamWords}).wrong(), 0) << "one word for two";
}

}  // namespace
}  // namespace tf::proxy
